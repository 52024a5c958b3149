// A calendar file, RFC 5545: whole days, so no zone is needed; the only time in it (of its creation) is in UTC.

export type IcsEvent = {
  /** The same in every file, so that a second import updates the entry instead of duplicating it. */
  uid: string
  /** The first and the last day, `YYYY-MM-DD`. */
  from: string
  to: string
  summary: string
  description: string
  isTentative: boolean
}

const DAY_MS = 86_400_000

export function icsFile(events: readonly IcsEvent[], { name, madeAt }: { name: string; madeAt: number }): string {
  const stamp = `${new Date(madeAt).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const lines = [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Bellwether//Calendar//EN', 'CALSCALE:GREGORIAN', 'METHOD:PUBLISH'],
    `X-WR-CALNAME:${escaped(name)}`,
    ...events.flatMap((event) => linesOf(event, stamp)),
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${folded(line)}\r\n`).join('')
}

function linesOf({ uid, from, to, summary, description, isTentative }: IcsEvent, stamp: string): string[] {
  // The end of a whole-day event is the day after it.
  const end = new Date(Date.parse(to) + DAY_MS).toISOString().slice(0, 10)
  return [
    ...['BEGIN:VEVENT', `UID:${escaped(uid)}`, `DTSTAMP:${stamp}`],
    ...[`DTSTART;VALUE=DATE:${plain(from)}`, `DTEND;VALUE=DATE:${plain(end)}`],
    ...[`SUMMARY:${escaped(summary)}`, `DESCRIPTION:${escaped(description)}`],
    ...[`STATUS:${isTentative ? 'TENTATIVE' : 'CONFIRMED'}`, 'TRANSP:TRANSPARENT', 'END:VEVENT'],
  ]
}

const plain = (date: string): string => date.replaceAll('-', '')

/**
 * Section 3.3.11: a backslash, a semicolon and a comma are escaped, a line end is `\n`; other control characters are
 * not allowed.
 */
const escaped = (text: string): string =>
  text
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|\r|\n/g, '\\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')

const MOST_OCTETS = 75
const encoder = new TextEncoder()

/** Section 3.1: no line is longer than 75 octets, and no character is split. */
function folded(line: string): string {
  let [out, octets] = ['', 0]
  for (const character of line) {
    const size = encoder.encode(character).length
    if (octets + size > MOST_OCTETS) {
      out += '\r\n '
      octets = 1
    }
    out += character
    octets += size
  }
  return out
}

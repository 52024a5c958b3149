/** A source of the current time in epoch milliseconds. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** ISO 8601 in UTC with six decimals and `Z`: the one form of time on the wire, fixed width so that text order is time order. */
export function isoMicros(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, -1)}000Z`
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** A date, or date and time, of ISO 8601 in the form of `isoMicros`; without a zone it is UTC. Null when it is neither. */
export function isoMicrosOf(text: string): string | null {
  const [, date, minutes = '00:00', seconds = '00', fraction = '', zone = 'Z'] = ISO.exec(text.trim()) ?? []
  if (date === undefined) return null
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
  const epochMs = Date.parse(`${date}T${minutes}:${seconds}${offset.toUpperCase()}`)
  if (Number.isNaN(epochMs)) return null
  return `${new Date(epochMs).toISOString().slice(0, 19)}.${fraction.padEnd(6, '0').slice(0, 6)}Z`
}

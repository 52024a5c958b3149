// Splits a text into parts that fit. It is split before a heading, else at a blank line, else at the end of a line,
// else after a sentence or a word, and inside a word only when even that does not fit.

import type { Limit } from './channel.ts'

type Fits = (text: string) => boolean

/** Each keeps every character in its piece, so that the joined pieces are the original text. */
const BORDERS: readonly RegExp[] = [
  /(?<=\n)(?=#{1,3} )/,
  /(?<=\n\n)/,
  /(?<=\n)/,
  /(?<=[。！？；.!?;](?:\s|(?=[^\s\d])))/u,
  /(?<=[\s，、,])/u,
]

const encoder = new TextEncoder()

export function sizeOf(text: string, unit: Limit['unit']): number {
  if (unit === 'characters') return text.length
  const measured = unit === 'json_bytes' ? JSON.stringify(text).slice(1, -1) : text
  // Two UTF-16 units have at most four bytes; a text that cannot reach the limit need not be encoded.
  return encoder.encode(measured).byteLength
}

/** The parts of the text, in order; joined they are the text, except for white space at the cuts. */
export function split(text: string, fits: Fits): string[] {
  const parts = pack(text, fits, 0).map((part) => part.replace(/^\n+|\s+$/g, ''))
  return parts.filter((part) => part.trim() !== '')
}

function pack(text: string, fits: Fits, level: number): string[] {
  if (fits(text)) return [text]
  const border = BORDERS[level]
  if (border === undefined) return cutHard(text, fits)
  const parts: string[] = []
  let open = ''
  for (const piece of text.split(border)) {
    if (fits(open + piece)) {
      open += piece
      continue
    }
    // A piece that is too large in any case begins directly after the text before it, so that no heading is left alone;
    // but a section begins a part of its own.
    const begins = level === 0 || fits(piece) ? '' : open
    if (begins === '' && open !== '') parts.push(open)
    const finer = pack(begins + piece, fits, level + 1)
    open = finer.pop() ?? ''
    parts.push(...finer)
  }
  return open === '' ? parts : [...parts, open]
}

function cutHard(text: string, fits: Fits): string[] {
  const parts: string[] = []
  let rest = text
  while (rest !== '') {
    const length = longestFit(rest, fits)
    parts.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return parts
}

/** At least one whole character, however little fits. */
function longestFit(text: string, fits: Fits): number {
  let low = 0
  let high = text.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(text.slice(0, middle))) low = middle
    else high = middle - 1
  }
  const end = whole(text, low)
  return end > 0 ? end : wholeCharacter(text)
}

/** Moves back from the middle of a character, or of a backslash and the character that it escapes. */
function whole(text: string, end: number): number {
  if (end >= text.length) return text.length
  const inPair = /[\ud800-\udbff]/.test(text[end - 1] ?? '') && /[\udc00-\udfff]/.test(text[end] ?? '')
  const before = inPair ? end - 1 : end
  const slashes = /\\*$/.exec(text.slice(0, before))?.[0].length ?? 0
  return slashes % 2 === 1 ? before - 1 : before
}

function wholeCharacter(text: string): number {
  const start = text.startsWith('\\') ? 1 : 0
  return Math.min(text.length, start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1))
}

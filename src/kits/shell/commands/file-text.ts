// The contents of a file as a text from which every byte can be restored, even for invalid UTF-8: invalid bytes become
// lone surrogates, which no valid text contains.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()
const FIRST_STRAY = 0xdc00
const PIECE = 8192

export interface FileText {
  text: string
  /** Whether it contains bytes that are invalid UTF-8. */
  isMixed: boolean
}

export function textOf(bytes: Uint8Array): FileText {
  try {
    return { text: strict.decode(bytes), isMixed: false }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { text: mixedText(bytes), isMixed: true }
  }
}

/** The inverse of `textOf`. */
function bytesOf(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text)
  const bytes = new Uint8Array(3 * text.length)
  let length = 0
  for (const part of text.split(/([\udc80-\udcff\udd80-\uddff]+)/u)) {
    if (isStray(part.charCodeAt(0)) && part.length > 0) {
      for (let i = 0; i < part.length; i++) bytes[length++] = part.charCodeAt(i) & 0xff
    } else length += encoder.encodeInto(part, bytes.subarray(length)).written
  }
  return bytes.slice(0, length)
}

/** Those from U+DD80 on are the bytes of the locale `C`. */
const isStray = (unit: number): boolean => /[\udc80-\udcff\udd80-\uddff]/.test(String.fromCharCode(unit))

/** Output with the original contents: as bytes only if it is not valid text. */
export function outputOf(text: string): { stdout: string; bytes?: Uint8Array } {
  return text.isWellFormed() ? { stdout: text } : { stdout: '', bytes: bytesOf(text) }
}

export function hasStrayBytes(text: string): boolean {
  return !text.isWellFormed()
}

function mixedText(bytes: Uint8Array): string {
  const parts: string[] = []
  let units: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceAt(bytes, at)
    if (length === 0) units.push(FIRST_STRAY + (bytes[at++] ?? 0))
    else if (length === 1) units.push(bytes[at++] ?? 0)
    else {
      const char = strict.decode(bytes.subarray(at, at + length))
      for (let i = 0; i < char.length; i++) units.push(char.charCodeAt(i))
      at += length
    }
    if (units.length < PIECE) continue
    parts.push(String.fromCharCode(...units))
    units = []
  }
  return parts.join('') + String.fromCharCode(...units)
}

/** The length of the character that starts there; 0 if none does. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0
  for (let i = 1; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  const second = bytes[at + 1] ?? 0
  // An overlong form, a surrogate, or beyond the last code point.
  if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f)) return 0
  if ((first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) return 0
  return length
}

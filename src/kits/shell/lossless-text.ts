// Converts bytes to text and back without loss: invalid UTF-8 bytes become lone surrogates U+DC80 to U+DCFF, one per
// byte, and are restored.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()
const PIECE = 8192

export function losslessText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return withBytes(bytes)
  }
}

export function losslessBytes(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text)
  const parts: number[] = []
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    if (isByte(code)) parts.push(code & 0xff)
    else parts.push(...encoder.encode(char))
  }
  return Uint8Array.from(parts)
}

/** Those from U+DD80 on represent bytes too (`byte-locale.ts`). */
const isByte = (code: number): boolean => (code >= 0xdc80 && code <= 0xdcff) || (code >= 0xdd80 && code <= 0xddff)

function withBytes(bytes: Uint8Array): string {
  let text = ''
  const codes: number[] = []
  for (let at = 0; at < bytes.byteLength; ) {
    const length = characterLength(bytes, at)
    if (length === 0) codes.push(0xdc00 | (bytes[at] ?? 0))
    else codes.push(codePoint(bytes, at, length))
    at += Math.max(1, length)
    if (codes.length >= PIECE) text += String.fromCodePoint(...codes.splice(0))
  }
  return text + String.fromCodePoint(...codes)
}

/** The length in bytes of the character that starts there; 0 if none does. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
  if (length === 0 || first >= 0xf5) return 0
  for (let i = 1; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  const code = codePoint(bytes, at, length)
  const isShortest = length === 2 || code >= (length === 3 ? 0x800 : 0x10000)
  return isShortest && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? length : 0
}

function codePoint(bytes: Uint8Array, at: number, length: number): number {
  const first = bytes[at] ?? 0
  if (length === 1) return first
  let code = first & (0xff >> (length + 1))
  for (let i = 1; i < length; i++) code = (code << 6) | ((bytes[at + i] ?? 0) & 0x3f)
  return code
}

// Bytes, text and git's sort order of names.

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

export function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Invalid UTF-8 becomes U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export function hexOf(bytes: Uint8Array): string {
  let hex = ''
  for (const byte of bytes) hex += (byte < 16 ? '0' : '') + byte.toString(16)
  return hex
}

export function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length >> 1)
  for (let i = 0; i < bytes.length; i++) bytes[i] = digitAt(hex, 2 * i) * 16 + digitAt(hex, 2 * i + 1)
  return bytes
}

function digitAt(hex: string, at: number): number {
  const code = hex.charCodeAt(at)
  return code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57
}

/** The order of the UTF-8 bytes. It differs from the order of strings if one has a character beyond U+FFFF. */
export function byteOrder(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates represent characters after all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** Like in git, a file with a NUL near its start is binary. */
export function isBinary(bytes: Uint8Array): boolean {
  const nul = bytes.indexOf(0)
  return nul >= 0 && nul < 8000
}

// Text to bytes and back in the encodings that shells use.

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
/** Arguments of one call are limited; a string is made of pieces of this many characters. */
const PIECE = 8192

export function textToBytes(text: string, encoding: string): Uint8Array {
  switch (encoding) {
    case 'base64':
      return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
    case 'hex':
      return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    case 'binary':
    case 'latin1':
    case 'ascii':
      return oneBytePerChar(text)
    default:
      return encoder.encode(text)
  }
}

export function bytesToText(bytes: Uint8Array, encoding: string): string {
  switch (encoding) {
    case 'base64':
      return btoa(oneCharPerByte(bytes))
    case 'hex':
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
    case 'binary':
    case 'latin1':
    case 'ascii':
      return oneCharPerByte(bytes)
    default:
      return decoder.decode(bytes)
  }
}

function oneCharPerByte(bytes: Uint8Array): string {
  let text = ''
  for (let from = 0; from < bytes.byteLength; from += PIECE) {
    text += String.fromCharCode(...bytes.subarray(from, from + PIECE))
  }
  return text
}

/**
 * One byte a character. The interpreter sometimes joins bytes in this form (what a command put out) with plain text (its
 * errors): characters that are no bytes are such text.
 */
function oneBytePerChar(text: string): Uint8Array {
  if (WIDE.test(text)) return bytesAndText(text)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

function bytesAndText(text: string): Uint8Array {
  const bytes: number[] = []
  for (const char of text) {
    if (WIDE.test(char)) bytes.push(...encoder.encode(char))
    else bytes.push(char.charCodeAt(0))
  }
  return Uint8Array.from(bytes)
}

const WIDE = /[^\0-\xff]/

// Converts text to bytes and back, in the encodings that shells use.

import { Buffer } from 'node:buffer'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

export function textToBytes(text: string, encoding: string): Uint8Array {
  switch (encoding) {
    case 'base64':
      return oneBytePerChar(atob(text))
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

/** Uses the runtime's decoder in one call: with a loop, output of 30 MB would block the isolate for more than a second. */
function oneCharPerByte(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/**
 * One byte per character. The interpreter sometimes joins bytes in this form (a command's output) with plain text (its
 * errors): characters above one byte come from such text.
 */
function oneBytePerChar(text: string): Uint8Array {
  if (WIDE.test(text)) return bytesAndText(text)
  const bytes = new Uint8Array(text.length)
  Buffer.from(bytes.buffer).write(text, 'latin1')
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

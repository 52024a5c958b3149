import { fromBase64 } from '../lib/crypto.ts'

/** Larger than any microagent that is read anywhere. */
export const MAX_TEXT_BYTES = 256 * 1024

/** The text behind base64 that may be broken into lines; null when it is not UTF-8 or too large. */
export function textOf(base64: string): string | null {
  const bytes = fromBase64(base64.replace(/\s+/g, ''))
  if (bytes === null || bytes.byteLength > MAX_TEXT_BYTES) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    // No text.
    return null
  }
}

// A header on every request that goes through the guarded fetch, by which the service recognises its own requests when they
// come back: through a name that resolves to it, a forwarded port, a proxy. It tells others nothing: it is different in each
// request, nobody else can make or recognise one, and its only effect is that a request is refused.

import { createHmac, hkdfSync } from 'node:crypto'
import { constantTimeEqual, fromBase64, randomToken } from './crypto.ts'

export const MARKER_HEADER = 'x-bellwether-outbound'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const FORM = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/

export interface Marker {
  /** A mark for one request. */
  sign(): string
  isOurs(mark: string): boolean
}

/** The same for every isolate of a deployment; without a key, for every part of this process. */
export function outboundMarker(secretsKey: string | null): Marker {
  let key: Uint8Array | null = null
  const signature = (nonce: string) => {
    key ??= secretsKey === null ? processKey() : derivedKey(secretsKey)
    return createHmac('sha256', key).update(nonce).digest('base64url')
  }
  return {
    sign() {
      const nonce = randomToken(NONCE_BYTES)
      return `${nonce}.${signature(nonce)}`
    },
    isOurs(mark) {
      const [, nonce, given] = FORM.exec(mark) ?? []
      return nonce !== undefined && given !== undefined && constantTimeEqual(signature(nonce), given)
    },
  }
}

function derivedKey(secretsKey: string): Uint8Array {
  const bytes = fromBase64(secretsKey)
  if (bytes === null) throw new Error('SECRETS_KEY is not base64')
  const info = new TextEncoder().encode('bellwether outbound marker v1')
  return new Uint8Array(hkdfSync('sha256', bytes, new Uint8Array(), info, KEY_BYTES))
}

let random: Uint8Array | null = null

/** Made when it is first needed: the runtime gives no random bytes before the first request. */
function processKey(): Uint8Array {
  random ??= crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return random
}

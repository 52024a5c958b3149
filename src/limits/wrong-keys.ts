// Guessing keys is slowed by address: after so many wrong ones nothing from there is checked for a while. A key that was
// found right here before goes on working, so that nobody can lock out the people behind the same address.

import { ipv4Of, ipv6Of } from '../lib/ip-address.ts'
import { countRequest, knownRefusal, type Refusal } from './limits.ts'

const MAX_REMEMBERED = 10_000

const proven = new Set<string>()

/** Why a key from this address is not even looked at just now, or null. */
export function refusalBeforeCheck(env: Env, request: Request, key: string): Refusal | null {
  if (proven.has(key)) return null
  const address = addressOf(request)
  return address === null ? null : knownRefusal(env, address, 'wrongKeys')
}

/** Remembers that the key was right. */
export function noteRightKey(key: string): void {
  if (proven.has(key)) return
  if (proven.size >= MAX_REMEMBERED) proven.clear()
  proven.add(key)
}

/** Counts a wrong key; answers when there were too many. */
export async function noteWrongKey(env: Env, request: Request): Promise<Refusal | null> {
  const address = addressOf(request)
  return address === null ? null : countRequest(env, address, 'wrongKeys')
}

/** The peer's address as the platform tells it; whoever has one IPv6 address has the 2^64 of its network. */
function addressOf(request: Request): string | null {
  const text = request.headers.get('cf-connecting-ip')
  if (text === null) return null
  if (ipv4Of(text) !== null) return `address ${text}`
  const written = URL.canParse(`http://[${text}]/`) ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : ''
  const address = ipv6Of(written)
  return address === null ? null : `address ${(address.value >> 64n).toString(16)}`
}

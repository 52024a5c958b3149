// Where a provider's API is: the configured address, or one on the host that a token names.

import { typedByPerson } from '../lib/address-policy.ts'
import type { Door } from '../lib/guarded-fetch.ts'

export type ProviderUrls = { github: string; gitlab: string; bitbucket: string }

/** Hosts that mean the provider's own service, which the configuration addresses. */
const OWN_HOSTS: Readonly<Record<string, string>> = {
  github: 'github.com',
  gitlab: 'gitlab.com',
  bitbucket: 'bitbucket.org',
}

/** A host as it is stored: without a scheme unless it is plain http, or null for the provider's own. */
type HostVerdict = { ok: true; host: string | null } | { ok: false; reason: string }

const HOST = /^(https?:\/\/)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9]\d{0,4})?\/?$/i

/** Reads what a user typed as a host: a name, a port if need be, a scheme if they insist, and nothing else. */
export function readHost(provider: string, text: string): HostVerdict {
  const written = text.trim()
  const [, scheme = 'https://', name = '', port = ''] = HOST.exec(written) ?? []
  const address = `${scheme}${name}${port}`
  if (name === '' || !URL.canParse(address)) {
    return { ok: false, reason: 'a host is a name such as git.example.com, with a port if it needs one' }
  }
  const { host, protocol } = new URL(address)
  if (host === OWN_HOSTS[provider]) return { ok: true, host: null }
  return { ok: true, host: protocol === 'http:' ? `http://${host}` : host }
}

/** The API's address without a slash at its end; null for a provider that has none. */
export function apiUrlOf(provider: string, host: string | null, urls: ProviderUrls): string | null {
  if (provider !== 'github' && provider !== 'gitlab' && provider !== 'bitbucket') return null
  if (host === null) return urls[provider]
  const origin = host.startsWith('http://') ? host : `https://${host}`
  if (provider === 'github') return `${origin}/api/v3`
  if (provider === 'gitlab') return `${origin}/api/v4`
  return `${origin.replace('://', '://api.')}/2.0`
}

// The guarded fetch for a host that a user named. The API's address is made from the host, so its origin is what the user
// typed.

export type HostDoor = Pick<Door, 'policy' | 'fetch'>

/** `base` is the address of the API. */
export function hostDoor(door: HostDoor, base: string): Door {
  return { ...door, chosenBy: typedByPerson(base) }
}

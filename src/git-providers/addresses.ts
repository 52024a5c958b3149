// The addresses of an account's provider: its API, at the configured address or on the host of the token, and its
// repositories, which git reaches in another way than the API.

import { typedByPerson } from '../lib/address-policy.ts'
import { assertNever } from '../lib/assert.ts'
import type { GuardedFetchOptions } from '../lib/guarded-fetch.ts'
import type { Family } from './provider.ts'

export type Account = {
  provider: Family
  /** Null for requests without a token. */
  token: string | null
  /** Null for the provider's own host. */
  host: string | null
}

export type ProviderUrls = { github: string; gitlab: string; bitbucket: string }

/** Hosts of the provider's own service, whose address is configured. */
const OWN_HOSTS: Readonly<Record<Family, string>> = {
  github: 'github.com',
  gitlab: 'gitlab.com',
  bitbucket: 'bitbucket.org',
}

/** A host as it is stored: without a scheme unless it is plain http, or null for the provider's own. */
type HostVerdict = { ok: true; host: string | null } | { ok: false; reason: string }

const HOST = /^(https?:\/\/)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9]\d{0,4})?\/?$/i

/** Reads the user's text as a host: a name, optionally a port and a scheme, and nothing else. */
export function readHost(provider: string, text: string): HostVerdict {
  const written = text.trim()
  const [, scheme = 'https://', name = '', port = ''] = HOST.exec(written) ?? []
  const address = `${scheme}${name}${port}`
  if (name === '' || !URL.canParse(address)) {
    return { ok: false, reason: 'a host is a name such as git.example.com, with a port if it needs one' }
  }
  const { host, protocol } = new URL(address)
  if (isFamily(provider) && host === OWN_HOSTS[provider]) return { ok: true, host: null }
  return { ok: true, host: protocol === 'http:' ? `http://${host}` : host }
}

/** The API's address without a trailing slash; null for a provider without an API. */
export function apiUrlOf(provider: string, host: string | null, urls: ProviderUrls): string | null {
  if (!isFamily(provider)) return null
  if (host === null) return urls[provider]
  const origin = withScheme(host)
  if (provider === 'github') return `${origin}/api/v3`
  if (provider === 'gitlab') return `${origin}/api/v4`
  return `${origin.replace('://', '://api.')}/2.0`
}

const isFamily = (provider: string): provider is Family => Object.hasOwn(OWN_HOSTS, provider)

const withScheme = (host: string): string => (host.startsWith('http://') ? host : `https://${host}`)

// The guarded fetch for a host that a user named. The API's address is derived from the host, so its origin is what the
// user typed.

export type HostAccess = Pick<GuardedFetchOptions, 'policy' | 'fetch'>

/** `base` is the address of the API. */
export function hostDoor(door: HostAccess, base: string): GuardedFetchOptions {
  return { ...door, chosenBy: typedByPerson(base) }
}

// How git reaches an account's repositories: their address, user name and password.

/** The only origin to which the account's token is sent. */
export function gitOriginOf({ provider, host }: Pick<Account, 'provider' | 'host'>): string {
  return new URL(withScheme(host ?? OWN_HOSTS[provider])).origin
}

/** Null for an account without a token. */
export function gitCredentialOf({ provider, token }: Account): { username: string; password: string } | null {
  if (token === null || token === '') return null
  switch (provider) {
    case 'github':
      return { username: 'x-access-token', password: token }
    case 'gitlab':
      return { username: 'oauth2', password: token }
    case 'bitbucket': {
      // An app password is preceded by the user's name.
      const colon = token.indexOf(':')
      return colon < 0
        ? { username: 'x-token-auth', password: token }
        : { username: token.slice(0, colon), password: token.slice(colon + 1) }
    }
    default:
      return assertNever(provider)
  }
}

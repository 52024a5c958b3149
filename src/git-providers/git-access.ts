// How git, in contrast to the API, reaches an account's repositories: where they are, and with what name and password.

import { assertNever } from '../lib/assert.ts'
import type { Account } from './api-client.ts'
import type { Family } from './provider.ts'

const OWN_ORIGINS: Readonly<Record<Family, string>> = {
  github: 'https://github.com',
  gitlab: 'https://gitlab.com',
  bitbucket: 'https://bitbucket.org',
}

/** The only origin that ever gets the account's token. */
export function gitOriginOf({ provider, host }: Pick<Account, 'provider' | 'host'>): string {
  if (host === null) return OWN_ORIGINS[provider]
  return new URL(host.startsWith('http://') ? host : `https://${host}`).origin
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
      // An app password comes with the user's name in front.
      const colon = token.indexOf(':')
      return colon < 0
        ? { username: 'x-token-auth', password: token }
        : { username: token.slice(0, colon), password: token.slice(colon + 1) }
    }
    default:
      return assertNever(provider)
  }
}

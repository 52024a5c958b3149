// Which provider an account belongs to, and how it is asked: within a deadline, its failure a value.

import { assertNever } from '../lib/assert.ts'
import { type Fetch, UpstreamError } from '../lib/http-client.ts'
import { type Account, apiFor } from './api-client.ts'
import { apiUrlOf, type HostDoor, type ProviderUrls } from './api-url.ts'
import { bitbucket } from './bitbucket.ts'
import { type Failure, failureOf } from './failures.ts'
import { GITHUB_HEADERS, github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { Family, GitProvider } from './provider.ts'

export type RequestDeps = {
  urls: ProviderUrls
  door: HostDoor
  /** For one request. */
  timeoutMs: number
  /** For all requests that an answer takes. */
  deadlineMs: number
  /** Ends everything at once. */
  signal: AbortSignal
  fetch?: Fetch
}

export type Outcome<T> = { provider: Family } & ({ ok: true; value: T } | { ok: false; failure: Failure })

/** What the provider says, or how it failed. It never rejects for what a provider does. */
export async function askProvider<T>(
  account: Account,
  deps: RequestDeps,
  question: (provider: GitProvider) => Promise<T>,
): Promise<Outcome<T>> {
  const { provider } = account
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(new UpstreamError({ service: provider, reason: 'timeout' })),
    deps.deadlineMs,
  )
  try {
    return {
      provider,
      ok: true,
      value: await question(providerFor(account, deps, AbortSignal.any([late.signal, deps.signal]))),
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { provider, ok: false, failure: failureOf(error) }
  } finally {
    clearTimeout(timer)
    // Whatever is still under way has nobody to answer to.
    late.abort(new UpstreamError({ service: provider, reason: 'cancelled' }))
  }
}

function providerFor(account: Account, deps: RequestDeps, signal: AbortSignal): GitProvider {
  const { provider, host } = account
  const base = apiUrlOf(provider, host, deps.urls) ?? deps.urls[provider]
  const { door, timeoutMs, fetch } = deps
  const headers: Record<string, string> = provider === 'github' ? GITHUB_HEADERS : {}
  const api = apiFor(account, { base, door, timeoutMs, signal, headers, fetch })
  switch (provider) {
    case 'github':
      return github(api, hostOf(account))
    case 'gitlab':
      return gitlab(api, hostOf(account))
    case 'bitbucket':
      return bitbucket(api, hostOf(account))
    default:
      return assertNever(provider)
  }
}

const OWN_HOSTS = { github: 'github.com', gitlab: 'gitlab.com', bitbucket: 'bitbucket.org' } as const

/** Where people see the account's repositories. */
export function hostOf({ provider, host }: Pick<Account, 'provider' | 'host'>): string {
  return host === null ? OWN_HOSTS[provider] : host.replace(/^https?:\/\//, '')
}

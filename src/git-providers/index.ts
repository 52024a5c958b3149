// The provider of an account, and requests to it: with a deadline, and with failures as values.

import { assertNever } from '../lib/assert.ts'
import { GuardedFetchError } from '../lib/guarded-fetch.ts'
import { type Fetch, UpstreamError } from '../lib/http-client.ts'
import { type Account, apiUrlOf, type HostAccess, type ProviderUrls } from './addresses.ts'
import { apiFor } from './api-client.ts'
import { bitbucket } from './bitbucket.ts'
import { GITHUB_HEADERS, github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { Family, GitProvider } from './provider.ts'

export type RequestDeps = {
  urls: ProviderUrls
  door: HostAccess
  /** For one request. */
  timeoutMs: number
  /** For all requests of one answer. */
  deadlineMs: number
  /** Ends everything at once. */
  signal: AbortSignal
  fetch?: Fetch
}

/** Of the configuration. */
type ProviderConfig = {
  githubApiUrl: string
  gitlabApiUrl: string
  bitbucketApiUrl: string
  addressPolicy: HostAccess['policy']
  fetchTimeoutMs: number
}

export function requestDeps(config: ProviderConfig, signal: AbortSignal): RequestDeps {
  const { githubApiUrl, gitlabApiUrl, bitbucketApiUrl, addressPolicy, fetchTimeoutMs } = config
  return {
    urls: { github: githubApiUrl, gitlab: gitlabApiUrl, bitbucket: bitbucketApiUrl },
    door: { policy: addressPolicy },
    timeoutMs: fetchTimeoutMs,
    // Time for one slow request and its retry, or for many quick ones.
    deadlineMs: 2 * fetchTimeoutMs,
    signal,
  }
}

export type Outcome<T> = { provider: Family } & ({ ok: true; value: T } | { ok: false; failure: Failure })

/** The provider's answer, or how it failed. It never rejects because of the provider. */
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
    // The answers of requests that are still running would not be used.
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

/** The host where users see the account's repositories. */
export function hostOf({ provider, host }: Pick<Account, 'provider' | 'host'>): string {
  return host === null ? OWN_HOSTS[provider] : host.replace(/^https?:\/\//, '')
}

// The provider's name in messages about a failure.

export type FailureWord =
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'rate-limited'
  | 'timeout'
  | 'unreachable'
  | 'malformed'
  | 'failed'

export type Failure = { word: FailureWord; sentence: string; retryAfterMs: number | null; cause: UpstreamError }

const SENTENCES: Readonly<Record<FailureWord, string>> = {
  unauthorized: 'it does not accept the stored token',
  forbidden: 'the stored token may not do this',
  'not-found': 'it has no such thing',
  'rate-limited': 'it is asked too often just now',
  timeout: 'it did not answer in time',
  unreachable: 'it cannot be reached',
  malformed: 'it answered something that cannot be read',
  failed: 'it failed',
}

function failureOf(error: UpstreamError): Failure {
  const word = wordOf(error)
  const { cause, status } = error
  const refused = cause instanceof GuardedFetchError && cause.reason === 'refused' ? cause.message : null
  const sentence = refused ?? (word === 'failed' && status !== null ? `it answered HTTP ${status}` : SENTENCES[word])
  return { word, sentence, retryAfterMs: error.retryAfterMs, cause: error }
}

function wordOf({ reason, status, cause }: UpstreamError): FailureWord {
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not-found'
  if (reason === 'rate_limited') return 'rate-limited'
  if (reason === 'timeout' || status === 504 || (cause instanceof GuardedFetchError && cause.reason === 'timeout'))
    return 'timeout'
  if (reason === 'malformed' || reason === 'too_large' || reason === 'not_json') return 'malformed'
  if (cause instanceof GuardedFetchError && cause.reason === 'too-large') return 'malformed'
  return status === null ? 'unreachable' : 'failed'
}

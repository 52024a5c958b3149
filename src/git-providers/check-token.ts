// Whether a provider accepts a token. Only a request can tell: to the API root at GitHub, which every kind of token may
// read, and to the current user at the others.

import { fetchThrough, GuardedFetchError } from '../lib/guarded-fetch.ts'
import { type Fetch, operatorFetch, requestJson, UpstreamError } from '../lib/http-client.ts'
import { apiUrlOf, type HostAccess, hostDoor, type ProviderUrls } from './addresses.ts'
import { tellingQuota } from './declined.ts'

export type TokenVerdict =
  | { ok: true }
  /** The provider does not accept it. */
  | { ok: false; reason: 'invalid' }
  /** The provider could not be reached, or the answer is not from such a provider. The detail contains no secret. */
  | { ok: false; reason: 'unreachable'; detail: string }

export type TokenToCheck = { provider: string; token: string; host: string | null }

export type CheckOptions = {
  urls: ProviderUrls
  /** For hosts that a user named. */
  door: HostAccess
  timeoutMs: number
  /** For the addresses of the configuration. */
  fetch?: Fetch
}

/** The characters of a token; any other cannot be sent. */
const SENDABLE = /^[\x21-\x7e]+$/

const QUESTIONS: Readonly<Record<string, { path: string; proof: string }>> = {
  github: { path: '/', proof: 'current_user_url' },
  gitlab: { path: '/user', proof: 'id' },
  bitbucket: { path: '/user', proof: 'uuid' },
}

export async function checkToken(
  { provider, token, host }: TokenToCheck,
  options: CheckOptions,
): Promise<TokenVerdict> {
  const question = QUESTIONS[provider]
  const base = apiUrlOf(provider, host, options.urls)
  // A provider without a service behind it accepts nothing.
  if (question === undefined || base === null || !SENDABLE.test(token)) return { ok: false, reason: 'invalid' }
  try {
    const answer = await requestJson(base + question.path, {
      service: provider,
      headers: { ...HEADERS, authorization: authorizationOf(provider, token) },
      timeoutMs: options.timeoutMs,
      retries: 1,
      maxBytes: 1_000_000,
      // A host that a user named is requested through the guarded fetch; the operator's addresses are trusted.
      fetch: tellingQuota(
        host === null ? (options.fetch ?? operatorFetch) : fetchThrough(hostDoor(options.door, base)),
      ),
    })
    const isProvider = typeof answer === 'object' && answer !== null && question.proof in answer
    return isProvider ? { ok: true } : unreachable(`what answered is no ${provider} API`)
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return verdictOf(error, provider)
  }
}

const HEADERS = { accept: 'application/json', 'user-agent': 'bellwether' }

/** Bitbucket's app passwords are preceded by the user's name. */
export function authorizationOf(provider: string, token: string): string {
  return provider === 'bitbucket' && token.includes(':') ? `Basic ${btoa(token)}` : `Bearer ${token}`
}

function verdictOf(error: UpstreamError, provider: string): TokenVerdict {
  const { status, reason } = error
  if (status === 401 || status === 403) return { ok: false, reason: 'invalid' }
  if (status === 404 || reason === 'not_json') return unreachable(`what answered is no ${provider} API`)
  if (error.cause instanceof GuardedFetchError) return unreachable(error.cause.message)
  if (reason === 'rate_limited') return unreachable('it is asked too often just now')
  if (reason === 'timeout') return unreachable('it did not answer in time')
  return unreachable(status === null ? 'it cannot be reached' : `it answered HTTP ${status}`)
}

const unreachable = (detail: string): TokenVerdict => ({ ok: false, reason: 'unreachable', detail })

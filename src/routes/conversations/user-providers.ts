// Sends a request to all of the owner's providers. One that fails is named in a header and the answers of the others
// are returned; only if all have failed, the answer is an error.

import type { Context } from 'hono'
import { config } from '../../config.ts'
import { ownerProviderTokens } from '../../db/provider-tokens.ts'
import type { Account } from '../../git-providers/addresses.ts'
import { askProvider, type Failure, type Outcome, requestDeps } from '../../git-providers/index.ts'
import { type Family, type GitProvider, isFamily } from '../../git-providers/provider.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, type ErrorCode } from '../../http/errors.ts'
import { log } from '../../lib/log.ts'
import { STORE_ANEW, sealedElsewhere } from './errors.ts'

type Ctx = Context<AppEnv>
type Question<T> = (provider: GitProvider, account: Account) => Promise<T>
export type Failed = Failure & { provider: Family }
export type Answer<T> = { provider: Family; value: T }

export const TOKEN_REQUIRED = 'Git provider token required. (such as GitHub).'

/** The owner's accounts in the order in which they were stored; an empty list if there are none. */
export async function storedAccounts(c: Ctx): Promise<Account[]> {
  const stored = await ownerProviderTokens(c.env, c.get('principal').owner)
  if (!stored.ok) {
    throw new AppError('unavailable', sealedElsewhere('tokens', stored.unreadable, STORE_ANEW))
  }
  return stored.tokens.flatMap(({ provider, token, host }) => (isFamily(provider) ? [{ provider, token, host }] : []))
}

/** The accounts to use: that of the given provider, otherwise all. Without any it is a 401 with this text. */
export async function demandAccounts(c: Ctx, words: string, selected: string | null = null): Promise<Account[]> {
  const accounts = await storedAccounts(c)
  if (accounts.length === 0) throw new AppError('unauthorized', words)
  if (selected === null) return accounts
  const named = accounts.filter(({ provider }) => provider === selected)
  if (named.length === 0) throw new AppError('unauthorized', `No ${selected} token is stored.`)
  return named
}

/** The answers of all providers, in order, and the failed providers. */
export async function askAll<T>(
  c: Ctx,
  accounts: readonly Account[],
  question: Question<T>,
): Promise<{ answers: Answer<T>[]; failures: Failed[] }> {
  const deps = requestDeps(config(c.env), new AbortController().signal)
  const asked = accounts.map((account) => askProvider(account, deps, (provider) => question(provider, account)))
  const outcomes = await Promise.all(asked)
  const answers = outcomes.flatMap((outcome) => (outcome.ok ? [outcome] : []))
  return { answers, failures: failuresOf(outcomes) }
}

/** Like `askAll`, but ends as soon as the first provider in order has an answer: `null` means that it has none. */
export async function askFirst<T>(
  c: Ctx,
  accounts: readonly Account[],
  question: Question<T | null>,
): Promise<{ found: Answer<T> | null; failures: Failed[] }> {
  const stop = new AbortController()
  const deps = requestDeps(config(c.env), stop.signal)
  const asked = accounts.map((account) => askProvider(account, deps, (provider) => question(provider, account)))
  const before: Outcome<T | null>[] = []
  for (const [index, pending] of asked.entries()) {
    const outcome = await pending
    if (outcome.ok && outcome.value !== null) {
      stop.abort(new DOMException('answered', 'AbortError'))
      await Promise.allSettled(asked.slice(index + 1))
      return { found: { provider: outcome.provider, value: outcome.value }, failures: failuresOf(before) }
    }
    before.push(outcome)
  }
  return { found: null, failures: failuresOf(before) }
}

function failuresOf<T>(outcomes: readonly Outcome<T>[]): Failed[] {
  const failures = outcomes.flatMap((outcome) =>
    outcome.ok ? [] : [{ ...outcome.failure, provider: outcome.provider }],
  )
  for (const { provider, word, cause } of failures) {
    log.warn('git_providers.failed', { provider, word, status: cause.status, reason: cause.reason })
  }
  return failures
}

/** The header with the failed providers. */
export function failedHeader(failures: readonly Failed[]): Record<string, string> {
  if (failures.length === 0) return {}
  return { 'x-provider-errors': failures.map(({ provider, word }) => `${provider}=${word}`).join(', ') }
}

/** One error for the failures of all providers. */
export function allFailed(failures: readonly Failed[], words?: string): AppError {
  const code = codeOf(failures)
  const told = failures.map(({ provider, sentence }) => `${provider}: ${sentence}`).join('; ')
  const waits = failures.flatMap(({ retryAfterMs }) => (retryAfterMs === null ? [] : [retryAfterMs]))
  const seconds = Math.ceil(Math.min(...waits) / 1000)
  const headers = { ...failedHeader(failures), ...(waits.length > 0 ? { 'retry-after': String(seconds) } : {}) }
  const message = code === 'unauthorized' && words !== undefined ? words : told
  return new AppError(code, message, { headers, cause: failures[0]?.cause })
}

function codeOf(failures: readonly Failed[]): ErrorCode {
  const isAll = (...words: Failure['word'][]) => failures.every(({ word }) => words.includes(word))
  if (isAll('unauthorized', 'forbidden')) return 'unauthorized'
  return isAll('timeout') ? 'upstream_timeout' : 'upstream_failed'
}

/** The answers, or the error if there are none. */
export function demandAnswers<T>({ answers, failures }: { answers: Answer<T>[]; failures: Failed[] }): Answer<T>[] {
  if (answers.length === 0 && failures.length > 0) throw allFailed(failures)
  return answers
}

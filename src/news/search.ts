// The news of one listing: every topic at the search providers, social platforms in parallel, and the pool of earlier
// results if nothing is found. Evidence is distinguished from mere attempts.

import { z } from 'zod'
import { type Clock, isoMicros } from '../lib/clock.ts'
import { type Fetch, UpstreamError } from '../lib/http-client.ts'
import { errorFields, log } from '../lib/log.ts'
import { madeOf, type RawVariables } from '../lib/variables.ts'
import { type ProviderRun, providerRun } from '../market/bars.ts'
import type { AnswerStore } from '../market/providers/answer-cache.ts'
import { type Circuit, type GateKeeper, outcomeOf } from '../market/providers/gate.ts'
import { type Hit, isAboutListing, NewsItem, type SocialSentiment } from './article.ts'
import { SEARCH_PROVIDERS } from './providers/registry.ts'
import { type Question, questionsOf, relevantHits, type Subject, withoutDoubles } from './relevance.ts'
import type { SearchProvider } from './search-provider.ts'
import { askSocial } from './social.ts'

/** The operator's configuration of the search. */
export type NewsSettings = {
  search: readonly string[]
  maxAgeDays: number
  social: { url: string; key: string | null } | null
}

export type SearchDeps = {
  settings: NewsSettings
  /** Addresses and keys of the search providers. */
  variables: RawVariables
  clock: Clock
  gate: GateKeeper
  pool: NewsPool
  /** Caches complete searches for ten minutes; null disables it. */
  store: AnswerStore | null
  timeoutMs: number
  fetch?: Fetch
}

export type NewsResult = {
  /** The number of hits about the listing; null when no search is configured. */
  count: number | null
  /** Results about the listing, or those of the pool if there are none; followed by results about its industry. */
  items: NewsItem[]
  /** The items about the listing come from the pool. */
  isPooled: boolean
  social: SocialSentiment | null
  /** The age of a cached search. */
  ageSeconds: number | null
  maxAgeDays: number
  runs: ProviderRun[]
}

export type NewsQuery = { forceRefresh: boolean; signal: AbortSignal }

const PER_DIMENSION = 4
const DAY_MS = 86_400_000

export async function searchNews(deps: SearchDeps, subject: Subject, query: NewsQuery): Promise<NewsResult> {
  const providers = await searchProviders(deps)
  const [searched, social] = await Promise.all([
    providers.length === 0 ? null : keptOrSearched(deps, { providers, subject, query }),
    deps.settings.social === null
      ? { sentiment: null, runs: [] }
      : askSocial({ ...deps, ...deps.settings.social }, subject.instrument, query.signal),
  ])
  const found = searched?.items ?? []
  const hits = found.filter(isAboutListing)
  const pooled = hits.length === 0 ? await pooledItems(deps, subject) : []
  const background = found.filter((item) => !isAboutListing(item))
  return {
    count: searched === null ? null : hits.length,
    items: withoutDoubles([...(hits.length === 0 ? pooled : hits), ...background]),
    isPooled: pooled.length > 0,
    social: social.sentiment,
    ageSeconds: searched?.ageSeconds ?? null,
    maxAgeDays: deps.settings.maxAgeDays,
    runs: [...(searched?.runs ?? []), ...social.runs],
  }
}

export function searchProviders({
  settings,
  variables,
  clock,
  fetch,
}: Pick<SearchDeps, 'settings' | 'variables' | 'clock' | 'fetch'>): Promise<SearchProvider[]> {
  const deps = { clock, ...(fetch === undefined ? {} : { fetch }) }
  return madeOf(SEARCH_PROVIDERS, settings.search, { variables, deps })
}

type Search = { providers: SearchProvider[]; subject: Subject; query: NewsQuery }
type Searched = { items: NewsItem[]; runs: ProviderRun[]; ageSeconds: number | null }

const Items = z.array(NewsItem)
const KEPT_MS = 600_000

async function keptOrSearched(deps: SearchDeps, search: Search): Promise<Searched> {
  const { store, clock } = deps
  const key = search.subject.instrument.key
  const kept = search.query.forceRefresh ? null : await keptSearch(deps, key)
  if (kept !== null) return kept
  const found = await searchAll(deps, search)
  if (found.items.length > 0) {
    const now = clock()
    const kept = { body: JSON.stringify(found.items), provider: found.items[0]?.provider ?? '', keptAt: now }
    await quietly(() => store?.put('news_search', key, kept))
    await quietly(() => deps.pool.put(key, found.items, now))
  }
  return found
}

async function keptSearch({ store, clock }: SearchDeps, key: string): Promise<Searched | null> {
  const kept = await quietly(() => store?.get('news_search', key))
  const ageMs = kept ? clock() - kept.keptAt : Number.POSITIVE_INFINITY
  if (!kept || ageMs < 0 || ageMs > KEPT_MS) return null
  const items = await quietly(async () => Items.parse(JSON.parse(kept.body)))
  if (!items) return null
  const ageSeconds = Math.floor(ageMs / 1000)
  const of = { dataType: 'news_search', provider: kept.provider, operation: 'kept_news_search' } as const
  const outcome = { success: true, recordCount: items.length, staleSeconds: ageSeconds }
  const run = providerRun(of, clock(), outcome)
  return { items, runs: [run], ageSeconds }
}

/** Two queries at a time: a search must not use all connections that a request may have open. */
const AT_A_TIME = 2

async function searchAll(deps: SearchDeps, { providers, subject, query }: Search): Promise<Searched> {
  const { clock, gate, timeoutMs, settings } = deps
  const asking = { providers, clock, gate, timeoutMs, signal: query.signal }
  const questions = questionsOf(subject, settings.maxAgeDays)
  const found: { question: Question; found: SearchResult }[] = []
  for (let i = 0; i < questions.length; i += AT_A_TIME) {
    const some = questions.slice(i, i + AT_A_TIME)
    const answers = some.map(async (question) => ({ question, found: await askInTurn(asking, subject, question) }))
    found.push(...(await Promise.all(answers)))
  }
  const items = found.flatMap(({ question: { dimension }, found: { hits, provider } }) =>
    hits.slice(0, PER_DIMENSION).map((hit) => ({ ...hit, dimension, provider: provider ?? '' })),
  )
  return { items: withoutDoubles(items), runs: found.flatMap(({ found: { runs } }) => runs), ageSeconds: null }
}

async function pooledItems({ pool, clock, settings }: SearchDeps, { instrument }: Subject): Promise<NewsItem[]> {
  const items = await quietly(() => pool.since(instrument.key, clock() - settings.maxAgeDays * DAY_MS))
  return withoutDoubles((items ?? []).filter(isAboutListing)).slice(0, PER_DIMENSION * 3)
}

/** Storing is optional: an analysis continues without it. */
async function quietly<T>(work: () => Promise<T> | undefined): Promise<T | null> {
  try {
    return (await work()) ?? null
  } catch (error) {
    log.warn('news.storage_failed', errorFields(error))
    return null
  }
}

/** The results of earlier searches. */
export interface NewsPool {
  put(key: string, items: readonly NewsItem[], now: number): Promise<void>
  /** Published since then, the newest first; undated ones by when they were found. */
  since(key: string, epochMs: number): Promise<NewsItem[]>
}

// One query, sent to one search provider after the other until one finds something that counts. After a provider that
// fails, and after one without results, the next is used; both are recorded.

type Asking = {
  providers: readonly SearchProvider[]
  clock: Clock
  gate: GateKeeper
  /** For one provider and one query, including retries. */
  timeoutMs: number
  signal: AbortSignal
}

export type SearchResult = { hits: Hit[]; provider: string | null; runs: ProviderRun[] }

const COUNT = 10

async function askInTurn(asking: Asking, subject: Subject, question: Question): Promise<SearchResult> {
  const runs: ProviderRun[] = []
  for (const provider of asking.providers) {
    const { hits, run } = await attempt(asking, provider, { subject, question })
    const before = runs.at(-1)
    runs.push({ ...run, fallbackFrom: before?.provider ?? null })
    if (before) before.fallbackTo = run.provider
    if (hits.length > 0) return { hits, provider: provider.name, runs }
  }
  return { hits: [], provider: null, runs }
}

type SearchRequest = { subject: Subject; question: Question }

async function attempt(
  asking: Asking,
  provider: SearchProvider,
  { subject, question }: SearchRequest,
): Promise<{ hits: Hit[]; run: ProviderRun }> {
  const { clock, gate, timeoutMs, signal } = asking
  const startedAt = clock()
  const blank = blankRun(provider.name, question, startedAt)
  const circuit: Circuit = `${provider.name}:news_search`
  const openUntil = await gate.openUntil(circuit)
  if (openUntil !== null) {
    const errorMessage = `${provider.name}: circuit_open (until ${isoMicros(openUntil)})`
    return { hits: [], run: { ...blank, errorType: 'circuit_open', errorMessage } }
  }
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const { text, days, language, isNews } = question
    const query = { text, days, count: COUNT, language, isNews }
    const found = await provider.search(query, AbortSignal.any([signal, deadline]))
    const hits = relevantHits(found, question, { ...subject, now: clock() })
    await gate.settle(circuit, 'answered')
    return { hits, run: { ...blank, success: true, latencyMs: clock() - startedAt, recordCount: hits.length } }
  } catch (error) {
    signal.throwIfAborted()
    const failure = failureOf(provider.name, error, deadline.aborted ? timeoutMs : null)
    log.warn('news.search_failed', {
      ...failure,
      dimension: question.dimension,
      ...(failure.errorType === 'internal' ? errorFields(error) : {}),
    })
    await gate.settle(
      circuit,
      error instanceof UpstreamError && error.status === 401 ? 'refused' : (outcomeOf(error) ?? 'failed'),
    )
    return { hits: [], run: { ...blank, ...failure, latencyMs: clock() - startedAt } }
  }
}

type Failure = { errorType: string; errorMessage: string }

function failureOf(name: string, error: unknown, timedOutMs: number | null): Failure {
  if (error instanceof UpstreamError) {
    const type =
      error.reason === 'http_status' || error.reason === 'rate_limited' ? `http_${error.status}` : error.reason
    return { errorType: type, errorMessage: error.message }
  }
  if (timedOutMs !== null) return { errorType: 'timeout', errorMessage: `${name}: timeout (${timedOutMs} ms)` }
  return { errorType: 'internal', errorMessage: `${name}: internal` }
}

function blankRun(provider: string, { dimension }: Question, startedAt: number): ProviderRun {
  return providerRun({ dataType: 'news_search', provider, operation: dimension }, startedAt)
}

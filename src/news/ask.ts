// One question, asked of one search provider after the other until one finds something that counts. A provider that fails,
// and one that finds nothing, makes way for the next; both are on record.

import { type Clock, isoMicros } from '../lib/clock.ts'
import { UpstreamError } from '../lib/http-client.ts'
import { errorFields, log } from '../lib/log.ts'
import type { ProviderRun } from '../market/provider-run.ts'
import { type Circuit, type GateKeeper, outcomeOf } from '../market/providers/gate.ts'
import type { Hit } from './article.ts'
import { type Question, relevantHits, type Subject } from './relevance.ts'
import type { SearchProvider } from './search-provider.ts'

type Asking = {
  providers: readonly SearchProvider[]
  clock: Clock
  gate: GateKeeper
  /** For one provider and one question, retries included. */
  timeoutMs: number
  signal: AbortSignal
}

export type SearchResult = { hits: Hit[]; provider: string | null; runs: ProviderRun[] }

const COUNT = 10

export async function askInTurn(asking: Asking, subject: Subject, question: Question): Promise<SearchResult> {
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
  return {
    dataType: 'news_search',
    provider,
    operation: dimension,
    success: false,
    latencyMs: 0,
    errorType: null,
    errorMessage: null,
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: 0,
    createdAt: isoMicros(startedAt),
  }
}

// Posts about a listing on social platforms, from a service that the operator configures. The request is
// `{url}/{symbol}` and the answer is JSON; missing fields are allowed.

import { z } from 'zod'
import type { Clock } from '../lib/clock.ts'
import { type Fetch, requestJson, UpstreamError } from '../lib/http-client.ts'
import { log } from '../lib/log.ts'
import { type ProviderRun, providerRun } from '../market/bars.ts'
import type { Instrument } from '../market/instruments.ts'
import { plain, type SocialSentiment } from './article.ts'
import { checkedReply } from './search-provider.ts'

const NAME = 'social'
const MAX_TEXT = 1_000

const figure = z.number().nullish()
const Reply = z.object({
  symbol: z.string().nullish(),
  ticker: z.string().nullish(),
  summary: z.string().nullish(),
  text: z.string().nullish(),
  score: figure,
  mentions: figure,
})

export type SocialOptions = { url: string; key: string | null; clock: Clock; timeoutMs: number; fetch?: Fetch }

export type SocialResult = { sentiment: SocialSentiment | null; runs: ProviderRun[] }

export async function askSocial(
  options: SocialOptions,
  instrument: Instrument,
  signal: AbortSignal,
): Promise<SocialResult> {
  const startedAt = options.clock()
  const of = { dataType: 'social_sentiment', provider: NAME, operation: 'social_sentiment' } as const
  const run = providerRun(of, startedAt)
  try {
    const sentiment = await fetched(options, instrument, signal)
    const latencyMs = options.clock() - startedAt
    return { sentiment, runs: [{ ...run, success: true, latencyMs, recordCount: sentiment === null ? 0 : 1 }] }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof UpstreamError)) throw error
    log.warn('news.social_failed', { reason: error.reason })
    const latencyMs = options.clock() - startedAt
    return { sentiment: null, runs: [{ ...run, latencyMs, errorType: error.reason, errorMessage: error.message }] }
  }
}

async function fetched(
  { url, key, timeoutMs, fetch }: SocialOptions,
  instrument: Instrument,
  signal: AbortSignal,
): Promise<SocialSentiment | null> {
  const headers = key === null ? {} : { authorization: `Bearer ${key}`, 'x-api-key': key }
  const address = `${url}/${encodeURIComponent(instrument.key)}`
  const reply = await requestJson(address, {
    service: NAME,
    headers,
    timeoutMs,
    retries: 0,
    signal,
    ...(fetch && { fetch }),
  })
  const { symbol, ticker, summary, text, score, mentions } = checkedReply(NAME, Reply, reply)
  const echoed = symbol ?? ticker ?? instrument.key
  if (echoed.toUpperCase() !== instrument.key) throw new UpstreamError({ service: NAME, reason: 'wrong_symbol' })
  const words = plain(summary || text || '', MAX_TEXT)
  if (words === '') return null
  const bounded = score === null || score === undefined || Math.abs(score) > 1 ? null : score
  return { text: words, score: bounded, mentions: mentions ?? null, provider: NAME }
}

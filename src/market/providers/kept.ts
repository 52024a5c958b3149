// Stored answers. A fresh one saves the request; an old one is used when every source fails, with its age. Bundled samples
// are never stored.

import { z } from 'zod'
import { type Clock, isoMicros } from '../../lib/clock.ts'
import { log } from '../../lib/log.ts'
import { lastCompletedSession, marketPhaseSummary, sessionEnd } from '../calendar.ts'
import type { Market } from '../instruments.ts'
import type { Fetched, ProviderRun } from '../provider-run.ts'
import { linked } from './chain.ts'
import type { MarketNeed } from './provider.ts'

export type KeptAnswer = { body: string; provider: string; keptAt: number }

/** The store of the answers. */
export interface AnswerStore {
  get(need: MarketNeed, key: string): Promise<KeptAnswer | null>
  put(need: MarketNeed, key: string, answer: KeptAnswer): Promise<void>
}

/** The rules for storing one kind of answer. */
export type Keeping<T> = {
  dataType: MarketNeed
  operation: string
  key: string
  schema: z.ZodType<T>
  isFresh: (keptAt: number, now: number) => boolean
  /** Whether a stored answer is sufficient for this request. */
  isEnough: (value: T) => boolean
  count: (value: T) => number
}

export const BarList = z.array(
  z.object({
    date: z.string(),
    open: z.number(),
    high: z.number(),
    low: z.number(),
    close: z.number(),
    volume: z.number(),
    amount: z.number().nullable(),
  }),
)

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** The figures of a session are final this long after its end. */
const SETTLE_MS = 10 * MINUTE_MS
const TOO_OLD_MS = 30 * DAY_MS

export const forMinutes = (minutes: number) => (keptAt: number, now: number) => isYounger(keptAt, now, minutes)

const isYounger = (keptAt: number, now: number, minutes: number): boolean =>
  keptAt <= now && now - keptAt < minutes * MINUTE_MS

/** While a market is open its newest bar changes; after that nothing changes until the next session. */
export function untilNextSession(market: Market) {
  return (keptAt: number, now: number): boolean => {
    if (isYounger(keptAt, now, 1)) return true
    const { phase } = marketPhaseSummary({ market, epochMs: now })
    if (phase === 'intraday' || phase === 'lunch_break' || phase === 'closing_auction') return false
    return keptAt <= now && keptAt >= sessionEnd(market, lastCompletedSession(market, now)) + SETTLE_MS
  }
}

type Asking<T> = {
  store: AnswerStore | null
  clock: Clock
  keeping: Keeping<T>
  forceRefresh: boolean
  ask: () => Promise<Fetched<T>>
}

/** A fresh stored answer, else the sources' answer, else an old stored answer with its age. */
export async function keptOrAsked<T>({ store, clock, keeping, forceRefresh, ask }: Asking<T>): Promise<Fetched<T>> {
  if (store === null) return ask()
  const kept = await read(store, keeping, clock)
  if (kept !== null && !forceRefresh && keeping.isFresh(kept.keptAt, clock()) && keeping.isEnough(kept.value)) {
    return answerOf(kept, [])
  }
  const asked = await ask()
  if (!asked.ok) return kept === null || clock() - kept.keptAt > TOO_OLD_MS ? asked : answerOf(kept, asked.runs)
  if (asked.provenance === null)
    await write(store, keeping, { value: asked.value, provider: asked.provider, keptAt: clock() })
  return asked
}

type CachedAnswer<T> = { value: T; provider: string; keptAt: number; run: ProviderRun }

function answerOf<T>({ value, provider, run }: CachedAnswer<T>, before: ProviderRun[]): Fetched<T> {
  const tried = before.filter(({ errorType }) => errorType !== 'unsupported')
  return { ok: true, value, provider, provenance: null, runs: linked([...tried, run]) }
}

async function read<T>(store: AnswerStore, keeping: Keeping<T>, clock: Clock): Promise<CachedAnswer<T> | null> {
  try {
    const kept = await store.get(keeping.dataType, keeping.key)
    const parsed = kept && keeping.schema.safeParse(JSON.parse(kept.body))
    if (!kept || !parsed?.success) return null
    const { provider, keptAt } = kept
    return {
      value: parsed.data,
      provider,
      keptAt,
      run: keptRun(keeping, { value: parsed.data, provider, keptAt }, clock()),
    }
  } catch (error) {
    log.warn('market.kept_unreadable', { dataType: keeping.dataType, cause: messageOf(error) })
    return null
  }
}

async function write<T>(
  store: AnswerStore,
  keeping: Keeping<T>,
  { value, provider, keptAt }: { value: T; provider: string; keptAt: number },
): Promise<void> {
  try {
    await store.put(keeping.dataType, keeping.key, { body: JSON.stringify(value), provider, keptAt })
  } catch (error) {
    // The answer is valid even if it cannot be stored.
    log.warn('market.not_kept', { dataType: keeping.dataType, cause: messageOf(error) })
  }
}

function keptRun<T>(
  { dataType, operation, count }: Keeping<T>,
  { value, provider, keptAt }: { value: T; provider: string; keptAt: number },
  now: number,
): ProviderRun {
  return {
    dataType,
    provider,
    operation: `kept_${operation}`,
    success: true,
    latencyMs: 0,
    errorType: null,
    errorMessage: null,
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: count(value),
    staleSeconds: Math.max(0, Math.floor((now - keptAt) / 1000)),
    createdAt: isoMicros(now),
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

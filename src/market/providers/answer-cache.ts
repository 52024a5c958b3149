// Cached answers. A recent one saves the request; an old one is used when every source fails, with its age. Bundled
// samples are never cached. The second half says how long each kind of answer is cached.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { log } from '../../lib/log.ts'
import { type Bar, type Fetched, type ProviderRun, providerRun } from '../bars.ts'
import { lastCompletedSession, marketPhaseSummary, sessionEnd } from '../calendar.ts'
import { Board, BoardRankings, FlowDay, Fundamentals, Peers } from '../company.ts'
import { CompanyEvents } from '../company-events.ts'
import type { Instrument, Market } from '../instruments.ts'
import { linked } from './chain.ts'
import type { BarsQuery, MarketNeed, QuoteQuery } from './provider.ts'

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

const forMinutes = (minutes: number) => (keptAt: number, now: number) => isYounger(keptAt, now, minutes)

const isYounger = (keptAt: number, now: number, minutes: number): boolean =>
  keptAt <= now && now - keptAt < minutes * MINUTE_MS

/** While a market is open its newest bar changes; after the close nothing changes until the next session. */
function untilNextSession(market: Market) {
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

/** A recent cached answer, else the sources' answer, else an old cached answer with its age. */
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
  const staleSeconds = Math.max(0, Math.floor((now - keptAt) / 1000))
  const of = { dataType, provider, operation: `kept_${operation}` }
  return providerRun(of, now, { success: true, recordCount: count(value), staleSeconds })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const RESULTS_MINUTES = 6 * 60
/** Companies announce their dates weeks ahead. */
const EVENTS_MINUTES = 12 * 60
const BOARDS_MINUTES = 24 * 60
const PEERS_MINUTES = 24 * 60
const RANKINGS_MINUTES = 5

type CachePolicy<T> = { keeping: Keeping<T>; forceRefresh: boolean }

const forced = ({ forceRefresh = false }: QuoteQuery): boolean => forceRefresh

type Listing = Pick<Instrument, 'key' | 'market'>

// A young listing never has as many bars as requested; only a series this much shorter is requested again.
const NEARLY = 0.9

export function keepBars({ key, market }: Listing, query: BarsQuery): CachePolicy<Bar[]> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'daily_data',
      operation: 'daily_bars',
      key,
      schema: BarList,
      isFresh: untilNextSession(market),
      isEnough: (bars) => bars.length >= query.count * NEARLY,
      count: (bars) => bars.length,
    },
  }
}

/**
 * An index is only compared over completed sessions, so its series is fetched once a session, by the first caller that
 * needs it.
 */
export function keepIndexBars({ key, market }: Listing, query: BarsQuery): CachePolicy<Bar[]> {
  const policy = keepBars({ key, market }, query)
  const isFresh = (keptAt: number, now: number) =>
    isYounger(keptAt, now, SETTLE_MS / MINUTE_MS) ||
    (keptAt <= now && keptAt >= sessionEnd(market, lastCompletedSession(market, now)) + SETTLE_MS)
  // A source with fewer bars than requested has no more of them an hour later.
  return { ...policy, keeping: { ...policy.keeping, isFresh, isEnough: () => true } }
}

export function keepFundamentals({ key }: Instrument, query: QuoteQuery): CachePolicy<Fundamentals> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'fundamentals',
      operation: 'fundamentals',
      key,
      schema: Fundamentals,
      isFresh: forMinutes(RESULTS_MINUTES),
      isEnough: () => true,
      count: ({ dividends, report }) => dividends.length + (report === null ? 0 : 1),
    },
  }
}

export function keepEvents({ key }: Instrument, query: QuoteQuery): CachePolicy<CompanyEvents> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'company_events',
      operation: 'company_events',
      key,
      schema: CompanyEvents,
      isFresh: forMinutes(EVENTS_MINUTES),
      isEnough: () => true,
      count: ({ earnings, dividends }) => earnings.length + dividends.length,
    },
  }
}

export function keepFlow({ key, market }: Instrument, query: QuoteQuery): CachePolicy<FlowDay[]> {
  return listKept({ dataType: 'capital_flow', operation: 'capital_flow', key, schema: z.array(FlowDay) }, query, {
    isFresh: untilNextSession(market),
  })
}

export function keepBoards({ key }: Instrument, query: QuoteQuery): CachePolicy<Board[]> {
  return listKept({ dataType: 'belong_boards', operation: 'boards', key, schema: z.array(Board) }, query, {
    isFresh: forMinutes(BOARDS_MINUTES),
  })
}

export function keepPeers({ key }: Instrument, query: QuoteQuery): CachePolicy<Peers> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'peer_multiples',
      operation: 'peers',
      key,
      schema: Peers,
      isFresh: forMinutes(PEERS_MINUTES),
      isEnough: () => true,
      count: ({ companies }) => companies.length,
    },
  }
}

export function keepRankings({ market }: Instrument, query: QuoteQuery): CachePolicy<BoardRankings> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'sector_rankings',
      operation: 'rankings',
      key: market,
      schema: BoardRankings,
      isFresh: forMinutes(RANKINGS_MINUTES),
      isEnough: () => true,
      count: ({ industries, concepts }) => industries.top.length + concepts.top.length,
    },
  }
}

function listKept<T>(
  what: Pick<Keeping<T[]>, 'dataType' | 'operation' | 'key' | 'schema'>,
  query: QuoteQuery,
  { isFresh }: Pick<Keeping<T[]>, 'isFresh'>,
): CachePolicy<T[]> {
  const keeping = { ...what, isFresh, isEnough: () => true, count: (list: T[]) => list.length }
  return { forceRefresh: forced(query), keeping }
}

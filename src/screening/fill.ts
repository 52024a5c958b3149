// How the stored figures are collected: closes from lists of many quotes after a session has ended, and bars of one
// listing after another. A run has a limited number of requests and every request waits for its turn, so the rate of
// requests does not depend on the number of listings. Figures are stored together with the position: the next run
// continues an interrupted run.

import {
  type BarsOutcome,
  barsKeptSince,
  type CloseRow,
  type DueBars,
  dueBars,
  type FillState,
  fillStates,
  keysWithout,
  type ListedRow,
  layDownListings,
  saveBars,
  saveCloses,
  saveFill,
} from '../db/stock-figures.ts'
import type { Listing } from '../kits/market-names/index.ts'
import type { Clock } from '../lib/clock.ts'
import { UpstreamError } from '../lib/http-client.ts'
import { errorFields, log } from '../lib/log.ts'
import type { Bar, Fetched } from '../market/bars.ts'
import { nextTradingDay, sessionEnd, startedSession } from '../market/calendar.ts'
import { isRiskWarned } from '../market/consistency/limits.ts'
import { type Instrument, type Market, parseCode } from '../market/instruments.ts'
import { BarList } from '../market/providers/answer-cache.ts'
import type { ListedQuote } from '../market/providers/eastmoney-boards.ts'
import type { BarsField, CloseField } from './fields.ts'
import { barsFigures, closeFigures, isSameClose, type KeptGroup, SETTLE_MS, settledSession } from './figures.ts'

/** One answer of a list. `position` is where the next one starts. */
export type CloseAnswer = { quotes: readonly ListedQuote[]; asked: number; position: string; isLast: boolean }

/** A source that returns many quotes in one answer. */
export type CloseSource = {
  readonly name: string
  readonly carries: (market: Market) => boolean
  /** The listings of one request, for a source that requires them. */
  readonly atOnce: number | null
  readonly read: (
    market: Market,
    place: { position: string | null; instruments: readonly Instrument[] },
    signal: AbortSignal,
  ) => Promise<CloseAnswer>
}

export type FillDeps = {
  db: D1Database
  markets: readonly Market[]
  /** The first one that has a market is asked; after a failure the next one. */
  sources: readonly CloseSource[]
  bars: (instrument: Instrument, signal: AbortSignal) => Promise<Fetched<Bar[]>>
  listings: () => Promise<readonly Listing[]>
  /** Waits until the next request may start; false if this run has used its requests. */
  turn: () => Promise<boolean>
  clock: Clock
  signal: AbortSignal
}

export type Filled = { closes: number; refused: number; bars: number; failed: number }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** One run: first the bars that are stored already, then closes, then bars, until its requests are used up. */
export async function fillFigures(deps: FillDeps): Promise<Filled> {
  const filled: Filled = { closes: 0, refused: 0, bars: 0, failed: 0 }
  const states = new Map((await fillStates(deps.db)).map((state) => [state.market, state]))
  try {
    for (const market of deps.markets) await fillCloses(deps, { market, known: states.get(market) ?? null, filled })
    filled.bars += await takeKeptBars(deps)
    await fillBars(deps, filled)
  } catch (error) {
    // The time of the run is over: the figures read so far are stored.
    if (!deps.signal.aborted) throw error
  }
  return filled
}

type Closing = { market: Market; known: FillState | null; filled: Filled }

async function fillCloses(deps: FillDeps, { market, known, filled }: Closing): Promise<void> {
  const sources = deps.sources.filter(({ carries }) => carries(market))
  let state = await currentFill(deps, { market, known, sources })
  while (state !== null && !state.isDone && !deps.signal.aborted) {
    // After the next session has started, a list contains its prices and no longer the required closes.
    const now = deps.clock()
    if (now < state.nextAt || startedSession(market, now) > state.session) return
    const source = sources.find(({ name }) => name === state?.source) ?? sources[0]
    if (source === undefined) return
    state = await readOnce(deps, { state, source, sources, filled })
  }
}

/** The state for the newest finished session; a new one starts with the listings known now. */
async function currentFill(
  { db, listings, clock }: FillDeps,
  { market, known, sources }: { market: Market; known: FillState | null; sources: readonly CloseSource[] },
): Promise<FillState | null> {
  const now = clock()
  const session = settledSession(market, now)
  if (known !== null && known.session >= session) return known
  await layDownListings(db, market, listedRows(await listings(), market))
  const fresh: FillState = {
    ...{ market, session, source: sources[0]?.name ?? 'none', position: null, isDone: sources.length === 0 },
    ...{ told: 0, refused: 0, failures: 0, nextAt: 0, startedAt: now, endedAt: null },
  }
  await saveFill(db, fresh)
  return fresh
}

function listedRows(listings: readonly Listing[], market: Market): ListedRow[] {
  return listings.flatMap(({ key, kind, active, zh, en }) => {
    const parsed = active && kind !== 'index' ? parseCode(key) : null
    if (!parsed?.ok || parsed.instrument.market !== market) return []
    return [listedRow(parsed.instrument, { name: zh, en, kind })]
  })
}

const listedRow = (
  { key, market, exchange }: Instrument,
  told: { name: string; en: string; kind: string },
): ListedRow => {
  return { key, market, exchange, ...told, riskWarned: isRiskWarned(told.name) }
}

type Reading = { state: FillState; source: CloseSource; sources: readonly CloseSource[]; filled: Filled }

/** One request of a list, stored with its position. Null if the run must end. */
async function readOnce(deps: FillDeps, { state, source, sources, filled }: Reading): Promise<FillState | null> {
  const { db, clock, signal } = deps
  const { market, session, position } = state
  const instruments = await wanted(deps, state, source)
  if (instruments?.length === 0) {
    const done = { ...state, isDone: true, endedAt: clock() }
    await saveFill(db, done)
    return done
  }
  if (!(await deps.turn())) return null
  try {
    const answer = await source.read(market, { position, instruments: instruments ?? [] }, signal)
    const toldAt = clock()
    const rows = answer.quotes.flatMap((one) => closeRow(one, { source: source.name, toldAt }))
    const next: FillState = {
      ...{ ...state, position: answer.position, failures: 0, nextAt: 0, isDone: answer.isLast },
      ...{ told: state.told + rows.length, refused: state.refused + answer.asked - rows.length },
      endedAt: answer.isLast ? toldAt : null,
    }
    await saveCloses(db, rows, next)
    filled.closes += rows.length
    filled.refused += answer.asked - rows.length
    return next
  } catch (error) {
    // A refusal because of the limit per minute is not a failure of the source.
    if (signal.aborted || (error instanceof UpstreamError && error.reason === 'crowded')) return null
    log.warn('screening.list_failed', { source: source.name, market, session, ...errorFields(error) })
    filled.failed += 1
    return afterFailure(deps, { state, sources })
  }
}

/** Null: the source returns its own list. */
async function wanted({ db }: FillDeps, state: FillState, { atOnce }: CloseSource): Promise<Instrument[] | null> {
  if (atOnce === null) return null
  const { market, session, position } = state
  const keys = await keysWithout(db, { market, session, after: position ?? '', limit: atOnce })
  return keys.flatMap((key) => {
    const parsed = parseCode(key)
    return parsed.ok ? [parsed.instrument] : []
  })
}

const MOST_LIST_WAIT_MS = HOUR_MS

/** The next source starts at once from its own beginning; after all have failed in a row, there is a pause. */
async function afterFailure(
  { db, clock }: FillDeps,
  { state, sources }: Pick<Reading, 'state' | 'sources'>,
): Promise<FillState> {
  const failures = state.failures + 1
  const at = sources.findIndex(({ name }) => name === state.source)
  const source = sources[(at + 1) % sources.length]?.name ?? state.source
  const haveAllFailed = failures % sources.length === 0
  const rounds = Math.floor(failures / sources.length)
  const nextAt = haveAllFailed ? clock() + Math.min(MOST_LIST_WAIT_MS, MINUTE_MS * 2 ** rounds) : 0
  const next = { ...state, source, failures, nextAt, position: source === state.source ? state.position : null }
  await saveFill(db, next)
  return next
}

function closeRow(
  { instrument, quote, industry }: ListedQuote,
  { source, toldAt }: { source: string; toldAt: number },
): CloseRow[] {
  const closed = closeFigures(instrument, { value: quote, source, toldAt })
  if (!closed.ok) return []
  const { kind, key } = instrument
  const name = quote.name?.normalize('NFKC').replace(/\s+/g, '') ?? key
  return [{ listed: listedRow(instrument, { name, en: '', kind }), industry, kept: closed.kept }]
}

// Bars.

const KEPT_AT_ONCE = 40
const KEPT_FOR_MS = 3 * DAY_MS

/** Bars that reports and other code have fetched: no request is needed. */
async function takeKeptBars(deps: FillDeps): Promise<number> {
  const { db, clock } = deps
  const kept = await barsKeptSince(db, { since: clock() - KEPT_FOR_MS, limit: KEPT_AT_ONCE })
  const outcomes = kept.flatMap((one): BarsOutcome[] => {
    const parsed = parseCode(one.key)
    if (!parsed.ok) return []
    const told = { instrument: parsed.instrument, value: barsIn(one.body), source: one.provider, toldAt: one.keptAt }
    return [barsOutcome(deps, one, told)]
  })
  await saveBars(db, outcomes)
  return outcomes.filter(({ bars }) => bars !== null).length
}

/** Empty if the stored bars cannot be read: then the listing's bars are fetched again. */
function barsIn(body: string): Bar[] {
  try {
    const bars = BarList.safeParse(JSON.parse(body))
    return bars.success ? bars.data : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

const BARS_AT_ONCE = 20

async function fillBars(deps: FillDeps, filled: Filled): Promise<void> {
  const { db, markets, clock, signal } = deps
  for (;;) {
    const due = await dueBars(db, { markets, now: clock(), limit: BARS_AT_ONCE })
    if (due.length === 0) return
    for (const one of due) {
      if (signal.aborted || !(await deps.turn())) return
      const parsed = parseCode(one.key)
      if (!parsed.ok) throw new Error(`${one.key} is no listing`)
      const outcome = await askedBars(deps, one, parsed.instrument)
      if (outcome === null) return
      await saveBars(db, [outcome])
      if (outcome.failures > 0) filled.failed += 1
      else filled.bars += 1
    }
  }
}

const NOBODY_ASKED: ReadonlySet<string | null> = new Set(['circuit_open', 'crowded'])
const MOST_BARS_WAIT_MS = 7 * DAY_MS

/** Null if requests to every source are suspended now: then the listing stays due. */
async function askedBars(deps: FillDeps, due: DueBars, instrument: Instrument): Promise<BarsOutcome | null> {
  const now = deps.clock()
  const fetched = await deps.bars(instrument, deps.signal)
  if (fetched.ok && fetched.provenance === null) {
    const staleMs = (fetched.runs.at(-1)?.staleSeconds ?? 0) * 1000
    const told = { instrument, value: fetched.value, source: fetched.provider, toldAt: deps.clock() - staleMs }
    return barsOutcome(deps, due, told)
  }
  const asked = fetched.runs.filter(({ errorType }) => errorType !== 'unsupported')
  if (asked.length > 0 && asked.every(({ errorType }) => NOBODY_ASKED.has(errorType))) return null
  return failedOutcome(due, asked.length === 0 ? MOST_BARS_WAIT_MS : null, now)
}

function failedOutcome({ key, failures: before }: DueBars, waitMs: number | null, now: number): BarsOutcome {
  const failures = before + 1
  const nextAt = now + (waitMs ?? Math.min(MOST_BARS_WAIT_MS, HOUR_MS * 2 ** failures))
  return { key, bars: null, close: null, isContradicted: false, toldAt: 0, nextAt, failures }
}

type ToldBars = { instrument: Instrument; value: readonly Bar[]; source: string; toldAt: number }

/** The time until the next request if a source does not have the newest session yet, or a listing is suspended. */
const LATE_MS = 6 * HOUR_MS

function barsOutcome({ clock }: FillDeps, due: DueBars, { instrument, ...told }: ToldBars): BarsOutcome {
  const now = clock()
  const found = barsFigures(instrument, told)
  if (!found.ok) return { ...failedOutcome(due, null, now), toldAt: told.toldAt }
  const { market } = instrument
  const session = settledSession(market, now)
  const nextSettled = sessionEnd(market, nextTradingDay(market, session)) + SETTLE_MS
  const isNewest = found.kept.bars.session >= session
  const nextAt = isNewest ? nextSettled : Math.min(nextSettled, now + LATE_MS)
  const common = { key: due.key, toldAt: told.toldAt, nextAt, failures: 0 }
  return { ...common, ...agreed(due, found.kept) }
}

type Groups = { bars: KeptGroup<BarsField>; close: KeptGroup<CloseField> | null }

/** A close from a list and the bar of the same session must have the same price; if they do not, neither is shown. */
function agreed(
  { session, price }: DueBars,
  { bars, close }: Groups,
): Pick<BarsOutcome, 'bars' | 'close' | 'isContradicted'> {
  const barClose = close?.figures.price ?? null
  const isComparable = session === bars.session && price !== null && barClose !== null
  const same = isComparable ? isSameClose(price, barClose) : true
  if (same === true || close === null) return { bars, close, isContradicted: false }
  if (same === null) return { bars: marked(bars), close, isContradicted: false }
  return { bars: unknown(marked(bars)), close: unknown(marked(close)), isContradicted: true }
}

const marked = <Name extends string>(kept: KeptGroup<Name>): KeptGroup<Name> => {
  return { ...kept, marks: [...new Set([...kept.marks, 'same_day_close' as const])] }
}

function unknown<Name extends string>(kept: KeptGroup<Name>): KeptGroup<Name> {
  const names = Object.keys(kept.figures) as Name[]
  return { ...kept, figures: Object.fromEntries(names.map((name) => [name, null])) as KeptGroup<Name>['figures'] }
}

// Screening with the dependencies from this environment: the runs of saved screens, and the collection of the stored
// figures.

import { marketDataOf } from '../analysis/market-data.ts'
import { taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { gateStore } from '../db/market-state.ts'
import { isAnybodyScreening, pruneScreenings } from '../db/saved-screens.ts'
import { stockNameStore } from '../db/stock-names.ts'
import { endTurn, takeTurn } from '../db/upkeep.ts'
import { currentNames } from '../kits/market-names/index.ts'
import { systemClock } from '../lib/clock.ts'
import { type Fetch, operatorFetch, UpstreamError } from '../lib/http-client.ts'
import { errorFields, log } from '../lib/log.ts'
import { sleep } from '../lib/wait-at-most.ts'
import type { Instrument, Market } from '../market/instruments.ts'
import { isListed, listedQuotes } from '../market/providers/eastmoney-boards.ts'
import { type GateKeeper, paceOf, storedGate } from '../market/providers/gate.ts'
import { buildProviders } from '../market/providers/index.ts'
import type { MarketDataProvider } from '../market/providers/provider.ts'
import { eastMoneyUrls } from '../market/providers/registry.ts'
import { type CloseSource, type FillDeps, fillFigures } from '../screening/fill.ts'
import { type RunDeps, runDueScreens, runItem } from '../screening/runs.ts'
import { nextSlot, type ScheduleTime, slotsBetween, WhenSchema } from './plan.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** How long figures are collected after the last screening. */
const WANTED_FOR_MS = 30 * DAY_MS
const KEEP_RUNS_MS = 90 * DAY_MS
const KEEP_PAGES_MS = 7 * DAY_MS

/** Runs the due screens. A failure is logged, and the other work of the trigger continues. */
export async function runScreens(env: Env, now: number): Promise<void> {
  try {
    const outcome = await runDueScreens(runDeps(env), now)
    if (!outcome.startsWith('0 ')) log.info('screening.ran', { outcome })
  } catch (error) {
    log.error('screening.failed', errorFields(error))
  }
}

/** Collects figures. A trigger does this last, because it takes minutes. */
export async function collectFigures(env: Env, now: number): Promise<void> {
  try {
    await fill(env, now)
  } catch (error) {
    log.error('screening.fill_failed', errorFields(error))
  }
}

function runDeps(env: Env): RunDeps {
  return {
    db: env.DB,
    slots: (schedule, markets, span) => slotsBetween(whenOf(schedule), markets, span),
    next: (schedule, markets, after) => nextSlot(whenOf(schedule), markets, after)?.at ?? null,
    markets: config(env).screening.markets,
    publish: async (runs) => {
      const news = runs.map((run) => ({ owner: run.owner, uid: run.uid, json: JSON.stringify(runItem(run)) }))
      await taskQueue(env).tellOnce('screen_matched', news)
    },
    wake: () => taskQueue(env).notify([]),
  }
}

const whenOf = (schedule: string): ScheduleTime => WhenSchema.parse(JSON.parse(schedule))

// The collection of figures. One run at a time, shorter than the time to the next one.

const JOB = 'screening'
const RUN_MS = 4 * MINUTE_MS
const EVERY_MS = RUN_MS + 30_000
/** The other half of the requests that the platform's smallest plan allows an invocation is for other work. */
const MOST_REQUESTS = 40

async function fill(env: Env, now: number): Promise<void> {
  const { screening, marketData } = config(env)
  const isLive = marketData.some((name) => name !== 'sample')
  if (screening.markets.length === 0 || !isLive) return
  if (!(await isAnybodyScreening(env.DB, now - WANTED_FOR_MS))) return
  if (!(await takeTurn(env.DB, { name: JOB, now, everyMs: EVERY_MS }))) return
  const outcome = JSON.stringify(await fillFigures(await fillDeps(env)))
  await endTurn(env.DB, { name: JOB, endedAt: systemClock(), outcome, nextAt: null })
  log.info('screening.filled', { outcome })
}

async function fillDeps(env: Env): Promise<FillDeps> {
  const settings = config(env)
  const gate = storedGate(gateStore(env.DB), systemClock)
  const pacer = new Pacer(gate, settings.screening.requestsPerMinute)
  const market = await marketDataOf(env, { fetch: pacer.fetch })
  const deadline = AbortSignal.timeout(RUN_MS)
  return {
    db: env.DB,
    markets: settings.screening.markets,
    sources: await closeSources(env, { gate, fetch: pacer.fetch }),
    bars: (instrument, signal) => market.bars(instrument, { count: BAR_COUNT, signal }),
    listings: async () => (await currentNames(stockNameStore(env.DB))).all(),
    turn: () => pacer.turn(deadline),
    clock: systemClock,
    signal: deadline,
  }
}

/** The same number as for reports, so that both can use the same cached answer. */
const BAR_COUNT = 400

/**
 * Limits requests to the operator's number per minute and to the number of a run. Each question waits for a turn that
 * all isolates share; a question that needs several requests (another source, a symbol's venue) uses later turns as
 * well, and is stopped before it exceeds the limit.
 */
export class Pacer {
  readonly #gate: GateKeeper
  readonly #perMinute: number
  readonly #sent: number[] = []
  #owed = 0
  #left = MOST_REQUESTS

  constructor(gate: GateKeeper, perMinute: number) {
    this.#gate = gate
    this.#perMinute = perMinute
  }

  readonly fetch: Fetch = async (input, init) => {
    if (this.#left <= 0 || this.#fullUntil() !== null) {
      throw new UpstreamError({ service: JOB, reason: 'crowded', detail: 'enough was asked in this minute' })
    }
    this.#sent.push(systemClock())
    this.#left -= 1
    this.#owed += 1
    return operatorFetch(input, init)
  }

  /** When this run may send again, if it has used the requests of this minute; otherwise null. */
  #fullUntil(): number | null {
    const now = systemClock()
    while (this.#sent[0] !== undefined && this.#sent[0] <= now - MINUTE_MS) this.#sent.shift()
    const [first] = this.#sent
    return first !== undefined && this.#sent.length >= this.#perMinute ? first + MINUTE_MS : null
  }

  async turn(signal: AbortSignal): Promise<boolean> {
    const intervalMs = Math.ceil(MINUTE_MS / this.#perMinute)
    // The requests that the previous question sent in addition to its own one.
    const turns = 1 + Math.max(0, this.#owed - 1)
    this.#owed = 0
    for (let i = 0; i < turns; i += 1) {
      if (this.#left <= 0 || signal.aborted) return false
      const waitMs = await this.#gate.turn(JOB, intervalMs)
      if (waitMs === null) return false
      if (waitMs > 0) await sleep(waitMs, signal)
    }
    const until = this.#fullUntil()
    if (until !== null) await sleep(Math.max(1, until - systemClock()), signal)
    return !signal.aborted
  }
}

type Listing = { gate: GateKeeper; fetch: Fetch }

/** EastMoney's list contains industries and needs no list from us, so it is asked first if it is configured. */
async function closeSources(env: Env, { gate, fetch }: Listing): Promise<CloseSource[]> {
  const { marketData: providers, variables } = config(env)
  const options = { ...eastMoneyUrls(variables), clock: systemClock, pace: paceOf(gate), fetch }
  const eastMoney: CloseSource = {
    name: 'eastmoney',
    carries: isListed,
    atOnce: null,
    read: async (market, { position }, signal) => {
      const page = Number(position ?? 0) + 1
      const { quotes, rows, isLast } = await listedQuotes(options, { market, page }, { signal })
      return { quotes, asked: rows, position: String(page), isLast }
    },
  }
  const built = await buildProviders({ providers, variables, fetch }, { clock: systemClock, gate })
  return [...(providers.includes('eastmoney') ? [eastMoney] : []), ...built.flatMap(batches)]
}

/** A source that returns several given listings in one answer. */
function batches(provider: MarketDataProvider): CloseSource[] {
  const { quotes, name } = provider
  if (quotes === undefined) return []
  return [
    {
      name,
      carries: (market) => BATCHED.includes(market),
      atOnce: quotes.atOnce,
      read: async (_, { instruments }, signal) => {
        const told = await quotes.ask(instruments, { signal })
        const found = instruments.flatMap((instrument) => {
          const quote = told.get(instrument.key)
          return quote === undefined ? [] : [{ instrument, quote, industry: null }]
        })
        return { quotes: found, asked: instruments.length, position: lastKey(instruments), isLast: false }
      },
    },
  ]
}

/** If the only source that can do this has shares of the market. */
const BATCHED: readonly Market[] = ['cn', 'hk', 'us']

const lastKey = (instruments: readonly Instrument[]): string => instruments.at(-1)?.key ?? ''

/** Returns a line for the log. */
export const pruneScreening = async (db: D1Database, now: number): Promise<string> =>
  `${await pruneScreenings(db, { runs: now - KEEP_RUNS_MS, pages: now - KEEP_PAGES_MS })} runs`

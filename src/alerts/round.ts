// One round: the data that all rules of all owners share while they are checked. Each listing is requested once,
// whoever has rules about it, and each series of bars is read once.

import type { StoredLight } from '../db/alert-triggers.ts'
import { keptBarsOf } from '../db/signals.ts'
import type { Bar, Fetched, Quote } from '../market/bars.ts'
import { lastCompletedSession, previousTradingDay, sessionEnd } from '../market/calendar.ts'
import { type Consistency, type Examined, examinePrices, isInDoubt } from '../market/consistency/examine.ts'
import type { CheckKey } from '../market/consistency/types.ts'
import { type Instrument, type Market, parseCode } from '../market/instruments.ts'
import { BarList } from '../market/providers/answer-cache.ts'
import type { MarketData } from '../market/providers/index.ts'
import type { SeenQuote } from './evaluate.ts'
import { OwnerData } from './targets.ts'
import { type Doubt, doubtOf, sessionNow } from './trust.ts'

export type RoundDeps = {
  db: D1Database
  market: Pick<MarketData, 'quotes' | 'bars' | 'otherQuote'>
  /** Computes the light of a completed session; null when that is not possible now. */
  makeLight: (market: Market, session: string, signal: AbortSignal) => Promise<StoredLight | null>
  lights: (market: Market, session: string) => Promise<StoredLight[]>
}

const BAR_COUNT = 400
const MEAN_OF = 20
/** The figures of a session are final this long after its end. */
export const SETTLE_MS = 10 * 60_000
/** The most series that one round fetches: the rest waits for the next one. */
const MOST_FETCHED = 200

export class Round {
  readonly now: number
  readonly signal: AbortSignal
  readonly deps: RoundDeps
  readonly #owners = new Map<string, OwnerData>()
  readonly #bars = new Map<string, Promise<Fetched<Bar[]> | null>>()
  readonly #quotes = new Map<string, Fetched<Quote>>()
  readonly #examined = new Map<string, Promise<Trusted>>()
  readonly #seen = new Map<string, SeenQuote | Doubt>()
  readonly #lights = new Map<string, Promise<StoredLight[]>>()
  #fetched = 0

  constructor(deps: RoundDeps, now: number, signal: AbortSignal) {
    this.deps = deps
    this.now = now
    this.signal = signal
  }

  owner(name: string): OwnerData {
    const known = this.#owners.get(name) ?? new OwnerData(this.deps.db, name, this.now)
    this.#owners.set(name, known)
    return known
  }

  /** Requests the quotes of those listings that the round has not requested yet. */
  async fetchQuotes(keys: Iterable<string>): Promise<void> {
    const wanted = [...new Set(keys)].filter((key) => !this.#quotes.has(key))
    const instruments = wanted.flatMap((key) => instrumentOf(key) ?? [])
    if (instruments.length === 0) return
    const found = await this.deps.market.quotes(instruments, { signal: this.signal })
    for (const { key } of instruments) this.#quotes.set(key, found.get(key) ?? { ok: false, runs: [] })
  }

  sourceOf(key: string): string | null {
    const fetched = this.#quotes.get(key)
    return fetched?.ok ? fetched.provider : null
  }

  /** The quote as it came, if it is plausible by itself. */
  async seen(key: string, market: Market, needsVolumes: boolean): Promise<SeenQuote | Doubt> {
    const name = needsVolumes ? `${key} volumes` : key
    const known = this.#seen.get(name) ?? (await this.#look(key, market, needsVolumes))
    this.#seen.set(name, known)
    return known
  }

  async #look(key: string, market: Market, needsVolumes: boolean): Promise<SeenQuote | Doubt> {
    const fetched = this.#quotes.get(key)
    const doubt = doubtOf(fetched, { market, kind: instrumentOf(key)?.kind ?? 'stock' }, this.now)
    if (doubt !== null || fetched === undefined || !fetched.ok) return doubt ?? 'no_quote'
    const { quotedAt, price, changePct, volume } = fetched.value
    const session = sessionNow(market, this.now)
    if (session === null || quotedAt === null) return 'other_day'
    const meanVolume = needsVolumes ? await this.#meanVolume(key, market, session.day) : null
    return { price, changePct, volume, at: quotedAt, session, meanVolume }
  }

  /** The quote after all checks of the figures; requested only when the quote would have an effect. */
  trusted(key: string, market: Market): Promise<Trusted> {
    const known = this.#examined.get(key) ?? this.#examine(key, market)
    this.#examined.set(key, known)
    return known
  }

  async #examine(key: string, market: Market): Promise<Trusted> {
    const [quote, instrument] = [this.#quotes.get(key), instrumentOf(key)]
    if (quote === undefined || !quote.ok || instrument === null) return { ok: false, doubt: 'no_quote', checks: [] }
    const bars = (await this.barsUntil(key, lastCompletedSession(market, this.now))) ?? NO_BARS
    const beside = { dividends: null, now: this.now }
    let examined = examinePrices(instrument, { bars, quote }, beside)
    if (isInDoubt(examined.consistency)) {
      const second = await this.deps.market.otherQuote(instrument, [quote.provider], { signal: this.signal })
      examined = examinePrices(instrument, { bars, quote }, { ...beside, second })
    }
    return trustedOf(examined)
  }

  /** Bars up to that session, from any source that has it; cached ones if they are recent enough. */
  barsUntil(key: string, session: string): Promise<Fetched<Bar[]> | null> {
    const name = `${key} ${session}`
    const known = this.#bars.get(name) ?? this.#readBars(key, session)
    this.#bars.set(name, known)
    return known
  }

  async #readBars(key: string, session: string): Promise<Fetched<Bar[]> | null> {
    const instrument = instrumentOf(key)
    if (instrument === null) return null
    const kept = await keptBarsOf(this.deps.db, key)
    const isRecent = (kept?.keptAt ?? 0) >= sessionEnd(instrument.market, session) + SETTLE_MS
    const bars = kept !== null && isRecent ? BarList.safeParse(JSON.parse(kept.body)) : null
    // The source of a cached series does not matter here, only that it is not sample data.
    if (bars?.success) return { ok: true, value: bars.data, provider: 'kept', provenance: null, runs: [] }
    if (this.#fetched >= MOST_FETCHED || this.signal.aborted) return null
    this.#fetched += 1
    return this.deps.market.bars(instrument, { count: BAR_COUNT, signal: this.signal })
  }

  /** The mean of the twenty sessions before that day, all of which must exist. */
  async #meanVolume(key: string, market: Market, day: string): Promise<number | null> {
    const before = previousTradingDay(market, day)
    const fetched = await this.barsUntil(key, before)
    if (fetched === null || !fetched.ok || fetched.provenance !== null) return null
    const bars = fetched.value.filter(({ date }) => date <= before).slice(-MEAN_OF)
    if (bars.length < MEAN_OF || bars.at(-1)?.date !== before) return null
    return bars.reduce((sum, { volume }) => sum + volume, 0) / MEAN_OF
  }

  /** The light of that session and the known one before it. */
  lights(market: Market, session: string): Promise<StoredLight[]> {
    const known = this.#lights.get(market) ?? this.#readLights(market, session)
    this.#lights.set(market, known)
    return known
  }

  async #readLights(market: Market, session: string): Promise<StoredLight[]> {
    const stored = await this.deps.lights(market, session)
    if (stored[0]?.session === session) return stored
    const made = await this.deps.makeLight(market, session, this.signal)
    return made === null ? [] : [made, ...stored]
  }
}

const NO_BARS: Fetched<Bar[]> = { ok: false, runs: [] }

export type Trusted =
  | { ok: true; price: number; changePct: number; marks: CheckKey[] }
  | { ok: false; doubt: Doubt; checks: CheckKey[] }

function trustedOf({ quote, consistency }: Examined): Trusted {
  if (quote === null || consistency.withheld.some((touch) => touch === 'price' || touch === 'change')) {
    return { ok: false, doubt: 'withheld', checks: refusing(consistency) }
  }
  const marks = [...new Set([...(consistency.marks.price ?? []), ...(consistency.marks.change ?? [])])]
  return { ok: true, price: quote.price, changePct: quote.changePct, marks }
}

/** The checks that failed, or that left out the data of the rule. */
export const refusing = ({ findings }: Consistency): CheckKey[] => {
  const of = (verdict: string) => findings.filter((one) => one.verdict === verdict).map(({ check }) => check)
  return [...new Set(of('fail').length > 0 ? of('fail') : of('warn'))]
}

export function instrumentOf(key: string): Instrument | null {
  const parsed = parseCode(key)
  return parsed.ok ? parsed.instrument : null
}

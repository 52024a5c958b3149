// The prices of all mainland stocks, page by page, from the two services that list them. Sina is asked first, because
// the other one blocks clients with many requests.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { requestJson, UpstreamError } from '../../lib/http-client.ts'
import { type ProviderRun, providerRun } from '../../market/bars.ts'
import { faulty } from '../../market/providers/checks.ts'
import { ask, SERVICE as EASTMONEY, Figure } from '../../market/providers/eastmoney-http.ts'
import { type GateKeeper, outcomeOf, paceOf } from '../../market/providers/gate.ts'
import type { SourceOptions } from '../../market/providers/index.ts'
import { eastMoneyUrls, sinaUrls } from '../../market/providers/registry.ts'
import type { Breadth } from './facts.ts'

export type ListingDeps = {
  options: SourceOptions
  gate: GateKeeper
  clock: Clock
  /** The pause between two pages. */
  pauseMs?: number
}

export type Listed = { prices: ListedPrice[] | null; runs: ProviderRun[] }

const PAGE_SIZE = 100
const MOST_PAGES = 100
/** Fewer stocks mean an incomplete list. */
const FEWEST = 3_000
const PAUSE_MS = 300
const SINA = 'sina'

type Lister = (deps: ListingDeps, signal: AbortSignal) => Promise<ListedPrice[]>

const LISTERS: readonly (readonly [string, Lister])[] = [
  [SINA, sinaPrices],
  [EASTMONEY, eastMoneyPrices],
]

/** From the first configured service that has them; null when none has. */
export async function listedPrices(deps: ListingDeps, signal: AbortSignal): Promise<Listed> {
  const runs: ProviderRun[] = []
  for (const [provider, list] of LISTERS) {
    if (!deps.options.providers.some((name) => name === provider)) continue
    const { prices, run } = await attempt(provider, list, { deps, signal })
    const before = runs.at(-1)
    runs.push({ ...run, fallbackFrom: before?.provider ?? null })
    if (before !== undefined) before.fallbackTo = provider
    if (prices !== null) return { prices, runs }
  }
  return { prices: null, runs }
}

type Attempt = { deps: ListingDeps; signal: AbortSignal }

async function attempt(provider: string, list: Lister, { deps, signal }: Attempt) {
  const { clock, gate } = deps
  const startedAt = clock()
  const of = { dataType: 'daily_data', provider, operation: 'market_breadth' } as const
  const run = (outcome: Partial<ProviderRun>) =>
    providerRun(of, startedAt, { latencyMs: clock() - startedAt, recordCount: null, ...outcome })
  const circuit = `${provider}:breadth` as const
  const openUntil = await gate.openUntil(circuit)
  if (openUntil !== null) return { prices: null, run: run({ errorType: 'circuit_open', errorMessage: 'circuit_open' }) }
  try {
    const prices = await list(deps, signal)
    await gate.settle(circuit, 'answered')
    return { prices, run: run({ success: true, recordCount: prices.length }) }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof UpstreamError)) throw error
    const outcome = outcomeOf(error)
    if (outcome !== null) await gate.settle(circuit, outcome)
    return { prices: null, run: run({ errorType: error.reason, errorMessage: error.message }) }
  }
}

function whole(service: string, prices: ListedPrice[]): ListedPrice[] {
  if (prices.length < FEWEST) throw faulty(service, 'malformed', `a list of ${prices.length} stocks`)
  return prices
}

const SinaPage = z.array(
  z.object({
    code: z.string(),
    name: z.string(),
    trade: z.coerce.number(),
    settlement: z.coerce.number(),
    amount: z.coerce.number(),
  }),
)

async function sinaPrices({ options, pauseMs = PAUSE_MS }: ListingDeps, signal: AbortSignal): Promise<ListedPrice[]> {
  const prices: ListedPrice[] = []
  const base = `${sinaUrls(options.variables ?? {}).klineUrl}/cn/api/json_v2.php/Market_Center.getHQNodeData`
  for (let page = 1; page <= MOST_PAGES; page++) {
    const url = `${base}?page=${page}&num=${PAGE_SIZE}&sort=symbol&asc=1&node=hs_a`
    const answer = await requestJson(url, {
      service: SINA,
      headers: { referer: 'https://finance.sina.com.cn' },
      signal,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    })
    const parsed = SinaPage.safeParse(answer)
    if (!parsed.success) throw faulty(SINA, 'malformed', `page ${page} of the list`)
    prices.push(
      ...parsed.data.map(({ code, name, trade, settlement, amount }) => {
        return { code, name, price: trade, prevClose: settlement, amount }
      }),
    )
    if (parsed.data.length < PAGE_SIZE) return whole(SINA, prices)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  throw faulty(SINA, 'malformed', 'a list without an end')
}

const EastMoneyPage = z.object({
  data: z
    .object({
      total: z.number(),
      diff: z.array(z.object({ f2: Figure, f6: Figure, f12: z.string(), f14: z.string(), f18: Figure })),
    })
    .nullish(),
})

const MAINLAND = 'm:0+t:6,m:0+t:80,m:1+t:2,m:1+t:23,m:0+t:81+s:2048'

async function eastMoneyPrices({ options, gate, clock }: ListingDeps, signal: AbortSignal): Promise<ListedPrice[]> {
  const prices: ListedPrice[] = []
  const urls = eastMoneyUrls(options.variables ?? {})
  const asking = {
    ...urls,
    clock,
    pace: paceOf(gate),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  }
  for (let page = 1; page <= MOST_PAGES; page++) {
    const order = `fid=f12&po=0&pn=${page}&pz=${PAGE_SIZE}&np=1&fltt=2&invt=2`
    const url = `${urls.quoteUrl}/api/qt/clist/get?${order}&fs=${MAINLAND}&fields=f2,f6,f12,f14,f18`
    const { data } = await ask(asking, url, { schema: EastMoneyPage, query: { signal } })
    if (!data) throw faulty(EASTMONEY, 'empty', `page ${page} of the list`)
    prices.push(
      ...data.diff.map(({ f2, f6, f12, f14, f18 }) => {
        return { code: f12, name: f14, price: f2 ?? 0, prevClose: f18 ?? 0, amount: f6 ?? 0 }
      }),
    )
    if (prices.length >= data.total || data.diff.length === 0) return whole(EASTMONEY, prices)
  }
  throw faulty(EASTMONEY, 'malformed', 'a list without an end')
}

// How many stocks rose, fell, or were at the upper or lower price limit, counted in the list of all of them.

/** One listed stock at the end of its day. */
export type ListedPrice = { code: string; name: string; price: number; prevClose: number; amount: number }

/** The exchange's limit of a day's move, as a fraction. */
function limitOf({ code, name }: ListedPrice, ofWarned: number): number {
  if (/^(4|8|92)/.test(code)) return 0.3
  if (/^(30|68)/.test(code)) return 0.2
  return isWarned(name) ? ofWarned : MAIN_BOARD
}

const MAIN_BOARD = 0.1
const NARROW = 0.05
/** A few stocks have no limit on a day, for example on the first one after a restructuring. */
const MOST_EXCEPTIONS = 2

const isWarned = (name: string): boolean => /ST/i.test(name)

/**
 * The limit for risk-warned shares of the main board: 5 % or the board's own. No source says from which day which of
 * them applies, but a day's list shows it: while the narrow limit applies, no such share moves further.
 */
function limitOfWarned(prices: readonly ListedPrice[]): number {
  const further = prices.filter(({ code, name, price, prevClose, amount }) => {
    if (!isWarned(name) || /^(4|8|92|30|68)/.test(code) || !(price > 0 && prevClose > 0 && amount > 0)) return false
    return price > toCent(prevClose * (1 + NARROW)) || price < toCent(prevClose * (1 - NARROW))
  })
  return further.length > MOST_EXCEPTIONS ? MAIN_BOARD : NARROW
}

/** Rounded half up to the cent, as the exchanges do; the small addition compensates binary fractions. */
const toCent = (value: number): number => Math.floor(value * 100 + 0.5 + 1e-6) / 100

/** Suspended and untraded stocks are not counted. `unit` is the size of one unit of turnover in the currency. */
export function countBreadth(prices: readonly ListedPrice[], unit: number): Breadth {
  const ofWarned = limitOfWarned(prices)
  const breadth = { up: 0, down: 0, flat: 0, limitUp: 0, limitDown: 0, totalAmount: 0 }
  for (const listed of prices) {
    const { price, prevClose, amount } = listed
    if (!(price > 0 && prevClose > 0 && amount > 0)) continue
    if (price > prevClose) breadth.up += 1
    else if (price < prevClose) breadth.down += 1
    else breadth.flat += 1
    const limit = limitOf(listed, ofWarned)
    if (price === toCent(prevClose * (1 + limit))) breadth.limitUp += 1
    else if (price === toCent(prevClose * (1 - limit))) breadth.limitDown += 1
    breadth.totalAmount += amount / unit
  }
  return { ...breadth, totalAmount: Math.round(breadth.totalAmount * 100) / 100 }
}

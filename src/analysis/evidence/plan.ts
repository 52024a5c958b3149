// The plan of a report, carried out: bought at the next open unless that is above the highest price of the plan; sold
// at its stop, its target, on advice to sell, or when the time is over.

import type { Bar } from '../../market/bars.ts'
import { addDays, isTradingDay } from '../../market/calendar.ts'
import { limitShare, priceStep } from '../../market/consistency/limits.ts'
import { netReturn } from '../../market/costs.ts'
import { columns, indicatorSeries } from '../../market/indicators/index.ts'
import type { Instrument, Market } from '../../market/instruments.ts'
import { costsOf, strategyLevels, tradePlan } from '../judge/levels.ts'
import { technicalAt } from '../judge/signals.ts'
import { priceDecimals } from '../texts/format.ts'
import type { Judged } from './replay.ts'
import { STANCES } from './vocabulary.ts'

const PLAN_SESSIONS = 20

export type ExitReason = 'stop' | 'target' | 'advice' | 'time'

export type PlanTrade = {
  /** The bar at whose close the advice was given. */
  signal: number
  entry: number
  exit: number
  reason: ExitReason
  /** After costs, as a fraction. */
  net: number
}

export type Plan = {
  trades: PlanTrade[]
  /** Advice that could not be sold at the open: at the price limit, or suspended. */
  unfilled: number
  /** Advice whose open was below the plan's stop or above its highest buying price. */
  void: number
  /** Positions that could not be sold before the end of the series. */
  unfinished: number
}

const [BUY, SELL] = [STANCES.indexOf('buy'), STANCES.indexOf('sell')]

export function planTrades(tape: Tape, judged: Judged): Plan {
  const plan: Plan = { trades: [], unfilled: 0, void: 0, unfinished: 0 }
  const levelsAt = plansOf(tape)
  // Later advice could not be followed to the end in every case: counting only the finished ones would prefer quick
  // results.
  const last = tape.bars.length - 2 - PLAN_SESSIONS
  for (let day = 0; day <= last; day++) {
    if (judged.stances[day] !== BUY) continue
    if (tape.buyable[day + 1] !== 1) {
      plan.unfilled += 1
      continue
    }
    const levels = levelsAt(day)
    const open = tape.bars[day + 1]?.open ?? 0
    if (levels === null || open <= levels.stop || open > levels.mostEntry) {
      plan.void += 1
      continue
    }
    const exit = exitOf(tape, judged, { entry: day + 1, stop: levels.stop, target: levels.target })
    if (exit === null) {
      plan.unfinished += 1
      break
    }
    plan.trades.push({
      signal: day,
      entry: day + 1,
      exit: exit.at,
      reason: exit.reason,
      net: netOf(tape, day + 1, exit),
    })
    day = exit.at - 1
  }
  return plan
}

type Levels = { stop: number; target: number; mostEntry: number }

/** The plan in the report of each day. */
function plansOf({ instrument, bars }: Tape): (day: number) => Levels | null {
  const table = columns(bars)
  const whole = { series: indicatorSeries(table), closes: table.close, bars }
  return (day) => {
    const [technical, { close: price = 0, date = '' } = {}] = [technicalAt(whole, day), bars[day]]
    const decimals = priceDecimals(instrument, price)
    return tradePlan(strategyLevels(technical, price, decimals), costsOf(instrument, date), decimals)
  }
}

type Exit = { at: number; price: number; reason: ExitReason }
type Position = { entry: number; stop: number; target: number }

function exitOf(tape: Tape, { stances }: Judged, position: Position): Exit | null {
  const { bars, instrument } = tape
  let due: ExitReason | null = null
  for (let at = position.entry; at < bars.length; at++) {
    const bar = bars[at]
    if (bar === undefined || tape.idle[at] === 1) continue
    const isFree = at > position.entry || instrument.market !== 'cn'
    if (at - position.entry >= PLAN_SESSIONS) due ??= 'time'
    if (due !== null && at > position.entry && tape.sellable[at] === 1) return { at, price: bar.open, reason: due }
    // Shares bought in mainland China can be sold on the next session at the earliest.
    const hit = isFree ? hitOf(tape, at, position) : null
    if (hit !== null) return hit
    if (stances[at] === SELL) due ??= 'advice'
  }
  return null
}

/** The stop or the target in that session. If a bar contains both, the stop is assumed, because the order is unknown. */
function hitOf({ bars, sellable }: Tape, at: number, { entry, stop, target }: Position): Exit | null {
  const bar = bars[at] as Bar
  const isOpenToSell = sellable[at] === 1
  // A bar that never left its limit filled no order to sell.
  if (!isOpenToSell && bar.high <= bar.open) return null
  const isLater = at > entry
  if (bar.low <= stop) {
    const price = isLater && isOpenToSell ? Math.min(bar.open, stop) : Math.min(stop, bar.high)
    return { at, price, reason: 'stop' }
  }
  return bar.high >= target ? { at, price: isLater ? Math.max(bar.open, target) : target, reason: 'target' } : null
}

function netOf({ bars, instrument }: Tape, entry: number, { at, price }: Exit): number {
  const [from, to] = [bars[entry], bars[at]]
  return netReturn(instrument, {
    bought: { price: from?.open ?? price, date: from?.date ?? '' },
    sold: { price, date: to?.date ?? '' },
  })
}

// What the market would have allowed: whether an order at the open of a session was filled.

/** A series with the orders that were possible at each open. */
export type Tape = {
  instrument: Instrument
  bars: readonly Bar[]
  /** 1: an order to buy, placed the evening before, is filled at the open. */
  buyable: Uint8Array
  /** 1: an order to sell is filled at the open. */
  sellable: Uint8Array
  /** 1: the session had no trades. */
  idle: Uint8Array
}

export function tapeOf(instrument: Instrument, bars: readonly Bar[]): Tape {
  const size = bars.length
  const tape: Tape = {
    instrument,
    bars,
    buyable: new Uint8Array(size),
    sellable: new Uint8Array(size),
    idle: new Uint8Array(size),
  }
  const hasVolumes = bars.some(({ volume }) => volume > 0)
  for (let i = 1; i < size; i++) {
    const [bar, before] = [bars[i], bars[i - 1]]
    if (bar === undefined || before === undefined) continue
    if (hasVolumes && bar.volume === 0 && bar.high === bar.low) {
      tape.idle[i] = 1
      continue
    }
    const room = roomOf(instrument, bar, before)
    // An evening order is valid only for the next session: a suspension cancels it.
    const isNext = bar.date <= nextSession(instrument.market, before.date)
    tape.buyable[i] = isNext && bar.open < room.top ? 1 : 0
    tape.sellable[i] = bar.open > room.bottom ? 1 : 0
  }
  return tape
}

/** The range of prices in which an open is not at the exchange's limit. */
function roomOf(instrument: Instrument, bar: Bar, { close }: Bar): { top: number; bottom: number } {
  const { market, kind } = instrument
  if (market === 'us' || market === 'hk' || kind === 'index') return { top: Number.POSITIVE_INFINITY, bottom: 0 }
  const share = limitShare({ instrument, date: bar.date, previousClose: close, isAdjusted: true, name: null })
  if (share === null) return { top: Number.POSITIVE_INFINITY, bottom: 0 }
  // Limits are rounded to the exchange's price steps, adjusted prices are not.
  const slack = priceStep(instrument, close)
  return { top: close * (1 + share) - slack, bottom: close * (1 - share) + slack }
}

const NEXT = new Map<string, string>()
const MOST_KNOWN = 50_000

function nextSession(market: Market, date: string): string {
  const key = `${market}${date}`
  const known = NEXT.get(key)
  if (known !== undefined) return known
  let day = addDays(date, 1)
  while (!isTradingDay(market, day)) day = addDays(day, 1)
  if (NEXT.size >= MOST_KNOWN) NEXT.clear()
  NEXT.set(key, day)
  return day
}

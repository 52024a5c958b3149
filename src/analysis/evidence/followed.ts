// The result of one advice over a number of later sessions. It is carried out at the open of the next session, as in
// the replay of the method: the close from which a report was made is past when the report is read.

import type { Bar } from '../../market/bars.ts'
import { lastCompletedSession, nextTradingDay } from '../../market/calendar.ts'
import { netReturn } from '../../market/costs.ts'
import type { Instrument, Market } from '../../market/instruments.ts'
import type { Action } from '../schemas.ts'
import { eligible } from './observations.ts'
import { type Tape, tapeOf } from './plan.ts'

/** `stop` and `target` use the price scale of the report. */
export type GivenAdvice = {
  action: Action
  /** The last session that had begun when the advice was given. */
  anchor: string
  price: number | null
  stop: number | null
  target: number | null
  /** Why it can never be measured. */
  unscorable: string | null
}

/** A listing's bars, the bars of its index by day, and the newest session with complete data. */
export type Followable = { tape: Tape; index: ReadonlyMap<string, Bar>; through: string }

/**
 * Why an advice was not measured: there are no stored bars, they failed a check, they do not cover the period, or
 * nobody could buy.
 */
const NOT_FOLLOWED = ['no_bars', 'bad_bars', 'bars_gone', 'too_young', 'not_traded'] as const
export type NotFollowed = (typeof NOT_FOLLOWED)[number]

export type Exit = 'stop_loss' | 'take_profit' | 'window_end'

/** Returns in percent. */
export type Followed = {
  from: string
  to: string
  startPrice: number
  endClose: number
  maxHigh: number
  minLow: number
  /** From the open to the last close, before costs. */
  returnPct: number
  /** The same for the index of the market; null when its bars are not stored. */
  indexPct: number | null
  /** The return of buying and holding the listing over as many sessions, after costs. */
  heldPct: number | null
  /** How often the listing rose and fell by the band or more over as many sessions, on any day; shares. */
  anyDay: AnyDay
  /**
   * The trade of a purchase that is sold at its stop, its target or the end, after costs; null for other advice and
   * when nobody could buy.
   */
  trade: Trade | null
}

export type AnyDay = { rose: number; fell: number }

type Trade = {
  netPct: number
  costPct: number
  exit: Exit
  exitPrice: number
  date: string
  sessions: number
  hitStop: boolean | null
  hitTarget: boolean | null
  /** One bar contained both levels: the stop is assumed, because the order is unknown. */
  isAmbiguous: boolean
}

export type FollowedAdvice = { ok: true; followed: Followed } | { ok: false; reason: string }

/** `daily` and `anyDay`: the results of `dailyHeld` and `movesOfAnyDay` for the listing. */
type Following = { sessions: number; daily: number | null; anyDay: AnyDay }

/** Without bars, the reason is passed instead. */
export function followedAdvice(
  advice: GivenAdvice,
  market: Followable | string,
  { sessions, daily, anyDay }: Following,
): FollowedAdvice {
  if (advice.unscorable !== null) return { ok: false, reason: advice.unscorable }
  if (typeof market === 'string') return { ok: false, reason: market }
  const { tape, through } = market
  const { bars, instrument } = tape
  if ((bars[0]?.date ?? '') > advice.anchor) return { ok: false, reason: 'bars_gone' }
  const at = bars.findIndex(({ date }) => date > advice.anchor)
  const [first, last] = [bars[at], bars[at + sessions - 1]]
  if (at < 0 || first === undefined) return { ok: false, reason: 'too_young' }
  // An order is valid only for the next session: a suspension cancels it.
  if (first.date !== nextTradingDay(instrument.market, advice.anchor) || tape.idle[at] === 1) {
    return { ok: false, reason: 'not_traded' }
  }
  if (last === undefined || last.date > through) return { ok: false, reason: 'too_young' }
  const window = bars.slice(at, at + sessions)
  return {
    ok: true,
    followed: {
      ...{ from: first.date, to: last.date, startPrice: first.open, endClose: last.close },
      maxHigh: Math.max(...window.map(({ high }) => high)),
      minLow: Math.min(...window.map(({ low }) => low)),
      returnPct: (last.close / first.open - 1) * 100,
      indexPct: indexReturn(market, first.date, last.date),
      heldPct: daily === null ? null : Math.expm1(daily * sessions) * 100,
      anyDay,
      trade: isPurchase(advice.action) ? tradeOf(advice, tape, { at, sessions }) : null,
    },
  }
}

export const isPurchase = (action: Action): boolean => action === 'buy' || action === 'add'

function indexReturn({ index }: Followable, from: string, to: string): number | null {
  const [first, last] = [index.get(from), index.get(to)]
  return first === undefined || last === undefined || first.open <= 0 ? null : (last.close / first.open - 1) * 100
}

type Window = { at: number; sessions: number }

function tradeOf(advice: GivenAdvice, tape: Tape, { at, sessions }: Window): Trade | null {
  const { bars, instrument } = tape
  const entry = bars[at]
  if (entry === undefined || tape.buyable[at] !== 1) return null
  const scale = scaleOf(advice, bars, at)
  const stop = scale === null || advice.stop === null ? null : advice.stop * scale
  const target = scale === null || advice.target === null ? null : advice.target * scale
  // A plan with a stop above the open is void, because it would sell at once.
  if (stop !== null && entry.open <= stop) return null
  const exit = exitOf(tape, { at, sessions, stop, target })
  const bought = { price: entry.open, date: entry.date }
  const sold = { price: exit.price, date: bars[exit.at]?.date ?? entry.date }
  const net = netReturn(instrument, { bought, sold })
  return {
    netPct: net * 100,
    costPct: (exit.price / entry.open - 1 - net) * 100,
    ...{ exit: exit.reason, exitPrice: exit.price, date: sold.date, sessions: exit.at - at + 1 },
    hitStop: stop === null ? null : exit.reason === 'stop_loss',
    hitTarget: target === null ? null : exit.reason === 'take_profit',
    isAmbiguous: exit.isAmbiguous,
  }
}

/**
 * Prices are adjusted backwards, so a level may have another scale than today's bars. If the report's price is within
 * its bar, the scale is the same; else the bar's close corresponds to that price.
 */
function scaleOf({ price }: GivenAdvice, bars: readonly Bar[], at: number): number | null {
  const session = bars[at - 1]
  if (price === null || price <= 0 || session === undefined) return null
  const isWithin = price >= session.low * 0.99 && price <= session.high * 1.01
  return isWithin ? 1 : session.close / price
}

type Position = Window & { stop: number | null; target: number | null }
type PositionExit = { at: number; price: number; reason: Exit; isAmbiguous: boolean }

function exitOf({ bars, instrument, idle, sellable }: Tape, { at, sessions, stop, target }: Position): PositionExit {
  for (let day = at; day < at + sessions; day++) {
    const bar = bars[day]
    // Shares bought in mainland China can be sold on the next session at the earliest; at the lower price limit there
    // are no buyers.
    if (bar === undefined || idle[day] === 1 || (day === at && instrument.market === 'cn')) continue
    const isLater = day > at
    if (isLater && sellable[day] !== 1 && bar.high <= bar.open) continue
    const [isStop, isTarget] = [stop !== null && bar.low <= stop, target !== null && bar.high >= target]
    const isAmbiguous = isStop && isTarget
    if (isStop && stop !== null) {
      return { at: day, price: isLater ? Math.min(bar.open, stop) : stop, reason: 'stop_loss', isAmbiguous }
    }
    if (isTarget && target !== null) {
      return { at: day, price: isLater ? Math.max(bar.open, target) : target, reason: 'take_profit', isAmbiguous }
    }
  }
  const end = at + sessions - 1
  return { at: end, price: bars[end]?.close ?? 0, reason: 'window_end', isAmbiguous: false }
}

/**
 * The mean return per session of buying at the open after `anchor` and holding to the newest close, after the costs of
 * one trade, as a logarithm; null when it is unknown.
 */
export function dailyHeld({ tape: { bars, instrument }, through }: Followable, anchor: string): number | null {
  const at = bars.findIndex(({ date }) => date > anchor)
  const end = bars.findLastIndex(({ date }) => date <= through)
  const [first, last] = [bars[at], bars[end]]
  if (at < 0 || end < at || first === undefined || last === undefined) return null
  const [bought, sold] = [
    { price: first.open, date: first.date },
    { price: last.close, date: last.date },
  ]
  return Math.log1p(netReturn(instrument, { bought, sold })) / (end - at + 1)
}

/** A smaller move counts as none. */
export const BAND_PCT = 2

/** The result of any advice: the same rule from every open of the stored bars. */
export function movesOfAnyDay({ tape: { bars }, through }: Followable, sessions: number): AnyDay {
  let [rose, fell, count] = [0, 0, 0]
  for (let at = 0; at + sessions <= bars.length; at++) {
    const [first, last] = [bars[at], bars[at + sessions - 1]]
    if (first === undefined || last === undefined || last.date > through) break
    const moved = (last.close / first.open - 1) * 100
    if (moved >= BAND_PCT) rose += 1
    if (moved <= -BAND_PCT) fell += 1
    count += 1
  }
  return count === 0 ? { rose: 0, fell: 0 } : { rose: rose / count, fell: fell / count }
}

/** The figures of a session are final this long after its end. */
const SETTLE_MS = 10 * 60_000

type StoredBars = { bars: readonly Bar[]; keptAt: number }

/**
 * The stored bars of a listing if they pass the checks of a report; a session that was still running when they were
 * fetched is left out.
 */
export function followable(
  instrument: Instrument,
  kept: StoredBars,
  { index, now }: { index: StoredBars | null; now: number },
): Followable | 'bad_bars' {
  const found = eligible(kept.bars, { name: instrument.key, isSample: false, now })
  if (!found.ok) return 'bad_bars'
  const through = lastCompletedSession(instrument.market, Math.min(now, kept.keptAt - SETTLE_MS))
  const ofIndex = index === null ? [] : wholeSessions(instrument.market, index, now)
  return {
    tape: tapeOf(instrument, found.series.bars),
    index: new Map(ofIndex.map((bar) => [bar.date, bar])),
    through,
  }
}

function wholeSessions(market: Market, { bars, keptAt }: StoredBars, now: number): readonly Bar[] {
  const through = lastCompletedSession(market, Math.min(now, keptAt - SETTLE_MS))
  return bars.filter(({ date }) => date <= through)
}

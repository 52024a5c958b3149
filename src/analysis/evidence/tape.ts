// What a market would have let somebody trade: whether an order at the open of a session was filled.

import type { Bar } from '../../market/bars.ts'
import { isTradingDay } from '../../market/calendar.ts'
import { limitShare, priceStep } from '../../market/consistency/limits.ts'
import type { Instrument, Market } from '../../market/instruments.ts'
import { addDays } from '../../market/zoned-time.ts'

/** A series with what could be done at each of its opens. */
export type Tape = {
  instrument: Instrument
  bars: readonly Bar[]
  /** 1: an order to buy of the evening before is filled at the open. */
  buyable: Uint8Array
  /** 1: an order to sell is. */
  sellable: Uint8Array
  /** 1: the bar is of a session without a trade. */
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
    // An order of the evening is for the next session alone: after a suspension it is gone.
    const isNext = bar.date <= nextSession(instrument.market, before.date)
    tape.buyable[i] = isNext && bar.open < room.top ? 1 : 0
    tape.sellable[i] = bar.open > room.bottom ? 1 : 0
  }
  return tape
}

/** Between which prices an open is not at the exchange's limit. */
function roomOf(instrument: Instrument, bar: Bar, { close }: Bar): { top: number; bottom: number } {
  const { market, kind } = instrument
  if (market === 'us' || market === 'hk' || kind === 'index') return { top: Number.POSITIVE_INFINITY, bottom: 0 }
  const share = limitShare({ instrument, date: bar.date, previousClose: close, isAdjusted: true, name: null })
  if (share === null) return { top: Number.POSITIVE_INFINITY, bottom: 0 }
  // Limits are rounded to the exchange's steps, and adjusted prices to others.
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

// The costs of a trade, as a fraction of its amount, by market, side and date. Taxes and fees are those of the law of
// the day; commission and half of the spread are assumptions for an ordinary small order. `docs/analysis-method.md` has
// the table with its sources.

import type { Instrument, Market } from './instruments.ts'

export type Side = 'buy' | 'sell'

type Rate = { since: string; buy: number; sell: number }

/** Taxes and fees of state and exchange, newest first; `funds` is the fraction of them that funds pay. */
type Duty = { funds: number; rates: readonly Rate[] }

const EVER = '0000-00-00'

const DUTIES: Record<Market, Duty> = {
  cn: {
    funds: 0,
    rates: [
      { since: '2023-08-28', buy: 0.00001, sell: 0.00051 },
      { since: '2022-04-29', buy: 0.00001, sell: 0.00101 },
      { since: EVER, buy: 0.00002, sell: 0.00102 },
    ],
  },
  hk: {
    funds: 0,
    rates: [
      { since: '2023-11-17', buy: 0.00108, sell: 0.00108 },
      { since: '2021-08-01', buy: 0.00138, sell: 0.00138 },
      { since: EVER, buy: 0.00108, sell: 0.00108 },
    ],
  },
  us: { funds: 1, rates: [{ since: EVER, buy: 0, sell: 0.00003 }] },
  jp: { funds: 1, rates: [{ since: EVER, buy: 0, sell: 0 }] },
  kr: {
    funds: 0,
    rates: [
      { since: '2026-01-01', buy: 0, sell: 0.002 },
      { since: '2025-01-01', buy: 0, sell: 0.0015 },
      { since: '2024-01-01', buy: 0, sell: 0.0018 },
      { since: '2023-01-01', buy: 0, sell: 0.002 },
      { since: EVER, buy: 0, sell: 0.0023 },
    ],
  },
  tw: { funds: 1 / 3, rates: [{ since: EVER, buy: 0, sell: 0.003 }] },
}

/** Of an online broker, each way. */
const COMMISSION: Record<Market, number> = {
  cn: 0.00025,
  hk: 0.0005,
  us: 0.0001,
  jp: 0.0005,
  kr: 0.00015,
  tw: 0.0006,
}

/** Half of the distance between bid and offer, each way. */
const HALF_SPREAD: Record<Market, number> = {
  cn: 0.0005,
  hk: 0.001,
  us: 0.0003,
  jp: 0.0005,
  kr: 0.0007,
  tw: 0.001,
}

/** The cost of one side of a trade, as a fraction of its amount. */
export function costShare({ market, kind }: Pick<Instrument, 'market' | 'kind'>, side: Side, date: string): number {
  const { funds, rates } = DUTIES[market]
  const duty = rates.find(({ since }) => date >= since)?.[side] ?? 0
  return duty * (kind === 'stock' ? 1 : funds) + COMMISSION[market] + HALF_SPREAD[market]
}

/** The return of a trade after its costs, as a fraction. */
export function netReturn(instrument: Pick<Instrument, 'market' | 'kind'>, { bought, sold }: Trade): number {
  const paid = bought.price * (1 + costShare(instrument, 'buy', bought.date))
  const got = sold.price * (1 - costShare(instrument, 'sell', sold.date))
  return got / paid - 1
}

type Fill = { price: number; date: string }
type Trade = { bought: Fill; sold: Fill }

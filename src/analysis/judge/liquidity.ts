// How long a position takes to sell without being more than a stated share of what is traded. Nothing is known of the reader's own
// position, so one of a stated size is told, and what can be sold in one session.

import type { LiquidityStatus } from '../codes.ts'
import type { Inputs } from '../gather/gather.ts'
import { wholeSessions } from './market-comparison.ts'

export type Liquidity = {
  status: LiquidityStatus
  /** Of a session, in the listing's money. */
  averageTurnover: number | null
  /** The amount that is to be sold. */
  position: number | null
  currency: string
  sessionsToSell: number | null
  mostASession: number | null
}

/** Of the volume of a session, in percent: more of it moves the price. */
export const PARTICIPATION_PCT = 10
const AVERAGED = 20

/** The position that is told, about the same everywhere. */
const POSITION: Readonly<Record<string, number>> = {
  CNY: 1_000_000,
  HKD: 1_000_000,
  USD: 150_000,
  JPY: 20_000_000,
  KRW: 200_000_000,
  TWD: 5_000_000,
}

type Subject = Pick<Inputs, 'instrument' | 'bars' | 'partial' | 'lastVolumeKnown' | 'consistency'> & {
  priceCurrency: string
}

export function liquidityOf(subject: Subject): Liquidity {
  const { instrument, consistency, priceCurrency: currency } = subject
  const position = Object.hasOwn(POSITION, currency) ? (POSITION[currency] ?? null) : null
  const without = (status: LiquidityStatus): Liquidity => {
    return { ...{ status, position, currency }, averageTurnover: null, sessionsToSell: null, mostASession: null }
  }
  if (instrument.kind === 'index') return without('is_index')
  if (consistency.isBlocked || consistency.withheld.includes('volume')) return without('withheld')
  // A last bar from a quote that told no volume counts as little as one of a session that still runs.
  const whole = wholeSessions({ ...subject, partial: subject.partial || !subject.lastVolumeKnown })
  const recent = whole.slice(-AVERAGED)
  if (recent.length < AVERAGED) return without('too_few')
  const averageTurnover = recent.reduce((sum, { close, volume }) => sum + close * volume, 0) / AVERAGED
  if (!(averageTurnover > 0)) return without('no_volume')
  const mostASession = (averageTurnover * PARTICIPATION_PCT) / 100
  if (position === null) return { ...without('other_money'), averageTurnover, mostASession }
  return { status: 'told', averageTurnover, position, currency, mostASession, sessionsToSell: position / mostASession }
}

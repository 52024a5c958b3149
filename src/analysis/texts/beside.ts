// The shape of the texts about the listing beside its market: index, liquidity, dates, peers; `texts.ts` has the rest of the book's.

import type { NoSameTimeReason } from '../../market/day-volumes.ts'
import type { ComparisonStatus, LiquidityStatus, PeersStatus } from '../codes.ts'

export type BesideTexts = {
  label: Record<'comparison' | 'liquidity' | 'dates' | 'peers', string>
  comparison: Record<Exclude<ComparisonStatus, 'told'>, string> & {
    /** `{index}`, `{date}`, `{beta}`, `{strength}`. */
    told: string
    /** `{beta}`, `{fit}`, `{count}`. */
    beta: string
    noBeta: string
    /** `{mark}`: of checks of the index's bars. */
    ofIndex: string
  }
  liquidity: Record<Exclude<LiquidityStatus, 'told'>, string> & {
    /** `{position}`, `{time}`, `{share}`, `{most}`. */
    told: string
    /** `{count}`. */
    sessions: string
    lessThanOne: string
  }
  dates: {
    /** `{date}`. */
    resultsFor: string
    resultsTold: string
    noResults: string
    /** No source tells a day on which results will be told. */
    noNextResults: string
    /** `{date}`. */
    lastExDividend: string
    nextExDividend: string
    noNextExDividend: string
    sample: string
    notCompany: string
  }
  peers: Record<Exclude<PeersStatus, 'ok'>, string> & {
    /** `{board}`, `{count}`, `{pe}`, `{ownPe}`, `{pb}`, `{ownPb}`. */
    told: string
    /** `{losses}`: how many of them have a loss; said where some have. */
    losses: string
    notCompany: string
  }
  /** While a session runs: why there is no volume ratio. */
  noLiveRatio: string
  /** The same where a source tells volumes within the day. `{reason}` is one of the reasons below. */
  unusableLiveRatio: string
  liveRatioReason: Record<NoSameTimeReason, string>
  /** What the ratio of a session that runs compares. `{time}`, `{source}`. */
  liveRatioBasis: string
  join: string
}

// The shape of the texts that compare the listing with its market: index, liquidity, dates, peers; `texts.ts` has the
// other texts.

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
    /** No source has the day of the next results. */
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
    /** `{losses}`: the number of companies with a loss; used if there are any. */
    losses: string
    notCompany: string
  }
  /** While a session runs: why there is no volume ratio. */
  noLiveRatio: string
  /** The same when a source has intraday volumes. `{reason}` is one of the reasons below. */
  unusableLiveRatio: string
  liveRatioReason: Record<NoSameTimeReason, string>
  /** What the ratio of a running session compares. `{time}`, `{source}`. */
  liveRatioBasis: string
  join: string
}

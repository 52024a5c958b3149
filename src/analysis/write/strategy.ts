import type { Consistency } from '../../market/consistency/examine.ts'
import type { Adjustment, Touch } from '../../market/consistency/types.ts'
import type { CurrencyCode, LevelBasis } from '../codes.ts'
import type { Level, StrategyLevels } from '../judge/levels.ts'
import type { ReportLanguage, ReportStrategy } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { alarmFor, marked, markFor } from '../texts/findings.ts'
import { aside, fixed, withUnit } from '../texts/format.ts'

type PriceStyle = { decimals: number; currency: CurrencyCode; language: ReportLanguage; consistency: Consistency }

/** What a level stands on; extremes of adjusted bars are called that. */
export function basisText(basis: LevelBasis, { kind }: Adjustment, language: ReportLanguage): string {
  const { adjustedYear } = textsOf(language).consistency
  const isYear = basis === 'year_low' || basis === 'year_high'
  return isYear && kind === 'forward' ? adjustedYear[basis] : textsOf(language).report.basis[basis]
}

/** Where to buy is told only where nothing should be sold, and volumes are a part of that decision. */
const OF_PURCHASES: readonly Touch[] = ['volume']

/** A level as people read it, with its reason, and what a check warns of: 1480.00元（MA10附近）. */
export function levelText(
  level: Level,
  { decimals, currency, language, consistency }: PriceStyle,
  decidedBy: readonly Touch[] = [],
): string {
  const labels = textsOf(language).report
  const { basis, offsetAtr } = level
  // The price that a ratio gives lies at what gives it, not near it.
  const here = basis === 'reward' ? 'at' : 'near'
  const place = labels.place[offsetAtr === 0 ? here : offsetAtr < 0 ? 'below' : 'above']
  const reason = fill(place, {
    basis: basisText(basis, consistency.adjustment, language),
    n: Math.abs(offsetAtr),
  })
  const text = withUnit(fixed(level.price, decimals), currency, language) + aside(reason, language)
  return marked(text, markFor(consistency, ['levels'], language) || alarmFor(consistency, decidedBy, language))
}

/** The strategy of a report; null when not a single level could be derived. */
export function strategyOf(levels: StrategyLevels, style: PriceStyle): ReportStrategy | null {
  const text = (level: Level | null, decidedBy?: readonly Touch[]) =>
    level === null ? null : levelText(level, style, decidedBy)
  const strategy = {
    ideal_buy: text(levels.idealBuy, OF_PURCHASES),
    secondary_buy: text(levels.secondaryBuy, OF_PURCHASES),
    stop_loss: text(levels.stopLoss),
    take_profit: text(levels.takeProfit),
  }
  return Object.values(strategy).every((value) => value === null) ? null : strategy
}

/** The levels as numbers, for charts. */
export function levelRows({ idealBuy, secondaryBuy, stopLoss, takeProfit }: StrategyLevels) {
  const named = Object.entries({
    ideal_buy: idealBuy,
    secondary_buy: secondaryBuy,
    stop_loss: stopLoss,
    take_profit: takeProfit,
  })
  return named.flatMap(([key, level]) => {
    return level === null ? [] : [{ key, price: level.price, basis: level.basis, offset_atr: level.offsetAtr }]
  })
}

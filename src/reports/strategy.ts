import type { Level, StrategyLevels } from '../analysis/levels.ts'
import { aside, fixed, withUnit } from './format.ts'
import { type CurrencyCode, fill, labelsOf } from './labels.ts'
import type { ReportLanguage, ReportStrategy } from './report.ts'

export type PriceStyle = { decimals: number; currency: CurrencyCode; language: ReportLanguage }

/** A level as people read it, with its reason: 1480.00元（MA10附近）. */
export function levelText(level: Level, { decimals, currency, language }: PriceStyle): string {
  const labels = labelsOf(language)
  const { basis, offsetAtr } = level
  const place = labels.place[offsetAtr === 0 ? 'near' : offsetAtr < 0 ? 'below' : 'above']
  const reason = fill(place, { basis: labels.basis[basis], n: Math.abs(offsetAtr) })
  return withUnit(fixed(level.price, decimals), currency, language) + aside(reason, language)
}

/** The strategy of a report; null when not a single level could be derived. */
export function strategyOf(levels: StrategyLevels, style: PriceStyle): ReportStrategy | null {
  const text = (level: Level | null) => (level === null ? null : levelText(level, style))
  const strategy = {
    ideal_buy: text(levels.idealBuy),
    secondary_buy: text(levels.secondaryBuy),
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

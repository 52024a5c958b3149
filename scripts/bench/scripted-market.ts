// What the outside answers in the rows about analyses: bars in Tencent's form, and a model's answer.

import { isTradingDay } from '../../src/market/calendar.ts'
import { longSeries } from '../../test/support/long-series.ts'

const DAYS = 400
const DAY_MS = 86_400_000

/** Bars of the last sessions until yesterday, as the source sends them. On any other day they would be withheld as faulty. */
export function tencentBars(symbol: string): string {
  const rows: string[][] = []
  const bars = longSeries(DAYS)
  let day = Date.now() - DAY_MS
  for (let i = bars.length - 1; i >= 0; day -= DAY_MS) {
    const date = new Date(day).toISOString().slice(0, 10)
    if (!isTradingDay('cn', date)) continue
    const bar = bars[i]
    if (bar === undefined) break
    const prices = [bar.open, bar.close, bar.high, bar.low].map((price) => price.toFixed(2))
    rows.unshift([date, ...prices, String(Math.round(bar.volume / 100))])
    i -= 1
  }
  return JSON.stringify({ code: 0, msg: '', data: { [symbol]: { qfqday: rows } } })
}

const PARAGRAPHS = [
  'technical_analysis',
  'ma_analysis',
  'volume_analysis',
  'fundamental_analysis',
  'news_summary',
  'market_sentiment',
  'sector_position',
  'short_term_outlook',
  'medium_term_outlook',
  'earnings_outlook',
]

/** An answer in shape, without figures. */
export function scriptedAnswer(): string {
  return JSON.stringify({
    one_sentence: '趋势平稳。',
    analysis_summary: '均线平稳，量能一般，暂无更多依据。',
    action: 'watch',
    ...Object.fromEntries(PARAGRAPHS.map((name) => [name, '暂无更多依据。'])),
    positive_catalysts: ['均线平稳'],
    risk_alerts: ['量能不足'],
    advice_without_position: '等待信号',
    advice_with_position: '继续观察',
  })
}

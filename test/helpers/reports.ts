// Stores reports of chosen sessions and the later bars, in the same form as the service.

import { env } from 'cloudflare:workers'
import { type NewAnalysis, saveAnalysis } from '../../src/db/analyses.ts'
import { isTradingDay, sessionEnd } from '../../src/market/calendar.ts'

/** Trading days of the United States. */
const DAYS: string[] = []
for (let day = Date.parse('2025-01-06'); DAYS.length < 90; day += 86_400_000) {
  const date = new Date(day).toISOString().slice(0, 10)
  if (isTradingDay('us', date)) DAYS.push(date)
}
export const dayAt = (i: number): string => DAYS[i] ?? ''

/** Bars that gain half a percent per session; each opens a tenth of a percent above the previous close. */
export function bars(growth = 1.005) {
  return DAYS.map((date, i) => {
    const close = Math.round(10_000 * growth ** i) / 100
    const open = Math.round(10_010 * growth ** (i - 1)) / 100
    const [high, low] = [Math.max(open, close) * 1.001, Math.min(open, close) * 0.999]
    return { date, open, high, low, close, volume: 1_000_000 + i, amount: null }
  })
}

export async function keep(key: string, kept = bars(), keptAt = Date.now()): Promise<void> {
  const query = `INSERT OR REPLACE INTO market_answers (need, key, body, provider, kept_at)
    VALUES ('daily_data', ?, ?, 'yahoo', ?)`
  await env.DB.prepare(query).bind(key, JSON.stringify(kept), keptAt).run()
}

type ReportChanges = { key?: string; session?: number; action?: string; changes?: Partial<NewAnalysis> }
let count = 0

/** A report that was made an hour after the close of a session. */
export async function report(
  owner: string,
  { key = 'AAPL', session = 10, action = 'buy', changes = {} }: ReportChanges = {},
) {
  count += 1
  const createdAt = new Date(sessionEnd('us', dayAt(session)) + 3_600_000).toISOString().replace('Z', '000Z')
  const price = bars()[session]?.close ?? 0
  const phase = {
    ...{ market: 'us', phase: 'postmarket', market_local_time: null, session_date: dayAt(session) },
    ...{ effective_daily_bar_date: dayAt(session), is_trading_day: true, is_market_open_now: false },
    ...{ is_partial_bar: false, minutes_to_open: null, minutes_to_close: null, trigger_source: null },
    ...{ analysis_intent: null, warnings: [] },
  }
  const level = (name: string, at: number) => ({ key: name, price: Math.round(price * at * 100) / 100 })
  const levels = [level('ideal_buy', 0.99), level('secondary_buy', 0.98), level('stop_loss', 0.95)]
  const raw_result = {
    confidence_level: '高',
    confidence_probability: 0.61,
    evidence: { text: 'shows nothing' },
    dashboard: {
      core_conclusion: { one_sentence: '趋势向上' },
      intelligence: { risk_alerts: ['估值偏高', '量能不足'], positive_catalysts: ['业绩增长'] },
      battle_plan: {
        levels: [...levels, level('take_profit', 1.02)],
        position_strategy: { risk_control: '跌破止损离场' },
      },
      phase_decision: { watch_conditions: ['站稳 MA20'] },
    },
  }
  const quality = { overall_score: 86, level: 'good', block_scores: {}, limitations: [] }
  const id = await saveAnalysis(env.DB, {
    ...{ owner, queryId: `signal-${count}-${owner}`, key, stockCode: key, stockName: 'Apple', reportType: 'full' },
    ...{ reportLanguage: 'zh', region: null, analysisPhase: 'auto', originalQuery: null, selectionSource: null },
    ...{ skills: null, trendPrediction: '看多', analysisSummary: 'x', sentimentScore: 67, operationAdvice: '买入' },
    ...{ action, actionLabel: '买入', currentPrice: price, changePct: 0, volumeRatio: null, turnoverRate: null },
    ...{ modelUsed: null, marketPhaseSummary: JSON.stringify(phase), dataNotice: null, dataChecks: null, createdAt },
    report: JSON.stringify({ details: { raw_result, analysis_context_pack_overview: { data_quality: quality } } }),
    ...{ contextSnapshot: null, diagnostics: null, ...changes },
  })
  return { id, createdAt, price }
}

// What the console reads from a stored report for its sections.

import { expect, test } from 'vitest'
import { storedParts } from '../../src/web/analysis/stored-parts.ts'

const NOTHING = { horizons: null, plan: null, performance: [], beside: [], evidence: null, comment: null }
const reportOf = (raw_result: unknown, trend_analysis: unknown = null) => {
  return { details: { raw_result, context_snapshot: { enhanced_context: { trend_analysis } } } }
}

test('each part is read as it is stored, and a figure that is not known has a dash', () => {
  const raw = {
    horizons: {
      rows: [
        { key: 'short', label: 'short (days)', direction: 'up', direction_label: 'up' },
        { label: 1 },
        { key: 'long', label: '长期（数月至数年）', direction: 'down', direction_label: '向下' },
        { key: 'weekly', label: 'weekly bars', direction: 'down', direction_label: 'down' },
      ],
      holds: 'for days',
    },
    trade_plan: {
      reward_risk: 1.69,
      reward_pct: 7.6123,
      risk_pct: 14.4512,
      risk_budget_pct: 1,
      position_pct: 6.9,
      text: 'bought at',
    },
    market_comparison: { label: 'Index', text: 'beta 1.10' },
    liquidity: { label: 'Liquidity', text: 'one session', status: 'told' },
    company_dates: { label: 'Dates' },
    evidence: { text: 'no edge shown', row: { effective_size: 210.4, mean_return_pct: 1.2, random_entry_pct: -0.9 } },
    confidence_probability: 0.546,
    model_comment: {
      notice: 'words of a model',
      contradiction: null,
      sentences: [{ text: 'a', mark: null, cites: [1, 2] }, { text: 'b', mark: 'doubtful', cites: [] }, { mark: 'x' }],
      evidence: [{ n: 1, text: 'price = 10' }, { n: 'two' }],
      counts: { dropped: 3 },
    },
  }
  const trend = { return_5d_pct: 2.061, return_250d_pct: null, volatility_60d_pct: 10.88, max_drawdown_250d_pct: -3.2 }
  expect(storedParts(reportOf(raw, trend))).toEqual({
    horizons: {
      rows: [
        { label: 'short (days)', direction: 'up', directionLabel: 'up' },
        { label: '长期（数月至数年）', direction: 'down', directionLabel: '向下' },
        { label: 'weekly bars', direction: 'down', directionLabel: 'down' },
      ],
      holds: 'for days',
      brief: 'short up · 长期 向下',
    },
    plan: {
      text: 'bought at',
      figures: [
        { label: 'Reward / risk', value: '1.69 : 1' },
        { label: 'To win, after costs', value: '7.61 %' },
        { label: 'To lose, after costs', value: '14.5 %' },
        { label: 'Position, to lose 1 % at most', value: '≤ 6.90 %' },
      ],
    },
    performance: [
      { label: 'Return, 5 sessions', value: '+2.06 %' },
      { label: 'Return, 20 sessions', value: '–' },
      { label: 'Return, 60 sessions', value: '–' },
      { label: 'Return, 250 sessions', value: '–' },
      { label: 'Volatility a year, of 60 sessions', value: '10.9 %' },
      { label: 'Maximum drawdown, 250 sessions', value: '−3.20 %' },
    ],
    beside: [
      { label: 'Index', text: 'beta 1.10' },
      { label: 'Liquidity', text: 'one session' },
    ],
    evidence: {
      text: 'no edge shown',
      figures: [
        { label: 'Cases, as independent ones', value: '210' },
        { label: 'Mean return', value: '+1.20 %' },
        { label: 'Random entry', value: '−0.90 %' },
        { label: 'Probability', value: '55 %' },
      ],
    },
    comment: {
      ...{ notice: 'words of a model', contradiction: null, dropped: 3 },
      sentences: [
        { text: 'a', mark: null, cites: [1, 2] },
        { text: 'b', mark: 'doubtful', cites: [] },
      ],
      evidence: [{ n: 1, text: 'price = 10' }],
    },
  })
})

test('reports of before, and odd ones, have no such parts', () => {
  const odd = {
    horizons: { rows: 'x' },
    trade_plan: [],
    evidence: { text: 7 },
    model_comment: { sentences: [] },
    liquidity: null,
  }
  for (const raw of [undefined, null, 'text', {}, odd]) expect(storedParts(reportOf(raw))).toEqual(NOTHING)
  expect(storedParts({ details: null })).toEqual(NOTHING)
})

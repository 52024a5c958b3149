// Strategies that come with the service: published rules in the language of filters, so they can be read, changed and
// saved. A rule finds listings; it does not give advice.

import type { FieldName } from './fields.ts'
import type { ScreenInput } from './filter.ts'
import { STRATEGY_IDS, type StrategyId } from './words.ts'

export type Strategy = {
  id: StrategyId
  /** Increases with every change of the rule. */
  version: number
  category: 'value' | 'balanced' | 'money' | 'trend'
  screen: Omit<ScreenInput, 'markets'>
  /** The factors of the ranking: the mean of the candidates' ranks in each, from 0 to 100. */
  factors: readonly { field: FieldName; better: 'low' | 'high' }[]
}

const is = (field: FieldName, op: string, value: unknown) => ({ field, op, value })
const ORDINARY = is('risk_warned', 'is', false)
const common = { kinds: ['stock' as const], limit: null, max_age_sessions: 3 }

const STRATEGIES_BY_ID: Readonly<Record<StrategyId, Omit<Strategy, 'id'>>> = {
  dual_low: {
    version: 1,
    category: 'value',
    screen: {
      ...common,
      where: { and: [ORDINARY, is('pe_ratio', 'between', [0.1, 20]), is('pb_ratio', 'between', [0.1, 2])] },
      sort: [{ field: 'pe_ratio', order: 'asc' }],
    },
    factors: [
      { field: 'pe_ratio', better: 'low' },
      { field: 'pb_ratio', better: 'low' },
    ],
  },
  balanced_alpha: {
    version: 1,
    category: 'balanced',
    screen: {
      ...common,
      where: {
        and: [
          ORDINARY,
          is('pe_ratio', 'between', [0.1, 40]),
          is('pb_ratio', 'between', [0.1, 6]),
          is('return_60d_pct', 'gt', 0),
          is('above_ma60_pct', 'gt', 0),
          is('volatility_60d_pct', 'lt', 50),
        ],
      },
      sort: [{ field: 'return_60d_pct', order: 'desc' }],
    },
    factors: [
      { field: 'pe_ratio', better: 'low' },
      { field: 'return_60d_pct', better: 'high' },
      { field: 'volatility_60d_pct', better: 'low' },
    ],
  },
  capital_heat: {
    version: 1,
    category: 'money',
    screen: {
      ...common,
      where: {
        and: [
          ORDINARY,
          is('volume_ratio', 'gte', 1.5),
          is('turnover_rate_pct', 'between', [3, 20]),
          is('change_pct', 'between', [0, 9]),
          is('above_ma20_pct', 'gt', 0),
        ],
      },
      sort: [{ field: 'volume_ratio', order: 'desc' }],
    },
    factors: [
      { field: 'volume_ratio', better: 'high' },
      { field: 'turnover_rate_pct', better: 'high' },
      { field: 'change_pct', better: 'high' },
    ],
  },
  trend_pullback: {
    version: 1,
    category: 'trend',
    screen: {
      ...common,
      where: {
        and: [
          ORDINARY,
          is('ma20', 'gt', { field: 'ma60' }),
          is('ma60', 'gt', { field: 'ma250' }),
          is('above_ma20_pct', 'between', [-3, 2]),
          is('rsi_12', 'lt', 60),
        ],
      },
      sort: [{ field: 'return_250d_pct', order: 'desc' }],
    },
    factors: [
      { field: 'return_250d_pct', better: 'high' },
      { field: 'rsi_12', better: 'low' },
    ],
  },
  near_high: {
    version: 1,
    category: 'trend',
    screen: {
      ...common,
      where: {
        and: [
          ORDINARY,
          is('from_high_52w_pct', 'gte', -3),
          is('ma20', 'gt', { field: 'ma60' }),
          is('volume_ratio', 'gte', 1),
        ],
      },
      sort: [{ field: 'from_high_52w_pct', order: 'desc' }],
    },
    factors: [
      { field: 'from_high_52w_pct', better: 'high' },
      { field: 'return_60d_pct', better: 'high' },
    ],
  },
  calm_value: {
    version: 1,
    category: 'value',
    screen: {
      ...common,
      where: {
        and: [
          ORDINARY,
          is('volatility_60d_pct', 'lte', 25),
          is('max_drawdown_250d_pct', 'gte', -25),
          is('pe_ratio', 'between', [0.1, 25]),
        ],
      },
      sort: [{ field: 'volatility_60d_pct', order: 'asc' }],
    },
    factors: [
      { field: 'volatility_60d_pct', better: 'low' },
      { field: 'max_drawdown_250d_pct', better: 'high' },
      { field: 'pe_ratio', better: 'low' },
    ],
  },
}

export const STRATEGIES: readonly Strategy[] = STRATEGY_IDS.map((id) => ({ id, ...STRATEGIES_BY_ID[id] }))

export const strategyNamed = (id: string): Strategy | null => STRATEGIES.find((one) => one.id === id) ?? null

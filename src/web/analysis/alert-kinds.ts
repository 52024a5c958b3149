// The kinds of alert rules, and the fields that each requires.

import type { Text } from '../texts.ts'

export type AlertScope = 'single_symbol' | 'watchlist' | 'portfolio_holdings' | 'portfolio_account' | 'market'

export type Field =
  | { name: string; label: Text; preset?: number; isOptional?: boolean }
  | { name: string; label: Text; values: readonly (readonly [value: string, label: Text])[]; isSeveral?: boolean }

type Kind = { label: Text; scopes: readonly AlertScope[]; fields: readonly Field[] }

const SYMBOLS: readonly AlertScope[] = ['single_symbol', 'watchlist', 'portfolio_holdings']
const SIDES: Field = {
  name: 'direction',
  label: 'Direction',
  values: [
    ['above', 'at or above'],
    ['below', 'at or below'],
  ],
}
const CROSSES: Field = {
  name: 'direction',
  label: 'Direction',
  values: [
    ['bullish_cross', 'upwards'],
    ['bearish_cross', 'downwards'],
  ],
}
const HYSTERESIS: Field = { name: 'hysteresis_pct', label: 'Goes back by, %', preset: 0 }
const ofSymbols = (label: Text, ...fields: Field[]): Kind => ({ label, scopes: SYMBOLS, fields })
const ofBook = (label: Text, ...fields: Field[]): Kind => ({ label, scopes: ['portfolio_account'], fields })

export const ALERT_KINDS: Readonly<Record<string, Kind>> = {
  price_cross: ofSymbols('Price', SIDES, { name: 'price', label: 'Price' }, HYSTERESIS),
  price_change_percent: ofSymbols(
    'Change of the day',
    {
      name: 'direction',
      label: 'Direction',
      values: [
        ['up', 'up'],
        ['down', 'down'],
      ],
    },
    { name: 'change_pct', label: 'Per cent' },
    HYSTERESIS,
  ),
  volume_spike: ofSymbols('Volume', { name: 'multiplier', label: 'Times the mean of 20 sessions', preset: 2 }),
  level_touch: ofSymbols('Level of an advice', {
    name: 'level',
    label: 'Level',
    values: [
      ['any', 'any'],
      ['entry', 'Entry'],
      ['stop_loss', 'Stop loss'],
      ['target_price', 'Target price'],
    ],
  }),
  new_advice: ofSymbols('New advice', {
    name: 'actions',
    label: 'Only these (none: all)',
    isSeveral: true,
    values: [
      ['buy', 'Buy'],
      ['add', 'Add to it'],
      ['hold', 'Hold'],
      ['reduce', 'Reduce'],
      ['sell', 'Sell'],
      ['watch', 'Watch'],
      ['avoid', 'Avoid'],
      ['alert', 'Look at it'],
    ],
  }),
  ma_price_cross: ofSymbols('Moving average', SIDES, { name: 'window', label: 'Sessions', preset: 20 }),
  rsi_threshold: ofSymbols(
    'RSI',
    SIDES,
    { name: 'period', label: 'Sessions', preset: 12 },
    { name: 'threshold', label: 'Threshold', preset: 70 },
  ),
  macd_cross: ofSymbols(
    'MACD',
    CROSSES,
    { name: 'fast_period', label: 'Fast', preset: 12 },
    { name: 'slow_period', label: 'Slow', preset: 26 },
    { name: 'signal_period', label: 'Signal', preset: 9 },
  ),
  kdj_cross: ofSymbols(
    'KDJ',
    CROSSES,
    { name: 'period', label: 'Sessions', preset: 9 },
    { name: 'k_period', label: 'K', preset: 3 },
    { name: 'd_period', label: 'D', preset: 3 },
  ),
  cci_threshold: ofSymbols(
    'CCI',
    SIDES,
    { name: 'period', label: 'Sessions', preset: 14 },
    { name: 'threshold', label: 'Threshold', preset: 100 },
  ),
  portfolio_stop_loss: ofBook('Losses', {
    name: 'mode',
    label: 'When',
    values: [
      ['near', 'near the limit'],
      ['breach', 'beyond the limit'],
    ],
  }),
  portfolio_concentration: ofBook('Concentration'),
  portfolio_drawdown: ofBook('Drawdown'),
  portfolio_price_stale: ofBook('Missing prices'),
  market_light_status: {
    label: 'Market light',
    scopes: ['market'],
    fields: [
      {
        name: 'statuses',
        label: 'Light',
        isSeveral: true,
        values: [
          ['yellow', 'yellow'],
          ['red', 'red'],
        ],
      },
    ],
  },
  market_light_score_drop: {
    label: 'Fall of the market light',
    scopes: ['market'],
    fields: [{ name: 'min_drop', label: 'Points', preset: 20 }],
  },
}

export const SCOPE_NAMES: Readonly<Record<AlertScope, Text>> = {
  single_symbol: 'A stock',
  watchlist: 'A watchlist',
  portfolio_holdings: 'Stocks that you hold',
  portfolio_account: 'Accounts',
  market: 'A market',
}

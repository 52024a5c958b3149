// The figures that listings can be filtered by. Each is a column of the stored figures; null means unknown.

/** `close`: of the close of a session. `bars`: computed from bars. `listing`: of the listing itself, without a day. */
export type FieldGroup = 'listing' | 'close' | 'bars'

export type FieldUnit =
  /** In the listing's own currency. */
  | 'price'
  | 'money'
  | 'percent'
  | 'shares'
  | 'ratio'
  /** 0 to 100. */
  | 'points'
  | 'text'
  | 'flag'

export type Field = { readonly name: FieldName; readonly of: FieldGroup; readonly unit: FieldUnit }

const LISTING = { market: 'text', exchange: 'text', kind: 'text', industry: 'text', risk_warned: 'flag' } as const

const CLOSE = {
  price: 'price',
  change_pct: 'percent',
  amplitude_pct: 'percent',
  volume: 'shares',
  amount: 'money',
  turnover_rate_pct: 'percent',
  volume_ratio: 'ratio',
  pe_ratio: 'ratio',
  pb_ratio: 'ratio',
  market_value: 'money',
  float_market_value: 'money',
} as const

const BARS = {
  ma5: 'price',
  ma10: 'price',
  ma20: 'price',
  ma60: 'price',
  ma120: 'price',
  ma250: 'price',
  above_ma20_pct: 'percent',
  above_ma60_pct: 'percent',
  above_ma250_pct: 'percent',
  rsi_6: 'points',
  rsi_12: 'points',
  rsi_24: 'points',
  macd_dif: 'price',
  macd_dea: 'price',
  macd_bar: 'price',
  return_5d_pct: 'percent',
  return_20d_pct: 'percent',
  return_60d_pct: 'percent',
  return_250d_pct: 'percent',
  high_52w: 'price',
  low_52w: 'price',
  from_high_52w_pct: 'percent',
  from_low_52w_pct: 'percent',
  volatility_60d_pct: 'percent',
  max_drawdown_250d_pct: 'percent',
  average_turnover_20d: 'money',
  average_volume_20d: 'shares',
} as const

export type ListingField = keyof typeof LISTING
export type CloseField = keyof typeof CLOSE
export type BarsField = keyof typeof BARS
export type FieldName = ListingField | CloseField | BarsField

export const CLOSE_FIELDS = Object.keys(CLOSE) as readonly CloseField[]
export const BARS_FIELDS = Object.keys(BARS) as readonly BarsField[]

const groupOf = (of: FieldGroup, units: Readonly<Record<string, FieldUnit>>): Field[] =>
  Object.entries(units).map(([name, unit]) => ({ name: name as FieldName, of, unit }))

export const FIELDS: readonly Field[] = [
  ...groupOf('listing', LISTING),
  ...groupOf('close', CLOSE),
  ...groupOf('bars', BARS),
]

const BY_NAME: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [field.name, field]))

export const fieldNamed = (name: string): Field | null => BY_NAME.get(name) ?? null

export const isNumber = ({ unit }: Pick<Field, 'unit'>): boolean => unit !== 'text' && unit !== 'flag'

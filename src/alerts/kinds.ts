// The kinds of alerts: their source, their possible targets, and their parameters. One table for the validation of a
// rule, its evaluation and the pages that create rules.

export const SCOPES = ['single_symbol', 'watchlist', 'portfolio_holdings', 'portfolio_account', 'market'] as const
export type Scope = (typeof SCOPES)[number]

const SYMBOLS: readonly Scope[] = ['single_symbol', 'watchlist', 'portfolio_holdings']

export type Parameter =
  | { name: string; form: 'number'; above?: number; least?: number; most: number; isInteger?: boolean; preset?: number }
  | { name: string; form: 'choice'; values: readonly string[]; preset?: string }
  /** An empty list means all values, where that is allowed. */
  | { name: string; form: 'choices'; values: readonly string[]; mayBeEmpty: boolean }

/**
 * The data of a kind: the quotes of a round, the completed daily bars, the owner's book, the market light, or the
 * owner's signals.
 */
export type Source = 'quote' | 'bars' | 'book' | 'light' | 'advice'

export type Kind = { source: Source; scopes: readonly Scope[]; parameters: readonly Parameter[] }

const LARGEST = 1e12
const price = (name: string): Parameter => ({ name, form: 'number', above: 0, most: LARGEST })
const sessions = (name: string, preset: number, { least = 2, most = 250 } = {}): Parameter => {
  return { name, form: 'number', least, most, isInteger: true, preset }
}
const choice = (name: string, ...values: string[]): Parameter => ({ name, form: 'choice', values })
const ABOVE_BELOW = choice('direction', 'above', 'below')
const CROSSES = choice('direction', 'bullish_cross', 'bearish_cross')
/** How far a figure must go back before the rule may fire again. */
const HYSTERESIS: Parameter = { name: 'hysteresis_pct', form: 'number', least: 0, most: 50, preset: 0 }

const LEVELS = ['entry', 'stop_loss', 'target_price'] as const
const ADVICES = ['buy', 'add', 'hold', 'reduce', 'sell', 'watch', 'avoid', 'alert'] as const

const ofSymbols = (source: Source, ...parameters: Parameter[]): Kind => ({ source, scopes: SYMBOLS, parameters })
const ofBook = (...parameters: Parameter[]): Kind => ({ source: 'book', scopes: ['portfolio_account'], parameters })
const ofMarket = (...parameters: Parameter[]): Kind => ({ source: 'light', scopes: ['market'], parameters })

export const KINDS = {
  price_cross: ofSymbols('quote', ABOVE_BELOW, price('price'), HYSTERESIS),
  price_change_percent: ofSymbols(
    'quote',
    choice('direction', 'up', 'down'),
    { name: 'change_pct', form: 'number', above: 0, most: 1000 },
    HYSTERESIS,
  ),
  volume_spike: ofSymbols('quote', { name: 'multiplier', form: 'number', above: 0, most: 1000 }),
  level_touch: ofSymbols('quote', { name: 'level', form: 'choice', values: ['any', ...LEVELS], preset: 'any' }),
  ma_price_cross: ofSymbols('bars', ABOVE_BELOW, sessions('window', 20)),
  rsi_threshold: ofSymbols('bars', ABOVE_BELOW, sessions('period', 12), {
    name: 'threshold',
    form: 'number',
    least: 0,
    most: 100,
  }),
  macd_cross: ofSymbols(
    'bars',
    CROSSES,
    sessions('fast_period', 12, { least: 1 }),
    sessions('slow_period', 26),
    sessions('signal_period', 9, { least: 1 }),
  ),
  kdj_cross: ofSymbols(
    'bars',
    CROSSES,
    sessions('period', 9),
    sessions('k_period', 3, { least: 1, most: 100 }),
    sessions('d_period', 3, { least: 1, most: 100 }),
  ),
  cci_threshold: ofSymbols('bars', ABOVE_BELOW, sessions('period', 14), {
    name: 'threshold',
    form: 'number',
    least: -10_000,
    most: 10_000,
  }),
  new_advice: ofSymbols('advice', { name: 'actions', form: 'choices', values: ADVICES, mayBeEmpty: true }),
  portfolio_stop_loss: ofBook({ name: 'mode', form: 'choice', values: ['near', 'breach'], preset: 'near' }),
  portfolio_concentration: ofBook(),
  portfolio_drawdown: ofBook(),
  portfolio_price_stale: ofBook(),
  market_light_status: ofMarket({
    name: 'statuses',
    form: 'choices',
    values: ['yellow', 'red'],
    mayBeEmpty: false,
  }),
  market_light_score_drop: ofMarket({ name: 'min_drop', form: 'number', above: 0, most: 100 }),
} as const satisfies Readonly<Record<string, Kind>>

export type AlertType = keyof typeof KINDS
export const ALERT_TYPES = Object.keys(KINDS) as AlertType[]

export const isAlertType = (text: string): text is AlertType => Object.hasOwn(KINDS, text)

export type Parameters = Readonly<Record<string, number | string | readonly string[]>>

export type ParameterFault =
  | { field: string; why: 'missing' | 'order' | 'long' }
  | { field: string; why: 'number'; least: number | null; above: number | null; most: number; isInteger: boolean }
  | { field: string; why: 'choice' | 'choices' | 'unknown'; values: readonly string[] }

/** The longest history that an indicator may need. */
const MOST_BARS = 365

/** The parameters with their defaults, or the first problem with them. */
export function checkedParameters(
  type: AlertType,
  given: Readonly<Record<string, unknown>>,
): { ok: true; parameters: Parameters } | { ok: false; fault: ParameterFault } {
  const parameters: Record<string, number | string | string[]> = {}
  const specs: readonly Parameter[] = KINDS[type].parameters
  // A misspelt name would leave its parameter at the default, so the rule would mean something else.
  const names = specs.map(({ name }) => name)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    return { ok: false, fault: { field: `parameters.${unknown.slice(0, 64)}`, why: 'unknown', values: names } }
  }
  for (const spec of specs) {
    const value = Object.hasOwn(given, spec.name) ? given[spec.name] : undefined
    const read = readParameter(spec, value ?? ('preset' in spec ? spec.preset : undefined))
    if (!read.ok) return read
    parameters[spec.name] = read.value
  }
  const fault = togetherFault(type, parameters)
  return fault === null ? { ok: true, parameters } : { ok: false, fault }
}

type Read = { ok: true; value: number | string | string[] } | { ok: false; fault: ParameterFault }

function readParameter(spec: Parameter, value: unknown): Read {
  const field = `parameters.${spec.name}`
  if (spec.form === 'choices') {
    const list = value ?? (spec.mayBeEmpty ? [] : undefined)
    if (list === undefined) return { ok: false, fault: { field, why: 'missing' } }
    const isRight = Array.isArray(list) && list.every((one) => spec.values.includes(one))
    if (!isRight || (list.length === 0 && !spec.mayBeEmpty)) {
      return { ok: false, fault: { field, why: 'choices', values: spec.values } }
    }
    return { ok: true, value: [...new Set<string>(list)] }
  }
  if (value === undefined || value === null || value === '') return { ok: false, fault: { field, why: 'missing' } }
  if (spec.form === 'choice') {
    if (typeof value === 'string' && spec.values.includes(value)) return { ok: true, value }
    return { ok: false, fault: { field, why: 'choice', values: spec.values } }
  }
  // Forms send numbers as text.
  const figure = typeof value === 'number' ? value : typeof value === 'string' ? numberIn(value) : Number.NaN
  const { above, least, most, isInteger = false } = spec
  const isInside = figure <= most && figure > (above ?? Number.NEGATIVE_INFINITY) && figure >= (least ?? -LARGEST)
  if (isInside && (!isInteger || Number.isInteger(figure))) return { ok: true, value: figure }
  return { ok: false, fault: { field, why: 'number', least: least ?? null, above: above ?? null, most, isInteger } }
}

const numberIn = (text: string): number => (/^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN)

function togetherFault(type: AlertType, parameters: Parameters): ParameterFault | null {
  const { fast_period: fast, slow_period: slow } = parameters
  if (type === 'macd_cross' && Number(fast) >= Number(slow)) return { field: 'parameters.fast_period', why: 'order' }
  if (KINDS[type].source === 'bars' && barsNeeded(type, parameters) > MOST_BARS) {
    const figures = Object.entries(parameters).filter(([, value]) => typeof value === 'number')
    const [longest] = figures.sort(([, one], [, other]) => Number(other) - Number(one))
    return { field: `parameters.${longest?.[0] ?? 'period'}`, why: 'long' }
  }
  return null
}

/** Completed bars that are needed for two values of the indicator, the later one at the last bar. */
export function barsNeeded(type: AlertType, parameters: Parameters): number {
  const of = (name: string) => Number(parameters[name] ?? 0)
  if (type === 'ma_price_cross') return of('window') + 1
  if (type === 'rsi_threshold') return of('period') + 2
  if (type === 'macd_cross') return of('slow_period') + of('signal_period')
  if (type === 'kdj_cross') return of('period') + of('k_period') + of('d_period')
  return type === 'cci_threshold' ? of('period') + 1 : 0
}

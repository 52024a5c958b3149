// The formats of single values in the rows of an archive: decimal texts, times, and enumerated words. Pages and jobs
// read such values without checks, so an invalid one would break the pages of its owner.

import { HORIZONS } from '../../../src/analysis/report/signal.ts'
import { Action, MarketPhaseSummary, ReportLanguage } from '../../../src/analysis/schemas.ts'
import type { ImportedRow } from '../../../src/db/imports.ts'

const DECIMAL = /^-?\d{1,24}(\.\d{1,8})?$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
const DAY = /^\d{4}-\d\d-\d\d$/
/** Listings, which the service requests from its sources for all owners at once. */
const LISTING = /^[A-Za-z0-9.^:_-]{1,32}$/
const CURRENCY = /^[A-Z]{3}$/

const isTime = (text: string) => INSTANT.test(text) && !Number.isNaN(Date.parse(text))
const isDay = (text: string) => DAY.test(text) && !Number.isNaN(Date.parse(text))
const of = (form: RegExp) => (text: string) => form.test(text)
const oneOf = (words: readonly string[]) => (text: string) => words.includes(text)
const MARKET = oneOf(['cn', 'hk', 'us', 'jp', 'kr', 'tw'])
const SEVERITY = oneOf(['info', 'warning', 'critical'])

type Forms = Readonly<Record<string, (text: string) => boolean>>

const OF_ALL: Forms = {
  ...{ created_at: isTime, updated_at: isTime, triggered_at: isTime, ran_at: isTime, expires_at: isTime },
  language: oneOf(ReportLanguage.options),
}
const FORMS: Readonly<Record<string, Forms>> = {
  portfolio_accounts: { market: MARKET, base_currency: of(CURRENCY) },
  portfolio_rates: { currency: of(CURRENCY), quote: of(CURRENCY), date: isDay, rate: of(DECIMAL) },
  portfolio_events: {
    ...{ kind: oneOf(['cash', 'trade', 'dividend', 'payout', 'split']), side: oneOf(['in', 'out', 'buy', 'sell']) },
    ...{ market: MARKET, currency: of(CURRENCY), date: isDay, symbol: of(LISTING) },
    ...{ quantity: of(DECIMAL), amount: of(DECIMAL), fee: of(DECIMAL), tax: of(DECIMAL) },
  },
  watchlist_stocks: { key: of(LISTING) },
  decision_signals: {
    ...{ key: of(LISTING), market: MARKET, made_on: isDay, anchor: isDay, action: oneOf(Action.options) },
    ...{ source_type: oneOf(['analysis', 'agent', 'alert', 'market_review', 'manual']), horizon: oneOf(HORIZONS) },
    ...{ decision_profile: oneOf(['conservative', 'balanced', 'aggressive']) },
    ...{ market_phase: oneOf(MarketPhaseSummary.shape.phase.options) },
    ...{ plan_quality: oneOf(['complete', 'partial', 'minimal', 'unknown']) },
    ...{ status: oneOf(['active', 'expired', 'invalidated', 'closed', 'archived']) },
  },
  signal_feedback: { feedback_value: oneOf(['useful', 'not_useful']) },
  alert_rules: {
    ...{ severity: SEVERITY, last_triggered_at: isTime, cooldown_until: isTime },
    target_scope: oneOf(['single_symbol', 'watchlist', 'portfolio_holdings', 'portfolio_account', 'market']),
  },
  alert_triggers: { severity: SEVERITY },
}

/** What the target of a rule may be, by scope. */
const TARGETS: Readonly<Record<string, RegExp>> = {
  single_symbol: LISTING,
  watchlist: /^.{1,200}$/,
  portfolio_holdings: /^(all|\d{1,15})$/,
  portfolio_account: /^(all|\d{1,15})$/,
  market: /^(cn|hk|us)$/,
}

/** Columns with times in epoch ms. */
const MOMENTS = /^(called_at|since|next_at|armed_at|due_at|claimed_at|created_at)$/
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z')
const COUNTS = /_tokens$/

/** The required columns of each kind of portfolio event. */
const DEMANDED: Readonly<Record<string, readonly string[]>> = {
  trade: ['symbol', 'market', 'side', 'quantity', 'fee', 'tax'],
  payout: ['symbol', 'market', 'fee', 'tax'],
  dividend: ['symbol', 'market'],
  split: ['symbol', 'market'],
  cash: ['side'],
}

/** The first invalid or missing value as a message; null when all are valid. */
export function formProblem(table: string, row: ImportedRow): string | null {
  const forms = { ...OF_ALL, ...FORMS[table] }
  const isRight = (name: string, value: string | number | null): boolean => {
    if (value === null) return true
    if (typeof value === 'string') return value.isWellFormed() && (forms[name]?.(value) ?? true)
    if (MOMENTS.test(name)) return value >= 0 && value <= LAST_MOMENT
    return !COUNTS.test(name) || value >= 0
  }
  const wrong = Object.entries(row).find(([name, value]) => !isRight(name, value))
  if (wrong !== undefined) return `${wrong[0]} has not the form that it must have`
  if (table === 'alert_rules' && TARGETS[String(row.target_scope)]?.test(String(row.target)) !== true)
    return 'target has not the form that it must have'
  if (table !== 'portfolio_events') return null
  const absent = DEMANDED[String(row.kind)]?.find((name) => (row[name] ?? null) === null)
  return absent === undefined ? null : `${absent} is missing`
}

// The configuration: the variables of src/config, and those that providers and channels declare. An invalid value stops
// the start with the variable's name, the value and what is allowed.

import { ACCESS_VARIABLES, type AccessConfig, accessConfig, missingAccess } from './config/access.ts'
import {
  CHANNEL_VARIABLES,
  MARKET_PROVIDER_VARIABLES,
  MARKET_VARIABLES,
  marketSources,
  NEWS_VARIABLES,
  type NewsConfig,
  NOTIFY_VARIABLES,
  type NotifyConfig,
  newsConfig,
  notifyConfig,
  RATE_VARIABLES,
  type RatesConfig,
  ratesConfig,
  SCREENING_VARIABLES,
  type ScreeningConfig,
  SEARCH_PROVIDER_VARIABLES,
  screeningConfig,
  TASK_VARIABLES,
  type TaskConfig,
  taskConfig,
} from './config/analysis.ts'
import {
  BUDGET_VARIABLES,
  type BudgetCeilings,
  budgetCeilings,
  LIMIT_VARIABLES,
  type LimitConfig,
  limitConfig,
  QUOTA_VARIABLES,
  type QuotaConfig,
  quotaConfig,
} from './config/limits.ts'
import { MODEL_VARIABLES, type ModelsConfig, modelsConfig } from './config/models.ts'
import { TELEMETRY_VARIABLES, type TelemetryConfig, telemetryConfig } from './config/telemetry.ts'
import { setLogLevel, setLogSecrets } from './lib/log.ts'
import { setCounting } from './lib/metrics.ts'
import {
  ConfigError,
  choice,
  type RawVariables,
  readVariables,
  type Variable,
  type Variables,
  wholeNumber,
} from './lib/variables.ts'
import type { MarketSource } from './market/providers/registry.ts'

const OWN = {
  ...ACCESS_VARIABLES,
  ...LIMIT_VARIABLES,
  ...MARKET_VARIABLES,
  ...NEWS_VARIABLES,
  ...RATE_VARIABLES,
  ...SCREENING_VARIABLES,
  ...MODEL_VARIABLES,
  ...NOTIFY_VARIABLES,
  REPORT_LANGUAGE: choice(['zh', 'en', 'ko'], 'zh'),
  ...TASK_VARIABLES,
  ...QUOTA_VARIABLES,
  ...TELEMETRY_VARIABLES,
  ...BUDGET_VARIABLES,
  FETCH_TIMEOUT_SECONDS: wholeNumber(1, 120, 10),
} as const

/** The variables that providers and channels read when they are made. */
const OF_UNITS: Variables = { ...MARKET_PROVIDER_VARIABLES, ...SEARCH_PROVIDER_VARIABLES, ...CHANNEL_VARIABLES }

/** Every variable that the service reads. */
export const VARIABLES: readonly (Variable & { readonly name: string })[] = Object.entries({
  ...OF_UNITS,
  ...OWN,
}).map(([name, declared]) => ({ name, ...declared }))

export type Config = AccessConfig &
  LimitConfig & {
    models: ModelsConfig
    /** The raw values: each provider and channel reads its own. */
    variables: RawVariables
    /** In the order in which they are tried. */
    marketData: MarketSource[]
    news: NewsConfig
    rates: RatesConfig
    screening: ScreeningConfig
    notify: NotifyConfig
    reportLanguage: 'zh' | 'en' | 'ko'
    maxRunningTasks: number
    tasks: TaskConfig
    /** The limits of one owner. */
    quotas: QuotaConfig
    /** The most that one owner may spend on models. */
    budget: BudgetCeilings
    maxAttempts: number
    taskTimeoutMs: number
    fetchTimeoutMs: number
    /** Where traces are sent; null when there is no tracing. */
    telemetry: TelemetryConfig | null
    /** The token of a scraper of metrics; null: nothing is counted, and the endpoint does not exist. */
    metricsToken: string | null
  }

/** Parses the variables; an empty value counts as not set. Throws a `ConfigError` that names every invalid variable. */
export function parseConfig(vars: RawVariables): Config {
  const values = readVariables({ ...OF_UNITS, ...OWN }, vars)
  const missing = missingAccess(values)
  if (missing.length > 0) throw new ConfigError(missing.join('\n'))
  return {
    ...accessConfig(values),
    ...limitConfig(values),
    models: modelsConfig(values, typeof vars.AI === 'object' && vars.AI !== null),
    variables: vars,
    marketData: marketSources(values),
    news: newsConfig(values),
    rates: ratesConfig(values),
    screening: screeningConfig(values),
    notify: notifyConfig(values),
    reportLanguage: values.REPORT_LANGUAGE,
    maxRunningTasks: values.MAX_RUNNING_TASKS,
    tasks: taskConfig(values),
    quotas: quotaConfig(values, values.AUTH_MODE),
    budget: budgetCeilings(values),
    maxAttempts: values.MAX_ATTEMPTS,
    taskTimeoutMs: values.TASK_TIMEOUT_SECONDS * 1000,
    fetchTimeoutMs: values.FETCH_TIMEOUT_SECONDS * 1000,
    telemetry: telemetryConfig(values),
    metricsToken: values.METRICS_TOKEN ?? null,
  }
}

const cache = new WeakMap<object, Config>()

/** The configuration of this environment, parsed on first use in each isolate. */
export function config(env: object): Config {
  const known = cache.get(env)
  if (known !== undefined) return known
  const parsed = parseConfig(env as RawVariables)
  cache.set(env, parsed)
  setLogLevel(parsed.logLevel)
  if (parsed.metricsToken !== null) setCounting(true)
  setLogSecrets([...secretValues(env as RawVariables), ...(parsed.telemetry?.secrets ?? [])])
  return parsed
}

const secretValues = (vars: RawVariables): string[] =>
  VARIABLES.flatMap(({ name, secret }) => {
    const value = vars[name]
    return secret && typeof value === 'string' ? [value] : []
  })

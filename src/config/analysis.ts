// The configuration of the analysis family: the market data providers in their order. The variables of each are
// declared with it.

import { z } from 'zod'
import {
  baseUrl,
  choice,
  commaList,
  optionalBaseUrl,
  optionalWholeNumber,
  providerKey,
  type ValuesOf,
  variable,
  variablesOf,
  wholeNumber,
} from '../lib/variables.ts'
import {
  MARKET_PROVIDERS,
  MARKET_SOURCES,
  type MarketSource,
  NAME_LIST_VARIABLES,
} from '../market/providers/registry.ts'
import { SEARCH_NAMES, SEARCH_PROVIDERS, type SearchName } from '../news/providers/registry.ts'
import type { Mode } from '../notify/delivery.ts'
import { CHANNEL_KINDS, CHANNELS, type ChannelKind } from '../notify/registry.ts'

const LIVE = MARKET_SOURCES.filter((name) => MARKET_PROVIDERS[name].isLive)

export const MARKET_VARIABLES = {
  MARKET_DATA: variable(
    commaList(LIVE.join()).pipe(z.array(z.enum(MARKET_SOURCES)).min(1)),
    `a comma-separated list of ${MARKET_SOURCES.join(', ')}`,
  ),
} as const

export const MARKET_PROVIDER_VARIABLES = { ...variablesOf(MARKET_PROVIDERS), ...NAME_LIST_VARIABLES }

export const marketSources = (values: ValuesOf<typeof MARKET_VARIABLES>): MarketSource[] => [
  ...new Set(values.MARKET_DATA),
]

// The news providers in their order, and further sources. The variables of each are declared with it.

export const NEWS_VARIABLES = {
  NEWS_SEARCH: variable(
    commaList(SEARCH_NAMES.join()).pipe(z.array(z.enum(SEARCH_NAMES))),
    `a comma-separated list of ${SEARCH_NAMES.join(', ')}`,
  ),
  NEWS_MAX_AGE_DAYS: wholeNumber(1, 30, 3),
  SOCIAL_SENTIMENT_URL: optionalBaseUrl(),
  SOCIAL_SENTIMENT_API_KEY: providerKey(),
} as const

export const SEARCH_PROVIDER_VARIABLES = variablesOf(SEARCH_PROVIDERS)

export type NewsConfig = {
  /** In the order in which they are asked. */
  search: SearchName[]
  maxAgeDays: number
  social: { url: string; key: string | null } | null
}

export function newsConfig(values: ValuesOf<typeof NEWS_VARIABLES>): NewsConfig {
  const { SOCIAL_SENTIMENT_URL: url, SOCIAL_SENTIMENT_API_KEY: key = null } = values
  return {
    search: [...new Set(values.NEWS_SEARCH)],
    maxAgeDays: values.NEWS_MAX_AGE_DAYS,
    social: url === undefined ? null : { url, key },
  }
}

// The source of rates between currencies.

export const RATE_VARIABLES = {
  FX_RATES: choice(['ecb', 'off'], 'ecb'),
  ECB_URL: baseUrl('https://www.ecb.europa.eu'),
} as const

/** Null: no rates are fetched. */
export type RatesConfig = { url: string } | null

export const ratesConfig = ({ FX_RATES, ECB_URL }: ValuesOf<typeof RATE_VARIABLES>): RatesConfig =>
  FX_RATES === 'off' ? null : { url: ECB_URL }

// Screening: the markets whose figures are stored, and how fast sources are requested.

const SCREENED = ['cn', 'hk', 'us', 'jp', 'kr', 'tw'] as const

export const SCREENING_VARIABLES = {
  SCREENING_MARKETS: variable(
    commaList('cn').pipe(z.union([z.tuple([z.literal('off')]), z.array(z.enum(SCREENED)).min(1)])),
    `"off", or a comma-separated list of ${SCREENED.join(', ')}`,
  ),
  SCREENING_REQUESTS_PER_MINUTE: wholeNumber(1, 60, 12),
} as const

export type ScreeningConfig = {
  /** Empty: screening is off. */
  markets: (typeof SCREENED)[number][]
  requestsPerMinute: number
}

export function screeningConfig(values: ValuesOf<typeof SCREENING_VARIABLES>): ScreeningConfig {
  const markets = SCREENED.filter((market) => values.SCREENING_MARKETS.some((one) => one === market))
  return { markets, requestsPerMinute: values.SCREENING_REQUESTS_PER_MINUTE }
}

// The operator's own notification channels. A channel exists when all its required variables are set; these are
// declared with it.

export const NOTIFY_VARIABLES = {
  NOTIFY_MODE: choice(['single', 'digest'], 'single'),
  NOTIFY_OWNERS: variable(commaList(''), 'a comma-separated list of owners, or * for all of them'),
} as const

export const CHANNEL_VARIABLES = variablesOf(CHANNELS)

export type OperatorChannel = { id: string; kind: ChannelKind; mode: Mode; settings: Record<string, unknown> }

export type NotifyConfig = {
  channels: OperatorChannel[]
  /** The owners whose reports go there; `*` means all. */
  owners: string[]
}

type NotifyValues = ValuesOf<typeof NOTIFY_VARIABLES> & ValuesOf<typeof CHANNEL_VARIABLES>

export function notifyConfig(values: NotifyValues): NotifyConfig {
  const channels = CHANNEL_KINDS.flatMap((kind): OperatorChannel[] => {
    const settings = CHANNELS[kind].fromEnvironment(values)
    return settings === null ? [] : [{ id: `operator-${kind}`, kind, mode: values.NOTIFY_MODE, settings }]
  })
  return { channels, owners: values.NOTIFY_OWNERS }
}

// The variables of the task queue and of its tasks.

export const TASK_VARIABLES = {
  MAX_RUNNING_TASKS: wholeNumber(1, 100, 3),
  MAX_ATTEMPTS: wholeNumber(1, 10, 3),
  TASK_TIMEOUT_SECONDS: wholeNumber(5, 3600, 300),
  MAX_RUNNING_TASKS_PER_OWNER: optionalWholeNumber(1, 100),
  STAGE_TIMEOUT_SECONDS: wholeNumber(1, 3600, 180),
  MAX_QUEUE_AGE_SECONDS: wholeNumber(1, 86_400, 600),
  MARKET_REVIEW_REGION: variable(
    z.string().default('cn'),
    'a comma-separated list of cn, hk, us, jp, kr, tw, or "both"',
  ),
  COLOR_SCHEME: choice(['red_up', 'green_up'], 'green_up'),
} as const

type TaskValues = ValuesOf<typeof TASK_VARIABLES>

export type TaskConfig = {
  /** Limit for one owner. */
  maxRunningPerOwner: number
  /** How long a stage may take without progress. */
  stageTimeoutMs: number
  /** If the oldest waiting task is older, the service reports itself as degraded. */
  maxQueueAgeMs: number
  /** The regions of a review without any; invalid words are ignored. */
  reviewRegion: string
  colorScheme: 'red_up' | 'green_up'
}

export function taskConfig(values: TaskValues): TaskConfig {
  return {
    maxRunningPerOwner: Math.min(
      values.MAX_RUNNING_TASKS,
      values.MAX_RUNNING_TASKS_PER_OWNER ?? values.MAX_RUNNING_TASKS,
    ),
    stageTimeoutMs: values.STAGE_TIMEOUT_SECONDS * 1000,
    maxQueueAgeMs: values.MAX_QUEUE_AGE_SECONDS * 1000,
    reviewRegion: values.MARKET_REVIEW_REGION,
    colorScheme: values.COLOR_SCHEME,
  }
}

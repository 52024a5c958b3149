// Which market data providers are asked, in which order. What each needs is declared with it.

import { z } from 'zod'
import {
  listed,
  optionalBaseUrl,
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

const LIVE = MARKET_SOURCES.filter((name) => MARKET_PROVIDERS[name].isLive)

export const MARKET_VARIABLES = {
  MARKET_DATA: variable(
    listed(LIVE.join()).pipe(z.array(z.enum(MARKET_SOURCES)).min(1)),
    `a comma-separated list of ${MARKET_SOURCES.join(', ')}`,
  ),
} as const

export const MARKET_PROVIDER_VARIABLES = { ...variablesOf(MARKET_PROVIDERS), ...NAME_LIST_VARIABLES }

export const marketSources = (values: ValuesOf<typeof MARKET_VARIABLES>): MarketSource[] => [
  ...new Set(values.MARKET_DATA),
]

// Which search providers are asked for news, in which order, and what is asked beside them. What each provider needs is
// declared with it.

export const NEWS_VARIABLES = {
  NEWS_SEARCH: variable(
    listed(SEARCH_NAMES.join()).pipe(z.array(z.enum(SEARCH_NAMES))),
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

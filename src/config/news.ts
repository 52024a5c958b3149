// Which search providers are asked for news, in which order, and what is asked beside them. What each provider needs is
// declared with it.

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
import { SEARCH_NAMES, SEARCH_PROVIDERS, type SearchName } from '../news/providers/registry.ts'

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

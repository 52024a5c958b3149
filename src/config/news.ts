// The variables of the news search. A search provider without its key, or an own one without its address, is left out.

import { z } from 'zod'

const baseUrl = (fallback: string) =>
  z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .default(fallback)

const address = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''))
// Goes into a header or a query as it stands.
const key = z.string().regex(/^[\x21-\x7e]{1,200}$/)

export const SEARCH_NAMES = ['tavily', 'brave', 'serpapi', 'bocha', 'searxng'] as const

export const NEWS_SCHEMAS = {
  NEWS_SEARCH: z
    .string()
    .default('bocha,tavily,brave,serpapi,searxng')
    .transform((text) => text.split(',').map((part) => part.trim()))
    .transform((names) => names.filter((name) => name !== ''))
    .pipe(z.array(z.enum(SEARCH_NAMES))),
  NEWS_MAX_AGE_DAYS: z.coerce.number().int().min(1).max(30).default(3),
  TAVILY_URL: baseUrl('https://api.tavily.com'),
  TAVILY_API_KEY: key.optional(),
  BRAVE_URL: baseUrl('https://api.search.brave.com'),
  BRAVE_API_KEY: key.optional(),
  SERPAPI_URL: baseUrl('https://serpapi.com'),
  SERPAPI_API_KEY: key.optional(),
  BOCHA_URL: baseUrl('https://api.bocha.cn'),
  BOCHA_API_KEY: key.optional(),
  SEARXNG_URL: address.optional(),
  SOCIAL_SENTIMENT_URL: address.optional(),
  SOCIAL_SENTIMENT_API_KEY: key.optional(),
} as const

export const NEWS_SECRETS = [
  'TAVILY_API_KEY',
  'BRAVE_API_KEY',
  'SERPAPI_API_KEY',
  'BOCHA_API_KEY',
  'SOCIAL_SENTIMENT_API_KEY',
] as const

const KEY = 'a key as its provider gave it, without blanks'
const URL_ALLOWED = 'an http(s) URL'

export const NEWS_ALLOWED: { [Name in keyof typeof NEWS_SCHEMAS]: string } = {
  NEWS_SEARCH: `a comma-separated list of ${SEARCH_NAMES.join(', ')}`,
  NEWS_MAX_AGE_DAYS: 'a whole number from 1 to 30',
  TAVILY_URL: URL_ALLOWED,
  TAVILY_API_KEY: KEY,
  BRAVE_URL: URL_ALLOWED,
  BRAVE_API_KEY: KEY,
  SERPAPI_URL: URL_ALLOWED,
  SERPAPI_API_KEY: KEY,
  BOCHA_URL: URL_ALLOWED,
  BOCHA_API_KEY: KEY,
  SEARXNG_URL: URL_ALLOWED,
  SOCIAL_SENTIMENT_URL: URL_ALLOWED,
  SOCIAL_SENTIMENT_API_KEY: KEY,
}

type Parsed = { [Name in keyof typeof NEWS_SCHEMAS]: z.output<(typeof NEWS_SCHEMAS)[Name]> }

export type NewsConfig = {
  /** In the order in which they are asked. */
  search: (typeof SEARCH_NAMES)[number][]
  maxAgeDays: number
  tavily: { url: string; key: string | null }
  brave: { url: string; key: string | null }
  serpapi: { url: string; key: string | null }
  bocha: { url: string; key: string | null }
  searxngUrl: string | null
  social: { url: string; key: string | null } | null
}

export function newsConfig(values: Parsed): NewsConfig {
  return {
    search: [...new Set(values.NEWS_SEARCH)],
    maxAgeDays: values.NEWS_MAX_AGE_DAYS,
    tavily: { url: values.TAVILY_URL, key: values.TAVILY_API_KEY ?? null },
    brave: { url: values.BRAVE_URL, key: values.BRAVE_API_KEY ?? null },
    serpapi: { url: values.SERPAPI_URL, key: values.SERPAPI_API_KEY ?? null },
    bocha: { url: values.BOCHA_URL, key: values.BOCHA_API_KEY ?? null },
    searxngUrl: values.SEARXNG_URL ?? null,
    social:
      values.SOCIAL_SENTIMENT_URL === undefined
        ? null
        : { url: values.SOCIAL_SENTIMENT_URL, key: values.SOCIAL_SENTIMENT_API_KEY ?? null },
  }
}

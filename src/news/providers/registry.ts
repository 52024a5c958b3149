// The search providers, in their default order; NEWS_SEARCH may set another one.

import { baseUrl, type LazyUnit, lazyUnit, optionalBaseUrl, providerKey } from '../../lib/variables.ts'
import type { SearchProvider, SearchProviderDeps } from '../search-provider.ts'

export const SEARCH_PROVIDERS = {
  bocha: lazyUnit({
    variables: { BOCHA_URL: baseUrl('https://api.bocha.cn'), BOCHA_API_KEY: providerKey() },
    load: () => import('./bocha.ts'),
    make: ({ bocha }, { BOCHA_URL: url, BOCHA_API_KEY: key }, deps: SearchProviderDeps) =>
      key === undefined ? null : bocha({ ...deps, url, key }),
  }),
  tavily: lazyUnit({
    variables: { TAVILY_URL: baseUrl('https://api.tavily.com'), TAVILY_API_KEY: providerKey() },
    load: () => import('./tavily.ts'),
    make: ({ tavily }, { TAVILY_URL: url, TAVILY_API_KEY: key }, deps: SearchProviderDeps) =>
      key === undefined ? null : tavily({ ...deps, url, key }),
  }),
  brave: lazyUnit({
    variables: { BRAVE_URL: baseUrl('https://api.search.brave.com'), BRAVE_API_KEY: providerKey() },
    load: () => import('./brave.ts'),
    make: ({ brave }, { BRAVE_URL: url, BRAVE_API_KEY: key }, deps: SearchProviderDeps) =>
      key === undefined ? null : brave({ ...deps, url, key }),
  }),
  serpapi: lazyUnit({
    variables: { SERPAPI_URL: baseUrl('https://serpapi.com'), SERPAPI_API_KEY: providerKey() },
    load: () => import('./serpapi.ts'),
    make: ({ serpapi }, { SERPAPI_URL: url, SERPAPI_API_KEY: key }, deps: SearchProviderDeps) =>
      key === undefined ? null : serpapi({ ...deps, url, key }),
  }),
  searxng: lazyUnit({
    variables: { SEARXNG_URL: optionalBaseUrl() },
    load: () => import('./searxng.ts'),
    make: ({ searxng }, { SEARXNG_URL: url }, deps: SearchProviderDeps) =>
      url === undefined ? null : searxng({ ...deps, url }),
  }),
} as const satisfies Record<string, LazyUnit<SearchProviderDeps, SearchProvider>>

export type SearchName = keyof typeof SEARCH_PROVIDERS

export const SEARCH_NAMES = Object.keys(SEARCH_PROVIDERS) as SearchName[]

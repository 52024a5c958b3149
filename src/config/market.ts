// Which market data providers are asked, in which order. What each needs is declared with it.

import { z } from 'zod'
import { listed, type ValuesOf, variable, variablesOf } from '../lib/variables.ts'
import {
  MARKET_PROVIDERS,
  MARKET_SOURCES,
  type MarketSource,
  NAME_LIST_VARIABLES,
} from '../market/providers/registry.ts'

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

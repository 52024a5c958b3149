// The market data of the configured sources. Cached answers, and the failing sources, are in the database.

import { config } from '../config.ts'
import { answerStore, gateStore } from '../db/market-state.ts'
import { mainlandNames, saveChangedNames, stockNameStore } from '../db/stock-names.ts'
import { currentNames, forgetNames } from '../kits/market-names/index.ts'
import { systemClock } from '../lib/clock.ts'
import type { Fetch } from '../lib/http-client.ts'
import type { Refreshed } from '../market/names/refresh.ts'
import type { AnswerStore } from '../market/providers/answer-cache.ts'
import { storedGate } from '../market/providers/gate.ts'
import type { MarketData } from '../market/providers/index.ts'

export type MarketDataOptions = {
  /** For callers with a cache of their own. */
  store?: AnswerStore
  /** For callers that count their requests. */
  fetch?: Fetch
}

export async function marketDataOf(env: Env, { store, fetch }: MarketDataOptions = {}): Promise<MarketData> {
  const settings = config(env)
  const { createMarketData } = await import('../market/providers/index.ts')
  return createMarketData({
    providers: settings.marketData,
    variables: settings.variables,
    timeoutMs: settings.fetchTimeoutMs,
    gate: storedGate(gateStore(env.DB), systemClock),
    store: store ?? answerStore(env.DB),
    ...(fetch === undefined ? {} : { fetch }),
  })
}

/** Compares the names of mainland stocks with a provider's list and stores the changes. It takes about a minute. */
export async function refreshStockNames(env: Env): Promise<Refreshed> {
  const { refreshNames } = await import('../market/names/refresh.ts')
  const { nameSources } = await import('../market/names/sources.ts')
  // Stores the packaged list first, if that has not happened yet.
  await currentNames(stockNameStore(env.DB))
  const gate = storedGate(gateStore(env.DB), systemClock)
  const { marketData: providers, variables } = config(env)
  const sources = nameSources({ providers, variables }, { clock: systemClock, gate })
  const store = { known: () => mainlandNames(env.DB), save: saveChangedNames.bind(null, env.DB) }
  const refreshed = await refreshNames(store, sources, systemClock)
  forgetNames()
  return refreshed
}

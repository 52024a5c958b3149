// The refresh of the lists beside the mainland's shares, with what it needs of this environment.

import { config } from '../config.ts'
import { gateStore } from '../db/market-state.ts'
import { allNames, saveChangedNames, stockNameStore } from '../db/stock-names.ts'
import { currentNames, forgetNames } from '../kits/market-names/index.ts'
import { systemClock } from '../lib/clock.ts'
import type { ListRefreshed } from '../market/names/refresh-lists.ts'
import { storedGate } from '../market/providers/stored-gate.ts'

export async function refreshMarketLists(env: Env): Promise<ListRefreshed[]> {
  const { marketLists } = await import('../market/names/sources.ts')
  const { refreshLists } = await import('../market/names/refresh-lists.ts')
  // Lays the packaged list down first, where that has not happened yet.
  await currentNames(stockNameStore(env.DB))
  const gate = storedGate(gateStore(env.DB), systemClock)
  const { marketData: providers, variables } = config(env)
  const store = { known: () => allNames(env.DB), save: saveChangedNames.bind(null, env.DB) }
  const outcomes = await refreshLists(
    store,
    marketLists({ providers, variables, clock: systemClock, gate }),
    systemClock,
  )
  forgetNames()
  return outcomes
}

// From configuration to providers, in the configured order.

import type { Clock } from '../../lib/clock.ts'
import type { Fetch } from '../../lib/http-client.ts'
import { madeOf, type RawVariables } from '../../lib/variables.ts'
import { type GateKeeper, paceOf } from './gate.ts'
import type { MarketDataProvider } from './provider.ts'
import { MARKET_PROVIDERS } from './registry.ts'

export type SourceOptions = {
  /** Names of providers in the order in which they are asked. */
  providers: readonly string[]
  /** Their addresses and keys; by default every provider is where it is usually found. */
  variables?: RawVariables
  fetch?: Fetch
}

export function buildProviders(
  { providers, variables = {}, fetch }: SourceOptions,
  { clock, gate }: { clock: Clock; gate: GateKeeper },
): Promise<MarketDataProvider[]> {
  const deps = { clock, pace: paceOf(gate), ...(fetch === undefined ? {} : { fetch }) }
  return madeOf(MARKET_PROVIDERS, providers, { variables, deps })
}

// One request to a model, with everything that is known about the model.

import type { AddressPolicy } from '../lib/address-policy.ts'
import type { ModelChoice } from './choose.ts'
import type { CallNote } from './metrics.ts'
import type { AskOptions, Prompt } from './model.ts'
import type { Patience } from './wire.ts'

export type Prices = {
  /** In US dollars per million tokens. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export type ModelFacts = {
  readonly contextWindow: number | null
  readonly maxOutputTokens: number | null
  readonly callsTools: boolean
  readonly seesImages: boolean
  readonly reasons: boolean
  readonly takesTemperature: boolean
  readonly prices: Prices | null
}

/** How tools are offered: the best way for the model, the vendor's own tool calls, or by the prompt. */
export type ToolProtocol = 'auto' | 'native' | 'prompted'

/** The use of one call. In billionths of a US dollar, so that sums are exact; null when the model's price is unknown. */
export type CallCost = { readonly tokens: number; readonly nanoUsd: number | null }

export type Purse = {
  /**
   * Resolves once the most that the call may use is reserved, with a function that takes the actual use and never
   * throws; with null when there is no budget. Throws `ModelError` when the call is refused, and the signal's reason
   * when it is stopped.
   */
  reserve(most: CallCost, signal?: AbortSignal): Promise<((used: CallCost) => Promise<void>) | null>
}

export type ModelDeps = {
  /** For addresses that a user chose. */
  readonly addressPolicy: AddressPolicy
  readonly patience?: Patience
  readonly toolProtocol?: ToolProtocol
  /** The binding of Workers AI. */
  readonly ai?: unknown
  readonly fetch?: typeof fetch
  /** What pays for the calls; null for calls without a budget. */
  readonly purse: Purse | null
  /** Called for each request once it has ended, in whatever way. */
  readonly onCall?: (note: CallNote) => void
}

/** Parameters that the vendor refused; they are left out from then on. */
export type LeftOut = { temperature: boolean; reasoning: boolean; schema: boolean; usage: boolean }

export type Ask = {
  readonly choice: ModelChoice
  readonly facts: ModelFacts
  readonly deps: ModelDeps & { fetch: typeof fetch; patience: Patience }
  readonly leftOut: Readonly<LeftOut>
  readonly prompt: Prompt
  readonly options: AskOptions
}

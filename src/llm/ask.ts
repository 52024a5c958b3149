// One question to a model at a vendor, with all that is known of whom it goes to.

import type { AddressPolicy } from '../lib/address-policy.ts'
import type { ModelChoice } from './choose.ts'
import type { AskOptions, Prompt } from './model.ts'
import type { Patience } from './wire.ts'

export type Prices = {
  /** In US dollars for a million tokens. */
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

/** How tools are offered: the way that fits the model, the vendor's own calls, or by the prompt. */
export type ToolProtocol = 'auto' | 'native' | 'prompted'

export type ModelMeans = {
  /** For addresses that a user chose. */
  readonly addressPolicy: AddressPolicy
  readonly patience?: Patience
  readonly toolProtocol?: ToolProtocol
  /** The binding of Workers AI. */
  readonly ai?: unknown
  readonly fetch?: typeof fetch
}

/** What a vendor turned out not to take; it is left out from then on. */
export type LeftOut = { temperature: boolean; reasoning: boolean; schema: boolean; usage: boolean }

export type Ask = {
  readonly choice: ModelChoice
  readonly facts: ModelFacts
  readonly means: ModelMeans & { fetch: typeof fetch; patience: Patience }
  readonly leftOut: Readonly<LeftOut>
  readonly prompt: Prompt
  readonly options: AskOptions
}

// One request to a model, with everything that is known of the model.

import type { AddressPolicy } from '../lib/address-policy.ts'
import type { ModelChoice } from './choose.ts'
import type { CallNote } from './metrics.ts'
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

/** How tools are offered: the best way for the model, the vendor's own tool calls, or by the prompt. */
export type ToolProtocol = 'auto' | 'native' | 'prompted'

export type ModelDeps = {
  /** For addresses that a user chose. */
  readonly addressPolicy: AddressPolicy
  readonly patience?: Patience
  readonly toolProtocol?: ToolProtocol
  /** The binding of Workers AI. */
  readonly ai?: unknown
  readonly fetch?: typeof fetch
  /** Told of each request once it has ended, however it ended. */
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

// The interface to a language model; code with access to a model implements it. The analysis only defines the task and
// the shape of the answer.

import type { NarratorFault } from './codes.ts'

export type NarratorRequest = {
  system: string
  prompt: string
  /** JSON Schema of the answer. */
  schema: Record<string, unknown>
  signal: AbortSignal
  /** Called now and then while an answer arrives, with the number of characters so far. */
  onText?: (characters: number) => void
  /** Called for a failed try that another one follows, of the same model or of a fallback. */
  onRetry?: (failed: NarratorError) => void
  /** Called when the next try begins, with its model. */
  onTry?: (model: string) => void
}

export type NarratorReply = {
  /** The answer, as text or parsed. */
  output: unknown
  /** The model that answered, under its usual name. */
  model: string
  provider: string | null
  tokens: number | null
  /** The two parts of `tokens`; absent when they are unknown. */
  usage?: { input: number; output: number }
  /** The answer ended because of its length limit, not because it was complete. */
  isCutOff: boolean
}

export type Narrator = {
  /** The model that is asked first, under its usual name; null or absent when it is unknown. */
  model?: string | null
  /** Throws `NarratorError` when there is no answer. */
  complete(request: NarratorRequest): Promise<NarratorReply>
}

/** Why a model gave no usable answer, as a word that a reader can act on. */
export class NarratorError extends Error {
  override readonly name = 'NarratorError'
  readonly fault: NarratorFault
  readonly model: string | null

  constructor(fault: NarratorFault, { model = null, cause }: { model?: string | null; cause?: unknown } = {}) {
    super(`the model gave no answer: ${fault}`, { cause })
    this.fault = fault
    this.model = model
  }
}

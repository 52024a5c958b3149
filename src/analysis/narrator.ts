// The interface to a language model, implemented by whoever has access to one. The analysis only says what it wants written
// and what shape the answer must have.

import type { NarratorFault } from './codes.ts'

export type NarratorRequest = {
  system: string
  prompt: string
  /** JSON Schema of the answer. */
  schema: Record<string, unknown>
  signal: AbortSignal
  /** Told now and then while an answer arrives, with how many characters there are. */
  onText?: (characters: number) => void
  /** Told of a try that failed and is followed by another, of the same model or of one that stands in for it. */
  onRetry?: (failed: NarratorError) => void
  /** Told when the next try begins, and of which model. */
  onTry?: (model: string) => void
}

export type NarratorReply = {
  /** The answer, as text or parsed. */
  output: unknown
  /** The model that answered, as people name it. */
  model: string
  provider: string | null
  tokens: number | null
  /** The two parts of `tokens`; absent where nobody knows. */
  usage?: { input: number; output: number }
  /** The answer ended because it was too long, not because it was done. */
  isCutOff: boolean
}

export type Narrator = {
  /** The model that is asked first, as people name it; null or absent where nobody knows. */
  model?: string | null
  /** Throws `NarratorError` when no answer comes. */
  complete(request: NarratorRequest): Promise<NarratorReply>
}

/** Why a model gave no usable answer, in a word that a reader can act on. */
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

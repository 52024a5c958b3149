// Several models as one: when the first cannot answer at the moment, the next is asked at once.

import {
  type AskOptions,
  type LanguageModel,
  ModelError,
  type ModelFailure,
  type ModelReply,
  type Prompt,
} from './model.ts'

/** What another vendor would say no better. */
const SAME_EVERYWHERE: ReadonlySet<ModelFailure> = new Set(['context_too_long', 'content_policy', 'bad_request'])

export function fallbackModel(first: LanguageModel, others: readonly LanguageModel[]): LanguageModel {
  const all = [first, ...others]
  const windows = all.flatMap(({ contextWindow }) => (contextWindow === null ? [] : [contextWindow]))
  return {
    id: first.id,
    // What is shown to one has to fit all of them.
    contextWindow: windows.length === 0 ? null : Math.min(...windows),
    seesImages: first.seesImages,
    ask: (prompt, options = {}) => askInTurn(all, prompt, options),
  }
}

async function askInTurn(models: readonly LanguageModel[], prompt: Prompt, options: AskOptions): Promise<ModelReply> {
  const failures: ModelError[] = []
  let isSilent = true
  const onDelta: AskOptions['onDelta'] = (delta) => {
    isSilent = false
    options.onDelta?.(delta)
  }
  for (const model of models) {
    try {
      return await model.ask(prompt, { ...options, onDelta })
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!(error instanceof ModelError)) throw error
      failures.push(error)
      // What was shown cannot be taken back: whoever asked decides whether to begin anew.
      if (!isSilent || SAME_EVERYWHERE.has(error.kind)) break
    }
  }
  throw failures.find(({ isPassing }) => isPassing) ?? failures[0]
}

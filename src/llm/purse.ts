// The most that a model call may use is reserved before it, and its actual use is reported after it. This file computes
// these amounts; the caller provides the budget.

import type { CallCost, ModelFacts, Prices, Purse } from './ask.ts'
import { answeredNote, type CallNote, failedNote, textTokens, tokensOf } from './metrics.ts'
import type { LanguageModel, ModelDelta, ModelReply, Prompt } from './model.ts'

/** The model with its calls paid from the purse. */
export function paidModel(model: LanguageModel, facts: ModelFacts, purse: Purse): LanguageModel {
  const { id, contextWindow, seesImages } = model
  return {
    id,
    contextWindow,
    seesImages,
    async ask(prompt, options = {}) {
      const settle = await purse.reserve(mostOf(prompt, facts, options.maxOutputTokens), options.signal)
      if (settle === null) return model.ask(prompt, options)
      const called = { at: Date.now(), model: id, prompt }
      let written = 0
      const onDelta = (delta: ModelDelta) => {
        written += textTokens(delta.text)
        options.onDelta?.(delta)
      }
      const asked = model.ask(prompt, { ...options, onDelta })
      const used = await asked.then(
        (reply) => answeredCost(answeredNote(called, reply), { reply, prices: facts.prices }),
        (error: unknown) => failedCost(failedNote(called, error), { written, prices: facts.prices }),
      )
      await settle(used)
      return asked
    },
  }
}

/** The reservation for the answer of a model whose maximum output is unknown. */
const UNKNOWN_OUTPUT = 32_768
/** Tokens are estimated; no known text has twice as many. */
const CAUTION = 2
/** Tokens that vendors add around a message. */
const PER_MESSAGE = 16

function mostOf(prompt: Prompt, { maxOutputTokens, prices }: ModelFacts, wanted: number | undefined): CallCost {
  const asked = CAUTION * tokensOf(prompt) + PER_MESSAGE * (prompt.messages.length + 1)
  const longest = Math.min(wanted ?? Number.POSITIVE_INFINITY, maxOutputTokens ?? Number.POSITIVE_INFINITY)
  const answered = Number.isFinite(longest) ? longest : UNKNOWN_OUTPUT
  const dearest = prices === null ? 0 : Math.max(prices.input, prices.cacheRead, prices.cacheWrite)
  return {
    tokens: asked + answered,
    nanoUsd: prices === null ? null : nanoOf(asked * dearest + answered * prices.output),
  }
}

type Answered = { reply: ModelReply; prices: Prices | null }

function answeredCost(note: CallNote, { reply, prices }: Answered): CallCost {
  // The vendor's own figure, or the catalogue's price minus the discount of the vendor's cache.
  if (reply.cost > 0) return { tokens: bothWays(note), nanoUsd: Math.round(reply.cost * 1e9) }
  return costOf(note, prices)
}

/** For an answer that failed or was stopped, the text so far counts, including reasoning. */
function failedCost(note: CallNote, { written, prices }: { written: number; prices: Prices | null }): CallCost {
  return costOf({ ...note, completionTokens: Math.max(note.completionTokens, written) }, prices)
}

function costOf(note: Pick<CallNote, 'promptTokens' | 'completionTokens'>, prices: Prices | null): CallCost {
  const { promptTokens: asked, completionTokens: answered } = note
  const nanoUsd = prices === null ? null : nanoOf(asked * prices.input + answered * prices.output)
  return { tokens: bothWays(note), nanoUsd }
}

const bothWays = (note: Pick<CallNote, 'promptTokens' | 'completionTokens'>): number =>
  note.promptTokens + note.completionTokens

/** Prices are in dollars per million tokens. */
const nanoOf = (millionths: number): number => Math.ceil(millionths * 1_000)

// Estimates how many tokens a text has. No tokenizer is needed: the vendor's own counts correct the estimate. A tokenizer's
// tables would be larger than the rest of the service.

import type { Prompt, PromptMessage, PromptPart } from '../llm/model.ts'

const PER_MESSAGE = 4
/** The tokens that vendors count for a picture of usual size. */
const PER_IMAGE = 1_200

/** In scripts without spaces between words, one character is about one token. */
const DENSE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/g

export function textTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0
  return Math.ceil((text.length - dense) / 3.6 + dense * 0.9)
}

export function messageTokens(message: PromptMessage): number {
  if (message.role !== 'assistant') return PER_MESSAGE + partsTokens(message.content)
  const calls = message.calls.reduce(
    (sum, { name, arguments: text }) => sum + PER_MESSAGE + textTokens(name) + textTokens(text),
    0,
  )
  return PER_MESSAGE + textTokens(message.text) + calls
}

function partsTokens(parts: readonly PromptPart[]): number {
  return parts.reduce((sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : PER_IMAGE), 0)
}

/** Tokens of the system text and the tools, which are sent with every question. */
export function fixedTokens({ system, tools }: Pick<Prompt, 'system' | 'tools'>): number {
  return textTokens(system) + textTokens(JSON.stringify(tools))
}

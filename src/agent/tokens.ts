// How many tokens a text takes. A guess that needs no tokenizer, set right by what the vendor counted: nobody else knows
// how a model cuts words, and a tokenizer's tables are larger than the rest of the service.

import type { Prompt, PromptMessage, PromptPart } from '../llm/model.ts'

const PER_MESSAGE = 4
/** What vendors count for a picture of usual size. */
const PER_IMAGE = 1_200

/** Scripts that are written without blanks between words take about a token for each character. */
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

/** Of the system text and the tools, which go along with every question. */
export function fixedTokens({ system, tools }: Pick<Prompt, 'system' | 'tools'>): number {
  return textTokens(system) + textTokens(JSON.stringify(tools))
}

const WIDEST_SCALE = 3

/**
 * By how much the guess is off, from an answer whose prompt the vendor counted. An odd count (a gateway that tells only
 * part of it) does not lead far astray.
 */
export function tokenScale(guessed: number, counted: number): number {
  if (guessed <= 0 || counted <= 0) return 1
  return Math.min(WIDEST_SCALE, Math.max(1 / WIDEST_SCALE, counted / guessed))
}

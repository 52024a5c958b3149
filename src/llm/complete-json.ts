// Asks a model for one JSON value of a given shape. An answer that does not fit is shown to the model once, with what is
// wrong with it.

import { z } from 'zod'
import { type LanguageModel, ModelError, type ModelReply, type Prompt, type TokenUsage } from './model.ts'
import { NO_USAGE } from './reply-builder.ts'

export type JsonQuestion<Schema extends z.ZodType> = {
  readonly system: string
  readonly prompt: string
  readonly schema: Schema
  readonly maxOutputTokens?: number
}

export type JsonAnswer<Value> = { value: Value; usage: TokenUsage; cost: number }

/** Throws `ModelError`: `unusable_reply` when the second answer does not fit either. */
export async function completeJson<Schema extends z.ZodType>(
  model: LanguageModel,
  question: JsonQuestion<Schema>,
  signal?: AbortSignal,
): Promise<JsonAnswer<z.output<Schema>>> {
  const { schema, maxOutputTokens } = question
  const jsonSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const options = {
    schema: jsonSchema,
    ...(signal === undefined ? {} : { signal }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  }
  const system = `${question.system}\n\nAnswer with one JSON value and nothing else. Its JSON Schema: ${JSON.stringify(jsonSchema)}`
  const prompt: Prompt = {
    system,
    messages: [{ role: 'user', content: [{ type: 'text', text: question.prompt }] }],
    tools: [],
  }
  const first = await model.ask(prompt, options)
  const read = readJson(first.text, schema)
  if (read.ok) return { value: read.value, ...spent([first]) }
  const second = await model.ask(corrected(prompt, first, read.fault), options)
  const again = readJson(second.text, schema)
  if (again.ok) return { value: again.value, ...spent([first, second]) }
  throw new ModelError('unusable_reply', `The model ${model.id} did not answer in the form that was asked for.`, {
    partialText: second.text,
  })
}

const MAX_SHOWN_CHARS = 20_000

function corrected(prompt: Prompt, { text }: ModelReply, fault: string): Prompt {
  const shown = text.slice(0, MAX_SHOWN_CHARS)
  const ask = `That does not fit: ${fault}\nAnswer again, with the whole JSON value and nothing else.`
  return {
    ...prompt,
    messages: [
      ...prompt.messages,
      { role: 'assistant', text: shown, calls: [] },
      { role: 'user', content: [{ type: 'text', text: ask }] },
    ],
  }
}

type Read<Value> = { ok: true; value: Value } | { ok: false; fault: string }

function readJson<Schema extends z.ZodType>(text: string, schema: Schema): Read<z.output<Schema>> {
  const parsed = jsonIn(text)
  if (parsed === null) return { ok: false, fault: 'it holds no complete JSON value.' }
  const result = schema.safeParse(parsed.value)
  return result.success
    ? { ok: true, value: result.data }
    : { ok: false, fault: z.prettifyError(result.error).slice(0, 2_000) }
}

/** The value that a text is, or the outermost one in it: models like to wrap it in a fence or in kind words. */
function jsonIn(text: string): { value: unknown } | null {
  const plain = text.replace(/<think(ing)?>[\s\S]*?<\/think(ing)?>/gi, '').trim()
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(plain)?.[1]
  const from = plain.search(/[{[]/)
  const to = Math.max(plain.lastIndexOf('}'), plain.lastIndexOf(']'))
  const candidates = [
    plain,
    ...(fenced === undefined ? [] : [fenced]),
    ...(from === -1 ? [] : [plain.slice(from, to + 1)]),
  ]
  for (const candidate of candidates) {
    const value = parsed(candidate)
    if (value !== undefined) return { value }
  }
  return null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // Not this piece: the next one is tried, and the model is told when none is left.
    return undefined
  }
}

function spent(replies: readonly ModelReply[]): { usage: TokenUsage; cost: number } {
  let usage = NO_USAGE
  let cost = 0
  for (const reply of replies) {
    usage = {
      promptTokens: usage.promptTokens + reply.usage.promptTokens,
      completionTokens: usage.completionTokens + reply.usage.completionTokens,
      cacheReadTokens: usage.cacheReadTokens + reply.usage.cacheReadTokens,
      cacheWriteTokens: usage.cacheWriteTokens + reply.usage.cacheWriteTokens,
    }
    cost += reply.cost
  }
  return { usage, cost }
}

// Converts a scripted answer to the frames of a stream, in the requested API format.

import type { ScriptedCall, ScriptedReply, ScriptedUsage } from './scripted-model-orders.ts'

export type SpokenDialect = 'chat' | 'responses' | 'anthropic' | 'google'

const DEFAULT_CHUNK_CHARS = 24

let answers = 0

export function framesOf(reply: ScriptedReply, dialect: SpokenDialect, model: string): string[] {
  answers += 1
  const answer = { reply, model, id: `answer-${answers}` }
  switch (dialect) {
    case 'chat':
      return chatFrames(answer)
    case 'responses':
      return responsesFrames(answer)
    case 'anthropic':
      return anthropicFrames(answer)
    case 'google':
      return googleFrames(answer)
  }
}

type Answer = { reply: ScriptedReply; model: string; id: string }

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const event = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`

function* pieces(text: string, { chunkChars = DEFAULT_CHUNK_CHARS }: ScriptedReply): Generator<string> {
  for (let at = 0; at < text.length; at += chunkChars) yield text.slice(at, at + chunkChars)
}

const argumentsOf = (call: ScriptedCall): string =>
  typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)

const idOf = (call: ScriptedCall, index: number, answer: Answer): string => call.id ?? `${answer.id}-call-${index}`

const counts = ({ prompt = 100, completion = 20, cacheRead = 0, cacheWrite = 0 }: ScriptedUsage = {}) => ({
  prompt,
  completion,
  cacheRead,
  cacheWrite,
})

function chatFrames(answer: Answer): string[] {
  const { reply, model, id } = answer
  const chunk = (delta: unknown, finish: string | null = null) =>
    data({ id, object: 'chat.completion.chunk', model, choices: [{ index: 0, delta, finish_reason: finish }] })
  const frames = [chunk({ role: 'assistant', content: '' })]
  for (const piece of pieces(reply.reasoning ?? '', reply)) frames.push(chunk({ reasoning_content: piece }))
  for (const piece of pieces(reply.text ?? '', reply)) frames.push(chunk({ content: piece }))
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const head = {
      index,
      id: idOf(call, index, answer),
      type: 'function',
      function: { name: call.name, arguments: '' },
    }
    frames.push(chunk({ tool_calls: [head] }))
    for (const piece of pieces(argumentsOf(call), reply)) {
      frames.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
    }
  }
  if (reply.finish !== null) frames.push(chunk({}, reply.finish ?? (reply.calls?.length ? 'tool_calls' : 'stop')))
  const { prompt, completion, cacheRead } = counts(reply.usage)
  const cost = reply.usage?.cost === undefined ? {} : { cost: reply.usage.cost }
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cacheRead },
    ...cost,
  }
  return [...frames, data({ id, model, choices: [], usage }), 'data: [DONE]\n\n']
}

function anthropicFrames(answer: Answer): string[] {
  const { reply, model, id } = answer
  const { prompt, completion, cacheRead, cacheWrite } = counts(reply.usage)
  const usage = {
    input_tokens: prompt - cacheRead - cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: 1,
  }
  const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage }
  const frames = [event({ type: 'message_start', message } as { type: string })]
  let index = 0
  const block = (start: unknown, deltas: unknown[]) => {
    frames.push(event({ type: 'content_block_start', index, content_block: start } as { type: string }))
    for (const delta of deltas) frames.push(event({ type: 'content_block_delta', index, delta } as { type: string }))
    frames.push(event({ type: 'content_block_stop', index } as { type: string }))
    index += 1
  }
  if (reply.reasoning !== undefined) {
    const thoughts = [...pieces(reply.reasoning, reply)].map((thinking) => ({ type: 'thinking_delta', thinking }))
    const signature = { type: 'signature_delta', signature: `signed:${reply.reasoning.length}` }
    block({ type: 'thinking', thinking: '', signature: '' }, [...thoughts, signature])
  }
  if (reply.text !== undefined) {
    block(
      { type: 'text', text: '' },
      [...pieces(reply.text, reply)].map((text) => ({ type: 'text_delta', text })),
    )
  }
  for (const [at, call] of (reply.calls ?? []).entries()) {
    const written = [...pieces(argumentsOf(call), reply)].map((partial) => ({
      type: 'input_json_delta',
      partial_json: partial,
    }))
    block({ type: 'tool_use', id: idOf(call, at, answer), name: call.name, input: {} }, written)
  }
  if (reply.finish !== null) {
    const stopReason = reply.finish ?? (reply.calls?.length ? 'tool_use' : 'end_turn')
    const delta = { stop_reason: stopReason, stop_sequence: null }
    frames.push(event({ type: 'message_delta', delta, usage: { output_tokens: completion } } as { type: string }))
    frames.push(event({ type: 'message_stop' }))
  }
  return frames
}

function googleFrames(answer: Answer): string[] {
  const { reply, model, id } = answer
  const { prompt, completion, cacheRead } = counts(reply.usage)
  const chunk = (parts: unknown[], more: Record<string, unknown> = {}) =>
    data({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      modelVersion: model,
      responseId: id,
    })
  const frames: string[] = []
  for (const text of pieces(reply.reasoning ?? '', reply)) frames.push(chunk([{ text, thought: true }]))
  for (const text of pieces(reply.text ?? '', reply)) frames.push(chunk([{ text }]))
  for (const [at, call] of (reply.calls ?? []).entries()) {
    const args: unknown = typeof call.arguments === 'string' ? JSON.parse(call.arguments) : call.arguments
    frames.push(chunk([{ functionCall: { name: call.name, args }, thoughtSignature: `signature-${at}` }]))
  }
  const usageMetadata = {
    promptTokenCount: prompt,
    candidatesTokenCount: completion,
    cachedContentTokenCount: cacheRead,
    totalTokenCount: prompt + completion,
  }
  const finish = {
    candidates: [{ content: { role: 'model', parts: [] }, finishReason: reply.finish ?? 'STOP', index: 0 }],
  }
  if (reply.finish !== null) frames.push(data({ ...finish, usageMetadata, modelVersion: model, responseId: id }))
  return frames
}

function responsesFrames(answer: Answer): string[] {
  const { reply, model, id } = answer
  const frames: string[] = []
  let sequence = 0
  const say = (type: string, more: Record<string, unknown>) => {
    frames.push(event({ type, sequence_number: sequence, ...more } as { type: string }))
    sequence += 1
  }
  const base = { id, object: 'response', created_at: 1_700_000_000, model, output: [], status: 'in_progress' }
  say('response.created', { response: base })
  let at = 0
  const item = (open: Record<string, unknown>, closed: Record<string, unknown>, between: (at: number) => void) => {
    say('response.output_item.added', { output_index: at, item: { ...open } })
    between(at)
    say('response.output_item.done', { output_index: at, item: { ...open, ...closed } })
    at += 1
  }
  if (reply.reasoning !== undefined) {
    const itemId = `${id}-thought`
    const sealed = { encrypted_content: `sealed:${reply.reasoning.length}` }
    const open = { type: 'reasoning', id: itemId, summary: [], encrypted_content: null }
    item(open, sealed, (output_index) => {
      say('response.reasoning_summary_part.added', { item_id: itemId, output_index, summary_index: 0, part: {} })
      for (const delta of pieces(reply.reasoning ?? '', reply)) {
        say('response.reasoning_summary_text.delta', { item_id: itemId, output_index, summary_index: 0, delta })
      }
    })
  }
  if (reply.text !== undefined) {
    const itemId = `${id}-text`
    const open = { type: 'message', id: itemId, role: 'assistant', status: 'in_progress', content: [] }
    const content = [{ type: 'output_text', text: reply.text, annotations: [] }]
    item(open, { status: 'completed', content }, (output_index) => {
      for (const delta of pieces(reply.text ?? '', reply)) {
        say('response.output_text.delta', { item_id: itemId, output_index, content_index: 0, delta })
      }
    })
  }
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const itemId = `${id}-item-${index}`
    const open = {
      type: 'function_call',
      id: itemId,
      call_id: idOf(call, index, answer),
      name: call.name,
      arguments: '',
    }
    item(open, { arguments: argumentsOf(call), status: 'completed' }, (output_index) => {
      for (const delta of pieces(argumentsOf(call), reply)) {
        say('response.function_call_arguments.delta', { item_id: itemId, output_index, delta })
      }
    })
  }
  const { prompt, completion, cacheRead } = counts(reply.usage)
  const usage = {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + completion,
  }
  if (reply.finish !== null) say('response.completed', { response: { ...base, status: 'completed', usage } })
  return frames
}

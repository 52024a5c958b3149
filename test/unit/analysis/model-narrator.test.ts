import { expect, test } from 'vitest'
import { NarratorError, type NarratorRequest } from '../../../src/analysis/narrator.ts'
import { failingNarrator, modelNarrator } from '../../../src/analysis/write/model-narrator.ts'
import { type LanguageModel, ModelError, type ModelReply } from '../../../src/llm/model.ts'

const REPLY: ModelReply = {
  text: '{"a":1}',
  calls: [],
  usage: { promptTokens: 10, completionTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
  cost: 0,
  responseId: 'x',
  finish: 'stop',
  latencyMs: 1,
}

function model(ask: LanguageModel['ask']): LanguageModel {
  return { id: 'deepseek/deepseek-chat', contextWindow: null, seesImages: false, ask }
}

const request = (changes: Partial<NarratorRequest> = {}): NarratorRequest => ({
  system: 'system',
  prompt: 'prompt',
  schema: { type: 'object' },
  signal: new AbortController().signal,
  ...changes,
})

test('a language model is asked for one JSON value, tells how its answer grows, and answers under its name', async () => {
  const grown: number[] = []
  const narrator = modelNarrator(
    model(async (prompt, options) => {
      expect(prompt).toMatchObject({ system: 'system', tools: [], messages: [{ role: 'user' }] })
      expect(options?.schema).toEqual({ type: 'object' })
      options?.onDelta?.({ kind: 'reasoning', text: 'hm' })
      options?.onDelta?.({ kind: 'text', text: '{"a"' })
      options?.onDelta?.({ kind: 'text', text: ':1}' })
      return REPLY
    }),
  )
  expect(await narrator.complete(request({ onText: (count) => void grown.push(count) }))).toEqual({
    output: '{"a":1}',
    model: 'deepseek/deepseek-chat',
    provider: 'deepseek',
    tokens: 15,
    usage: { input: 10, output: 5 },
    isCutOff: false,
  })
  expect(grown).toEqual([4, 7])
  const cut = modelNarrator(model(async () => ({ ...REPLY, finish: 'length' })))
  expect(await cut.complete(request())).toMatchObject({ isCutOff: true })
})

test('what keeps a model from answering is told in a word; who is merely busy is asked once more', async () => {
  const faults: [ConstructorParameters<typeof ModelError>[0], string, string][] = [
    ['authentication', 'no', 'bad_key'],
    ['out_of_credits', 'no', 'quota'],
    ['content_policy', 'no', 'refused'],
    ['bad_request', 'The model `x` does not exist', 'unknown_model'],
    ['bad_request', 'odd', 'refused'],
    ['timeout', 'slow', 'timeout'],
    ['unusable_reply', 'odd', 'bad_json'],
    ['address_refused', 'no', 'refused'],
  ]
  for (const [kind, message, fault] of faults) {
    let calls = 0
    const narrator = modelNarrator(
      model(async () => {
        calls += 1
        throw new ModelError(kind, message)
      }),
    )
    await expect(narrator.complete(request())).rejects.toMatchObject({ fault, model: 'deepseek/deepseek-chat' })
    expect([kind, calls]).toEqual([kind, 1])
  }
  let calls = 0
  const busy = modelNarrator(
    model(async () => {
      calls += 1
      if (calls === 1) throw new ModelError('rate_limit', 'busy', { retryAfterMs: 1 })
      return REPLY
    }),
  )
  expect(await busy.complete(request())).toMatchObject({ output: REPLY.text })
  const long = modelNarrator(
    model(async () => {
      throw new ModelError('rate_limit', 'busy', { retryAfterMs: 60_000 })
    }),
  )
  await expect(long.complete(request())).rejects.toMatchObject({ fault: 'rate_limit' })
  for (const [kind, fault] of [
    ['internal', 'vendor_error'],
    ['unavailable', 'network'],
    ['broken_stream', 'broke_off'],
  ] as const) {
    const failing = modelNarrator(
      model(async () => {
        throw new ModelError(kind, 'no', { retryAfterMs: 1 })
      }),
    )
    await expect(failing.complete(request())).rejects.toMatchObject({ fault })
  }
  await expect(failingNarrator('no_key').complete(request())).rejects.toBeInstanceOf(NarratorError)
})

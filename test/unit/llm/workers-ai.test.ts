import { expect, onTestFinished, test, vi } from 'vitest'
import type { ModelChoice } from '../../../src/llm/choose.ts'
import { languageModel } from '../../../src/llm/client.ts'
import type { Prompt } from '../../../src/llm/model.ts'
import { CLOSED } from '../../helpers/policies.ts'

const CHOICE: ModelChoice = {
  id: 'workers-ai/@cf/meta/llama-3.3-70b-instruct-fp8-fast',
  label: 'Workers AI',
  dialect: 'workers-ai',
  model: '@cf/meta/llama-3.3-70b-instruct-fp8-fast',
  baseUrl: null,
  apiKey: null,
  isTrustedAddress: true,
}
const PROMPT: Prompt = {
  system: 'Be brief.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  tools: [{ name: 'execute_bash', description: 'Runs.', parameters: { type: 'object', properties: {} } }],
}

type Run = (model: string, inputs: unknown) => Promise<unknown>

const modelOver = (run: Run, idleMs = 10_000) =>
  languageModel(CHOICE, {
    addressPolicy: CLOSED,
    purse: null,
    patience: { firstByteMs: idleMs, idleMs, totalMs: null },
    ai: { run },
  })

function streamOf(frames: readonly string[], isOpen = false): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      for (const frame of frames) controller.enqueue(encoder.encode(frame))
      if (!isOpen) controller.close()
    },
  })
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const TEXT = [data({ response: 'Hel' }), data({ response: 'lo.' })]
const END = [
  data({ response: '', usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } }),
  'data: [DONE]\n\n',
]

test('a model behind the binding is asked with the tools, and its answer streams', async () => {
  const asked: unknown[] = []
  const model = await modelOver((name, inputs) => {
    asked.push([name, inputs])
    return Promise.resolve(streamOf([...TEXT, ...END]))
  })
  const shown: string[] = []
  const reply = await model.ask(PROMPT, { onDelta: ({ kind, text }) => void (kind === 'text' && shown.push(text)) })
  expect(reply).toMatchObject({
    text: 'Hello.',
    calls: [],
    finish: 'stop',
    usage: { promptTokens: 12, completionTokens: 3 },
  })
  expect(shown.join('')).toBe('Hello.')
  expect(shown.length).toBeGreaterThan(1)
  expect(JSON.stringify(asked)).toMatch(/@cf\/meta\/llama.*Be brief\..*execute_bash/)
})

test('a binding that fails, falls silent or never answers ends as its failure, and a stop with its reason', async () => {
  const failing = await modelOver(() =>
    Promise.reject(new Error('InferenceUpstreamError: 3040: Capacity temporarily exceeded')),
  )
  await expect(failing.ask(PROMPT)).rejects.toMatchObject({ isPassing: true })
  const never: Run = () => new Promise(() => undefined)
  await expect((await modelOver(never, 200)).ask(PROMPT)).rejects.toMatchObject({ kind: 'timeout', partialText: '' })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const silent = await modelOver(() => Promise.resolve(streamOf(TEXT, true)))
  const shown: string[] = []
  const answering = silent.ask(PROMPT, { onDelta: ({ text }) => void shown.push(text) })
  const late = expect(answering).rejects.toMatchObject({ kind: 'timeout', partialText: 'Hello.' })
  await expect.poll(() => shown.join('')).toBe('Hello.')
  vi.advanceTimersByTime(10_000)
  await late
  const stop = new AbortController()
  const asked = (await modelOver(never)).ask(PROMPT, { signal: stop.signal })
  stop.abort(new Error('the user pressed stop'))
  await expect(asked).rejects.toThrow('the user pressed stop')
})

import { expect, test } from 'vitest'
import type { ModelDeps } from '../../../src/llm/ask.ts'
import { chooseModel, isChoice, type ModelChoice } from '../../../src/llm/choose.ts'
import { languageModel } from '../../../src/llm/client.ts'
import type { ModelDelta, Prompt, PromptMessage } from '../../../src/llm/model.ts'
import { allowing } from '../../helpers/policies.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'

const DEPS: ModelDeps = { addressPolicy: allowing('127.0.0.1'), purse: null }
const TOOLS = [
  {
    name: 'execute_bash',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
]
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const user = (text: string): PromptMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const prompt = (...messages: PromptMessage[]): Prompt => ({ system: 'You are terse.', messages, tools: TOOLS })

function choiceFor(id: string, baseUrl: string): ModelChoice {
  const chosen = chooseModel(
    { llmModel: id, llmBaseUrl: baseUrl, llmApiKey: 'sk-test-0123456789' },
    {
      model: null,
      baseUrl: null,
      apiKey: null,
      keys: {},
      gateway: { baseUrl: null, apiKey: null },
      hasWorkersAi: false,
    },
  )
  if (!isChoice(chosen)) throw new Error(`no choice: ${chosen}`)
  return chosen
}

const DIALECTS = [
  { id: 'openai/gpt-4o', dialect: 'openai-chat' },
  { id: 'anthropic/claude-sonnet-4-20250514', dialect: 'anthropic' },
  { id: 'google/gemini-2.5-pro', dialect: 'google' },
  { id: 'openai/gpt-5', dialect: 'openai-responses' },
] as const

for (const { id, dialect } of DIALECTS) {
  test(`a turn with thoughts, text, two calls and their results goes both ways in the dialect ${dialect}`, async () => {
    const server = await scriptedModel(
      {
        reasoning: 'The user wants the files.',
        text: 'Let me look at both folders.',
        calls: [
          { id: 'one', name: 'execute_bash', arguments: { command: 'ls' } },
          { id: 'two', name: 'execute_bash', arguments: { command: 'ls "src"' } },
        ],
        usage: { prompt: 1200, completion: 80, cacheRead: 1000 },
        chunkChars: 5,
      },
      { text: 'Two files.' },
    )
    const choice = choiceFor(id, dialect === 'google' ? server.googleUrl : server.baseUrl)
    const model = await languageModel({ ...choice, dialect }, DEPS)
    const deltas: ModelDelta[] = []
    const asked = user('What is there?')
    const reply = await model.ask(prompt(asked), { onDelta: (delta) => deltas.push(delta) })

    expect(reply.text).toBe('Let me look at both folders.')
    expect(reply.calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
      ['execute_bash', { command: 'ls' }],
      ['execute_bash', { command: 'ls "src"' }],
    ])
    expect(new Set(reply.calls.map((call) => call.id)).size).toBe(2)
    expect(reply.finish).toBe('calls')
    expect(reply.usage).toMatchObject({ promptTokens: 1200, completionTokens: 80, cacheReadTokens: 1000 })
    expect(reply.cost).toBeGreaterThan(0)
    expect(reply.responseId).toMatch(/^answer-/)
    const textDeltas = deltas.flatMap((delta) => (delta.kind === 'text' ? [delta.text] : []))
    expect(textDeltas.length).toBeGreaterThan(3)
    expect(textDeltas.join('')).toBe(reply.text)
    expect(deltas.flatMap((delta) => (delta.kind === 'reasoning' ? [delta.text] : [])).join('')).toBe(
      'The user wants the files.',
    )
    for (const [index, call] of reply.calls.entries()) {
      const pieces = deltas.flatMap((delta) => (delta.kind === 'call' && delta.index === index ? [delta] : []))
      expect(pieces.map(({ text }) => text).join('')).toBe(call.arguments)
      expect(new Set(pieces.map((piece) => piece.id))).toEqual(new Set([call.id]))
    }

    const results = reply.calls.map(
      (call): PromptMessage => ({
        role: 'tool',
        callId: call.id,
        name: call.name,
        content: [
          { type: 'text', text: `result of ${call.id}` },
          { type: 'image', url: PIXEL },
        ],
      }),
    )
    // What is stored in between is JSON.
    const said = JSON.parse(JSON.stringify({ role: 'assistant', ...reply })) as PromptMessage
    const second = await model.ask(prompt(asked, said, ...results))
    expect(second).toMatchObject({ text: 'Two files.', calls: [], finish: 'stop' })

    const [first, next] = await server.requests()
    const sent = JSON.stringify(next?.body)
    expect(JSON.stringify(first?.body)).toContain('You are terse.')
    // Some dialects carry arguments as text within the text.
    const plain = sent.replaceAll('\\', '')
    for (const text of ['result of', 'ls "src"', 'iVBORw0KGgo', 'execute_bash']) expect(plain).toContain(text)
    expect(JSON.stringify(next?.headers)).toContain('sk-test-0123456789')
    if (dialect === 'anthropic') {
      expect(sent).toContain('signed:25')
      expect(sent.match(/"cache_control"/g)).toHaveLength(3)
    }
    if (dialect === 'openai-responses') expect(sent).toContain('sealed:25')
    if (dialect === 'google') expect(sent).toContain('signature-0')
  })
}

test('what a vendor tells of tokens and cost that no answer can have used counts as not told', async () => {
  for (const { id, dialect } of DIALECTS) {
    const odd = { prompt: 1e300, completion: -5, cacheRead: 1e12, cost: 1e300 }
    const server = await scriptedModel({ text: 'Yes.', usage: odd })
    const choice = choiceFor(id, dialect === 'google' ? server.googleUrl : server.baseUrl)
    const reply = await (await languageModel({ ...choice, dialect }, DEPS)).ask(prompt(user('Is it so?')))
    const usage = { promptTokens: 0, completionTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
    expect([dialect, reply.usage, reply.cost]).toEqual([dialect, usage, 0])
  }
})

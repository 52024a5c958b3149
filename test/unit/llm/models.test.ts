import { expect, test } from 'vitest'
import { setLogLevel } from '../../../src/lib/log.ts'
import type { OperatorModels } from '../../../src/llm/choose.ts'
import { listModels, modelFacts } from '../../../src/llm/models.ts'

const OPERATOR: OperatorModels = {
  model: null,
  baseUrl: null,
  apiKey: null,
  keys: {},
  gateway: { baseUrl: null, apiKey: null },
  hasWorkersAi: false,
}

type SentRequest = { url: string; headers: Record<string, string> }

function answering(answers: Record<string, unknown>, asked: SentRequest[] = []): typeof fetch {
  return (input, init) => {
    const url = String(input)
    asked.push({ url, headers: Object.fromEntries(new Headers(init?.headers)) })
    const found = Object.entries(answers).find(([prefix]) => url.startsWith(prefix))?.[1]
    if (found === undefined) return Promise.reject(new TypeError('no such host'))
    if (found === 'silence') return new Promise(() => undefined)
    return Promise.resolve(new Response(typeof found === 'string' ? found : JSON.stringify(found)))
  }
}

test('without an operator the list is the catalogue: sorted, each once, and Anthropic is in it', async () => {
  const models = await listModels(null)
  expect(models).toEqual([...new Set(models)].sort())
  expect(models.filter((id) => id.startsWith('anthropic/')).length).toBeGreaterThan(3)
  expect(models.every((id) => /^[^\s/]+\/\S+$/.test(id))).toBe(true)
  expect(models.some((id) => id.startsWith('openhands/'))).toBe(false)
})

test("what the operator's providers offer is listed under their names, each asked in its own way", async () => {
  const asked: SentRequest[] = []
  const fetch = answering(
    {
      'https://api.openai.com/v1/models': { data: [{ id: 'gpt-99' }, { id: 'text-embedding-9' }, { id: 'bad id' }] },
      'https://api.anthropic.com/v1/models': { data: [{ id: 'claude-99', display_name: 'Claude' }] },
      'https://generativelanguage.googleapis.com/v1beta/models': {
        models: [
          { name: 'models/gemini-99', supportedGenerationMethods: ['generateContent'] },
          { name: 'models/gemini-99-vectors', supportedGenerationMethods: ['embedContent'] },
        ],
      },
      'http://gateway.test/v1/models': { data: [{ id: 'claude-sonnet-4-20250514' }] },
      'http://127.0.0.1:11434/v1/models': { data: [{ id: 'llama3:8b' }] },
    },
    asked,
  )
  const operator = {
    ...OPERATOR,
    model: 'ollama/llama3:8b',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keys: { openai: 'key-o', anthropic: 'key-a', google: 'key-g' },
    gateway: { baseUrl: 'http://gateway.test/v1', apiKey: 'key-w' },
  }
  const fresh = (await listModels(operator, { fetch })).filter((id) => /99|ollama|openhands/.test(id))
  expect(fresh).toEqual([
    'anthropic/claude-99',
    'google/gemini-99',
    'ollama/llama3:8b',
    'openai/gpt-99',
    'openhands/claude-sonnet-4-20250514',
  ])
  const headersOf = (host: string) => asked.find(({ url }) => url.includes(host))?.headers
  expect(headersOf('openai')).toMatchObject({ authorization: 'Bearer key-o' })
  expect(headersOf('anthropic')).toMatchObject({ 'x-api-key': 'key-a' })
  expect(headersOf('google')).toMatchObject({ 'x-goog-api-key': 'key-g' })
  expect(headersOf('11434')).toEqual({})
  expect(asked.some(({ url }) => url.includes('key-'))).toBe(false)
  await listModels(operator, { fetch })
  expect(asked).toHaveLength(5)
})

test('a provider that is away, silent, or answers nonsense costs nothing but its models; what it once said stays', async () => {
  setLogLevel('silent')
  let now = 1_000_000
  const clock = () => now
  const operator = {
    ...OPERATOR,
    keys: { openai: 'key-away', deepseek: 'key-silent', groq: 'key-nonsense', xai: 'key-html' },
  }
  const lame = answering({
    'https://api.deepseek.com': 'silence',
    'https://api.groq.com': { data: 'none' },
    'https://api.x.ai': '<html>',
  })
  const models = await listModels(operator, { fetch: lame, now: clock })
  expect(models).toEqual(await listModels(null))

  now += 61_000
  const back = answering({
    'https://api.openai.com': { data: [{ id: 'gpt-98' }] },
    'https://api.deepseek.com': { data: [] },
    'https://api.groq.com': { data: [] },
    'https://api.x.ai': { data: [] },
  })
  expect(await listModels(operator, { fetch: back, now: clock })).toContain('openai/gpt-98')
  now += 601_000
  expect(await listModels(operator, { fetch: answering({}), now: clock })).toContain('openai/gpt-98')
})

test('what is known of a model: the catalogue, a namesake behind a gateway without its prices, or a careful guess', async () => {
  const listed = await modelFacts('anthropic/claude-sonnet-4-20250514')
  expect(listed).toMatchObject({
    contextWindow: 200_000,
    seesImages: true,
    callsTools: true,
    prices: { input: 3, output: 15 },
  })
  expect(await modelFacts('claude-sonnet-4-20250514')).toEqual(listed)
  expect(await modelFacts('openhands/claude-sonnet-4-20250514')).toEqual({ ...listed, prices: null, reasons: false })
  expect(await modelFacts('openai/gpt-5')).toMatchObject({ takesTemperature: false, reasons: true })
  const unknown = { contextWindow: null, prices: null, callsTools: true, reasons: false }
  expect(await modelFacts('ollama/some-text-model')).toMatchObject({ ...unknown, seesImages: false })
  expect(await modelFacts('ollama/qwen2.5-vl:7b')).toMatchObject({ ...unknown, seesImages: true })
  for (const id of ['openai/__proto__', 'constructor/toString', '/', ''])
    expect(await modelFacts(id)).toMatchObject(unknown)
})

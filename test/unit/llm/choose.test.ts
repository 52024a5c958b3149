import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseConfig } from '../../../src/config.ts'
import { chooseModel, isChoice, type ModelChoice, type OperatorModels, type OwnModel } from '../../../src/llm/choose.ts'

const OPERATOR: OperatorModels = {
  model: 'anthropic/claude-sonnet-4-5',
  baseUrl: null,
  apiKey: 'operators-key',
  keys: {},
  gateway: { baseUrl: null, apiKey: null },
  hasWorkersAi: false,
}
const NOBODY: OperatorModels = { ...OPERATOR, model: null, apiKey: null }
const own = (llmModel: string | null, more: Partial<OwnModel> = {}): OwnModel => ({
  llmModel,
  llmBaseUrl: null,
  llmApiKey: null,
  ...more,
})

test('without any model there is none; the operator has one for everybody; an own one comes first', () => {
  expect(chooseModel(own(null), NOBODY)).toBeNull()
  expect(chooseModel(own('  '), NOBODY)).toBeNull()
  expect(chooseModel(own(null), OPERATOR)).toMatchObject({
    id: 'anthropic/claude-sonnet-4-5',
    dialect: 'anthropic',
    model: 'claude-sonnet-4-5',
    baseUrl: 'https://api.anthropic.com/v1',
    apiKey: 'operators-key',
    isTrustedAddress: true,
  })
  expect(chooseModel(own('openai/gpt-5', { llmApiKey: ' mine ' }), OPERATOR)).toMatchObject({
    dialect: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    apiKey: 'mine',
    isTrustedAddress: true,
  })
  // Another model of the operator's provider is asked with the operator's key.
  expect(chooseModel(own('anthropic/claude-haiku-4-5'), OPERATOR)).toMatchObject({ apiKey: 'operators-key' })
})

test('a model whose provider needs a key that nobody gave needs one, and one that needs none does not', () => {
  for (const id of [
    'openai/gpt-5',
    'google/gemini-2.5-pro',
    'gemini/gemini-2.5-pro',
    'gpt-4o',
    'mistral-large-latest',
  ]) {
    expect([id, chooseModel(own(id), OPERATOR)]).toEqual([id, 'needs-key'])
  }
  expect(chooseModel(own('openhands/claude-sonnet-4-20250514'), OPERATOR)).toBe('needs-key')
  // No key would help: nobody knows where these are.
  for (const id of ['nobody/knows-it', 'no-slash', 'vllm/x', 'workers-ai/@cf/x']) {
    expect([id, chooseModel(own(id), OPERATOR)]).toEqual([id, 'needs-address'])
    const placed = own(id, { llmBaseUrl: 'https://models.example.com/v1' })
    expect(chooseModel(placed, OPERATOR)).toMatchObject({ baseUrl: 'https://models.example.com/v1' })
  }
  const local = chooseModel(own('ollama/llama3.1:8b'), OPERATOR)
  expect(local).toMatchObject({ dialect: 'openai-chat', apiKey: null, isTrustedAddress: false, model: 'llama3.1:8b' })
  expect(chooseModel(own('workers-ai/@cf/meta/llama'), { ...NOBODY, hasWorkersAi: true })).toMatchObject({
    dialect: 'workers-ai',
    model: '@cf/meta/llama',
    baseUrl: null,
  })
})

test('an address decides the dialect only as far as the provider leaves it open', () => {
  const home = own('openai/gpt-5', { llmBaseUrl: 'https://api.openai.com/v1/', llmApiKey: 'mine' })
  expect(chooseModel(home, OPERATOR)).toMatchObject({ dialect: 'openai-responses', isTrustedAddress: true })
  const at = (id: string) => chooseModel(own(id, { llmBaseUrl: 'https://models.example.com/v1' }), OPERATOR)
  expect(at('openai/my-model')).toMatchObject({ dialect: 'openai-chat', model: 'my-model', isTrustedAddress: false })
  expect(at('meta-llama/Llama-3')).toMatchObject({ dialect: 'openai-chat', model: 'meta-llama/Llama-3' })
  expect(at('qwen')).toMatchObject({ dialect: 'openai-chat', model: 'qwen' })
  expect(at('anthropic/claude-sonnet-4-5')).toMatchObject({ dialect: 'anthropic', model: 'claude-sonnet-4-5' })
  expect(at('gemini/gemini-2.5-pro')).toMatchObject({ dialect: 'google', model: 'gemini-2.5-pro' })
})

test('the hosted gateway is used when the operator mapped it, under both of its names', () => {
  const operator = { ...NOBODY, gateway: { baseUrl: 'https://gateway.example.com/v1', apiKey: 'gateway-key' } }
  for (const prefix of ['openhands', 'bellwether']) {
    expect(chooseModel(own(`${prefix}/claude-sonnet-4-20250514`), operator)).toMatchObject({
      dialect: 'openai-chat',
      model: 'claude-sonnet-4-20250514',
      baseUrl: 'https://gateway.example.com/v1',
      apiKey: 'gateway-key',
      isTrustedAddress: true,
    })
  }
  expect(chooseModel(own('someone/else'), operator)).toBe('needs-address')
})

test("a key of the operator's never goes to an address that a user chose, whatever is set", () => {
  const SECRETS = ['operators-key', 'openai-key', 'gateway-key', 'router-key']
  const ids = [
    'openai/gpt-5',
    'anthropic/claude-sonnet-4-5',
    'openhands/x',
    'openrouter/a/b',
    'ollama/x',
    'gpt-4o',
    'x',
    'vllm/y',
  ]
  const address = fc.constantFrom(
    'https://evil.example.com/v1',
    'http://10.0.0.1',
    'https://api.openai.com.evil.example',
  )
  const operators = fc.record<OperatorModels>({
    model: fc.constantFrom(null, ...ids),
    baseUrl: fc.constantFrom(null, 'https://own.example.com/v1'),
    apiKey: fc.constantFrom(null, 'operators-key'),
    keys: fc.record({ openai: fc.constantFrom(null, 'openai-key'), openrouter: fc.constantFrom(null, 'router-key') }),
    gateway: fc.record({
      baseUrl: fc.constantFrom(null, 'https://gateway.example.com/v1'),
      apiKey: fc.constantFrom(null, 'gateway-key'),
    }),
    hasWorkersAi: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.constantFrom(null, ...ids), address, operators, (id, llmBaseUrl, operator) => {
      const choice = chooseModel(own(id, { llmBaseUrl }), operator)
      if (!isChoice(choice)) return
      expect(choice.baseUrl).toBe(llmBaseUrl)
      expect(choice.isTrustedAddress).toBe(false)
      expect(SECRETS).not.toContain(choice.apiKey)
    }),
  )
})

test("the operator's address serves the operator's model, and the key of it goes nowhere else", () => {
  const operator = { ...OPERATOR, model: 'openai/served', baseUrl: 'http://127.0.0.1:8000/v1' }
  const chosen = chooseModel(own(null), operator) as ModelChoice
  expect(chosen).toMatchObject({
    dialect: 'openai-chat',
    baseUrl: operator.baseUrl,
    apiKey: 'operators-key',
    isTrustedAddress: true,
  })
  expect(chooseModel(own('openai/served'), operator)).toEqual(chosen)
  expect(chooseModel(own('openai/gpt-5'), operator)).toBe('needs-key')
})

test('the variables become what the choice is made from', () => {
  const { models } = parseConfig({
    AUTH_MODE: 'local',
    LLM_MODEL: 'openai/gpt-5',
    LLM_BASE_URL: 'http://127.0.0.1:9999/v1/',
    LLM_API_KEY: 'k',
    GEMINI_API_KEY: 'g',
    LLM_RETRY_MIN_SECONDS: '0.05',
    LLM_RETRY_MAX_SECONDS: '0.01',
    LLM_IDLE_SECONDS: '2.5',
  })
  expect(models.operator).toMatchObject({ model: 'openai/gpt-5', baseUrl: 'http://127.0.0.1:9999/v1', apiKey: 'k' })
  expect(models.operator.keys).toMatchObject({ google: 'g', openai: null })
  expect(models.retry).toEqual({ attempts: 5, minMs: 50, maxMs: 50 })
  expect(models.patience).toEqual({ firstByteMs: 300_000, idleMs: 2500, totalMs: null })
  expect(() => parseConfig({ AUTH_MODE: 'local', LLM_API_KEY: 'two words', LLM_MODEL: 'a b' })).toThrow(
    /LLM_MODEL.*\n.*LLM_API_KEY|LLM_API_KEY.*\n.*LLM_MODEL/s,
  )
})

test("fallbacks stand behind the operator's model, those that can be asked, and never behind a model of a user's own", () => {
  const operator = {
    ...OPERATOR,
    keys: { openai: 'openai-key' },
    fallbacks: ['openai/gpt-5', 'mistral/x', 'anthropic/claude-haiku-4-5'],
  }
  const chosen = chooseModel(own(null), operator) as ModelChoice
  expect(chosen.fallbacks?.map(({ id, apiKey }) => [id, apiKey])).toEqual([
    ['openai/gpt-5', 'openai-key'],
    ['anthropic/claude-haiku-4-5', 'operators-key'],
  ])
  expect((chooseModel(own('openai/gpt-5'), operator) as ModelChoice).fallbacks).toBeUndefined()
  expect(
    (chooseModel(own(null, { llmBaseUrl: 'https://x.example.com' }), operator) as ModelChoice).fallbacks,
  ).toBeUndefined()
})

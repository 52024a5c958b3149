import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ownerSettings } from '../../src/db/settings.ts'
import { type Client, client, request } from '../helpers/app.ts'

const CANARY = 'sk-canary-4f9d2c'

const save = (by: Client, body: unknown) => by.ask('/api/settings', { method: 'POST', body })
const read = (by: Client) => by.json('/api/settings')

const DEFAULTS = {
  language: null,
  agent: null,
  max_iterations: null,
  security_analyzer: null,
  confirmation_mode: null,
  llm_model: null,
  llm_api_key: null,
  llm_base_url: null,
  remote_runtime_resource_factor: null,
  enable_default_condenser: true,
  enable_sound_notifications: false,
  enable_proactive_conversation_starters: true,
  enable_solvability_analysis: true,
  user_consents_to_analytics: null,
  sandbox_base_container_image: null,
  sandbox_runtime_container_image: null,
  mcp_config: null,
  search_api_key: null,
  sandbox_api_key: null,
  max_budget_per_task: null,
  email: null,
  email_verified: null,
  git_user_name: null,
  git_user_email: null,
  runtime: null,
  runner_labels: null,
  runner_unsynced: null,
  secrets_store: { provider_tokens: {} },
  provider_tokens_set: {},
  llm_api_key_set: false,
  search_api_key_set: false,
}

const FILLED = {
  language: 'zh-CN',
  agent: 'ShellAgent',
  max_iterations: 40,
  security_analyzer: 'invariant',
  confirmation_mode: true,
  llm_model: 'openai/gpt-5',
  llm_base_url: 'http://localhost:1234/v1',
  remote_runtime_resource_factor: 2,
  enable_default_condenser: false,
  enable_sound_notifications: true,
  enable_proactive_conversation_starters: false,
  enable_solvability_analysis: false,
  user_consents_to_analytics: false,
  sandbox_base_container_image: 'base',
  sandbox_runtime_container_image: 'runtime',
  max_budget_per_task: 2.5,
  email: 'ann@example.com',
  email_verified: true,
  git_user_name: 'Ann 安',
  git_user_email: 'ann@example.com',
  runtime: 'edge',
  runner_labels: ['linux', 'gpu'],
  runner_unsynced: ['node_modules', 'dist'],
}
const KEYS = { llm_api_key: CANARY, search_api_key: `${CANARY}-search`, sandbox_api_key: `${CANARY}-sandbox` }

test('settings are not found until the first save; even an empty one stores the defaults, with every field', async () => {
  const ann = await client()
  const before = await ann.ask('/api/settings')
  expect([before.status, await before.json()]).toEqual([404, { error: 'Settings not found' }])
  const saved = await save(ann, {})
  expect([saved.status, await saved.json()]).toEqual([200, { message: 'Settings stored' }])
  expect(await read(ann)).toEqual(DEFAULTS)
  const reset = await ann.ask('/api/reset-settings', { method: 'POST' })
  expect([reset.status, await reset.json()]).toEqual([410, { error: 'Reset settings functionality has been removed.' }])
})

test('every field is stored; the keys come back only as whether they are there, and never lie open in the database', async () => {
  const ann = await client()
  await save(ann, { ...FILLED, ...KEYS, secrets_store: { provider_tokens: { github: 'x' } }, provider_tokens_set: 5 })
  const answer = await ann.ask('/api/settings')
  const text = await answer.text()
  expect(text).not.toContain(CANARY)
  expect(JSON.parse(text)).toEqual({ ...DEFAULTS, ...FILLED, llm_api_key_set: true, search_api_key_set: true })
  const { results } = await env.DB.prepare('SELECT * FROM settings WHERE owner = ?').bind(ann.owner).all()
  expect(results).toHaveLength(27)
  expect(JSON.stringify(results)).not.toContain(CANARY)
  const opened = await ownerSettings(env, ann.owner)
  expect(opened).toMatchObject({
    ok: true,
    isStored: true,
    settings: { llmApiKey: CANARY, searchApiKey: `${CANARY}-search`, sandboxApiKey: `${CANARY}-sandbox` },
  })

  const bob = await client()
  expect((await bob.ask('/api/settings')).status).toBe(404)
  await save(bob, { language: 'de' })
  expect(await read(bob)).toEqual({ ...DEFAULTS, language: 'de' })
  expect(await read(ann)).toMatchObject({ language: 'zh-CN' })
})

test('a field that is absent is kept; null resets it, except where clients send null without meaning it', async () => {
  const ann = await client()
  await save(ann, { ...FILLED, ...KEYS })
  await save(ann, { language: 'fr' })
  const stored = { ...DEFAULTS, ...FILLED, llm_api_key_set: true, search_api_key_set: true }
  expect(await read(ann)).toEqual({ ...stored, language: 'fr' })

  const nulls = Object.fromEntries(
    Object.keys({ ...FILLED, ...KEYS, mcp_config: null })
      .filter((name) => !name.startsWith('enable_'))
      .map((name) => [name, null]),
  )
  expect((await save(ann, nulls)).status).toBe(200)
  const { llm_model, llm_base_url, user_consents_to_analytics } = FILLED
  const flags = Object.entries(FILLED).filter(([name]) => name.startsWith('enable_'))
  expect(await read(ann)).toEqual({
    ...DEFAULTS,
    ...Object.fromEntries(flags),
    llm_model,
    llm_base_url,
    user_consents_to_analytics,
    llm_api_key_set: true,
    search_api_key_set: true,
  })
  expect(await ownerSettings(env, ann.owner)).toMatchObject({ settings: { sandboxApiKey: null } })
  for (const [name] of flags) {
    const refused = await save(ann, { [name]: null })
    expect([name, refused.status, await refused.json()]).toEqual([
      name,
      422,
      { detail: [expect.objectContaining({ type: 'bool_type', loc: ['body', name] })] },
    ])
  }
})

test('an empty text clears the model key and its URL; the search key survives it and goes only by its flag', async () => {
  const ann = await client()
  await save(ann, { ...KEYS, llm_base_url: 'http://a.example' })
  await save(ann, { llm_api_key: '', llm_base_url: '', search_api_key: '', sandbox_api_key: '' })
  expect(await read(ann)).toMatchObject({ llm_api_key_set: false, llm_base_url: null, search_api_key_set: true })
  await save(ann, { search_api_key: '', search_api_key_set: true })
  expect(await read(ann)).toMatchObject({ search_api_key_set: true })
  await save(ann, { search_api_key: 'new', search_api_key_set: false })
  expect(await ownerSettings(env, ann.owner)).toMatchObject({ settings: { searchApiKey: 'new', sandboxApiKey: null } })
  await save(ann, { search_api_key: '', search_api_key_set: false })
  expect(await read(ann)).toMatchObject({ search_api_key_set: false })
})

test('tool servers go in as texts or objects and come out as objects, sealed in between', async () => {
  const ann = await client()
  const stdio = { name: 'files', command: 'npx', args: '-y server', env: 'TOKEN=t,__proto__=x' }
  const saved = await save(ann, {
    mcp_config: {
      sse_servers: [' https://a.example/sse ', { url: 'http://b.example', api_key: CANARY }],
      stdio_servers: [stdio],
    },
  })
  expect(saved.status).toBe(200)
  expect(await read(ann)).toMatchObject({
    mcp_config: {
      sse_servers: [
        { url: 'https://a.example/sse', api_key: null },
        { url: 'http://b.example', api_key: CANARY },
      ],
      stdio_servers: [{ name: 'files', command: 'npx', args: ['-y', 'server'], env: { TOKEN: 't' } }],
      shttp_servers: [],
    },
  })
  const { results } = await env.DB.prepare('SELECT * FROM settings WHERE owner = ?').bind(ann.owner).all()
  expect(JSON.stringify(results)).not.toContain(CANARY)

  const big = { url: `https://a.example/${'x'.repeat(270_000)}` }
  const refused = await save(ann, { mcp_config: { shttp_servers: [big] } })
  expect([refused.status, await refused.json()]).toEqual([
    422,
    {
      detail: [
        {
          type: 'value_error',
          loc: ['body', 'mcp_config'],
          msg: 'Value error, more than 262144 characters of JSON',
          input: null,
          ctx: { error: {} },
        },
      ],
    },
  ])
})

test('wrong types and lengths are all named at once, lax ones are read, and no refusal shows a secret', async () => {
  const ann = await client()
  const bad = {
    language: 5,
    agent: ['a'],
    max_iterations: 'many',
    confirmation_mode: 'maybe',
    llm_model: 'x'.repeat(4_097),
    llm_base_url: 'models.example.com',
    llm_api_key: { key: CANARY },
    search_api_key: `${CANARY}\nX-Evil: 1`,
    sandbox_api_key: CANARY.repeat(2_000),
    max_budget_per_task: -1,
    email: 'a\u0000b',
    mcp_config: { sse_servers: [{ url: 'ftp://x', api_key: CANARY }], extra: CANARY },
  }
  const response = await save(ann, bad)
  const text = await response.text()
  expect([response.status, text.includes(CANARY)]).toEqual([422, false])
  const answered = JSON.parse(text) as { detail: { type: string; loc: string[]; msg: string }[] }
  expect(Object.fromEntries(answered.detail.map(({ type, loc }) => [loc.slice(1).join('.'), type]))).toEqual({
    language: 'string_type',
    agent: 'string_type',
    max_iterations: 'int_parsing',
    confirmation_mode: 'bool_parsing',
    llm_model: 'string_too_long',
    llm_base_url: 'value_error',
    llm_api_key: 'string_type',
    search_api_key: 'value_error',
    sandbox_api_key: 'string_too_long',
    max_budget_per_task: 'greater_than_equal',
    email: 'value_error',
    'mcp_config.sse_servers.0.url': 'value_error',
    'mcp_config.extra': 'extra_forbidden',
  })
  const hidden = answered.detail.filter(({ msg }) => msg.includes('control characters are not allowed'))
  expect(hidden.map(({ loc }) => loc[1])).toEqual(['search_api_key', 'email'])
  expect((await ann.ask('/api/settings')).status).toBe(404)

  const idle = (await (await save(ann, { max_iterations: 0 })).json()) as typeof answered
  expect(idle.detail).toMatchObject([{ type: 'greater_than_equal', loc: ['body', 'max_iterations'] }])

  const shapes = [null, [], 'text', 5, [{ llm_api_key: CANARY }], CANARY]
  for (const body of shapes) {
    const refused = await save(ann, body)
    expect([body, refused.status, (await refused.text()).includes(CANARY)]).toEqual([body, 422, false])
  }
  const plain = { 'x-session-api-key': ann.key, 'content-type': 'text/plain' }
  const init = { method: 'POST', headers: plain, body: JSON.stringify(KEYS) }
  expect(await (await request('/api/settings', init)).text()).not.toContain(CANARY)

  // A length counts characters: an emoji is one.
  expect((await save(ann, { git_user_name: '😀'.repeat(4_096) })).status).toBe(200)
  const lax = {
    max_iterations: '12',
    confirmation_mode: 'yes',
    max_budget_per_task: '1.5',
    llm_api_key: ` ${CANARY}\n`,
  }
  expect((await save(ann, lax)).status).toBe(200)
  expect(await read(ann)).toMatchObject({ max_iterations: 12, confirmation_mode: true, max_budget_per_task: 1.5 })
  expect(await ownerSettings(env, ann.owner)).toMatchObject({ settings: { llmApiKey: CANARY } })
})

test('of changes at the same time none is lost', async () => {
  const ann = await client()
  const names = Object.keys(FILLED) as (keyof typeof FILLED)[]
  const answers = await Promise.all(names.map((name) => save(ann, { [name]: FILLED[name] })))
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
  expect(await read(ann)).toEqual({ ...DEFAULTS, ...FILLED })
})

test('a value that was tampered with, or sealed under another key, is told and not served, and can be set anew', async () => {
  const ann = await client()
  const bob = await client()
  for (const owner of [ann, bob]) await save(owner, { ...KEYS, language: 'en' })
  await env.DB.prepare(
    `UPDATE settings SET value = (SELECT value FROM settings WHERE owner = ?2 AND field = 'llmApiKey')
     WHERE owner = ?1 AND field = 'llmApiKey'`,
  )
    .bind(ann.owner, bob.owner)
    .run()
  const told = await ann.ask('/api/settings')
  const text = await told.text()
  expect([told.status, Object.keys(JSON.parse(text))]).toEqual([500, ['error']])
  expect(text).toMatch(/cannot be opened: llm_api_key\./)
  expect(await ownerSettings(env, ann.owner)).toMatchObject({ ok: false, unreadable: ['llmApiKey'] })
  expect((await save(ann, { llm_api_key: 'sk-new' })).status).toBe(200)
  expect(await ownerSettings(env, ann.owner)).toMatchObject({ ok: true, settings: { llmApiKey: 'sk-new' } })

  const foreign = { SECRETS_KEY: btoa('another key of thirty-two bytes!') }
  const headers = { 'x-session-api-key': bob.key }
  const wrong = await request('/api/settings', { headers }, foreign)
  expect([wrong.status, await wrong.json<{ error: string }>()]).toEqual([
    500,
    { error: expect.stringMatching(/llm_api_key, sandbox_api_key, search_api_key/) },
  ])
  expect((await bob.ask('/api/settings')).status).toBe(200)
})

test('after a change of SECRETS_KEY the previous one opens what is stored, once: it is sealed anew when it is read', async () => {
  const ann = await client()
  await save(ann, { ...KEYS, mcp_config: { sse_servers: ['http://a.example'] } })
  const next = { SECRETS_KEY: btoa('another key of thirty-two bytes!') }
  const headers = { 'x-session-api-key': ann.key }
  const rotated = { ...next, SECRETS_KEY_PREVIOUS: String(Reflect.get(env, 'SECRETS_KEY')) }
  const first = await request('/api/settings', { headers }, rotated)
  expect([first.status, await first.json()]).toMatchObject([200, { llm_api_key_set: true, search_api_key_set: true }])
  expect((await request('/api/settings', { headers }, next)).status).toBe(200)
  expect((await ann.ask('/api/settings')).status).toBe(500)
})

test('when the store fails, both calls answer the 500 that is promised', async () => {
  const ann = await client()
  const batch = () => Promise.reject(new Error(`no such table, ${CANARY}`))
  const DB = { prepare: env.DB.prepare.bind(env.DB), batch }
  const broken = { DB } as unknown as Record<string, string>
  const headers = { 'x-session-api-key': ann.key, 'content-type': 'application/json' }
  const reading = await request('/api/settings', { headers }, broken)
  expect([reading.status, await reading.json()]).toEqual([500, { error: 'Something went wrong reading settings' }])
  const writing = await request('/api/settings', { method: 'POST', headers, body: '{}' }, broken)
  expect([writing.status, await writing.json()]).toEqual([500, { error: 'Something went wrong storing settings' }])
})

test('switching confirmation off takes the analyzer along, unless the request says otherwise', async () => {
  const ann = await client()
  const analyzerAfter = async (body: object) => {
    await save(ann, { confirmation_mode: true, security_analyzer: 'invariant' })
    await save(ann, body)
    return (await read(ann)).security_analyzer
  }
  expect(await analyzerAfter({ confirmation_mode: false })).toBeNull()
  expect(await analyzerAfter({ confirmation_mode: false, llm_model: 'openai/gpt-5' })).toBeNull()
  expect(await analyzerAfter({ confirmation_mode: false, security_analyzer: 'invariant' })).toBe('invariant')
  for (const body of [{}, { language: 'en' }, { confirmation_mode: true }, { confirmation_mode: null }]) {
    expect([body, await analyzerAfter(body)]).toEqual([body, 'invariant'])
  }
})

test('a model that nobody knows is stored with a warning, and with an address without one', async () => {
  const ann = await client()
  const answer = async (body: object) => (await save(ann, body)).json()
  const stored = { message: 'Settings stored' }
  const warned = { ...stored, warning: expect.stringMatching(/acme\/one.*llm_model.*llm_base_url/) }
  expect(await answer({ llm_model: 'acme/one' })).toEqual(warned)
  expect(await read(ann)).toMatchObject({ llm_model: 'acme/one' })
  // What has nothing to do with it is not answered with it.
  expect(await answer({ language: 'en' })).toEqual(stored)
  expect(await answer({ llm_base_url: 'https://models.example.com/v1' })).toEqual(stored)
  expect(await answer({ llm_base_url: '' })).toEqual(warned)
  expect(await answer({ llm_model: 'openai/gpt-5' })).toEqual(stored)
  expect(await answer({ llm_model: 'acme/one', llm_base_url: 'https://models.example.com/v1' })).toEqual(stored)
})

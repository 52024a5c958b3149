// One call of every row of the interface descriptions, by what its answer says. A row that is missing here, or one that no
// description has, fails the last test.

import { expect, inject, test } from 'vitest'
import { KEYED_PROVIDERS } from '../../src/llm/providers.ts'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
import { withTokens } from '../helpers/git-accounts.ts'
import { openStream } from '../integration/task-events.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'
import { ENDPOINTS } from './endpoints.ts'

const host = inject('providerHost')
const ONE = '/api/conversations/{conversation_id}'
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
const ID = expect.stringMatching(/^[0-9a-f]{32}$/)
const message = (text: string) => ({ message: text })

const seen = new Set<string>()

/** A call of a row, the places of its path filled in, and what its answer has to be. */
type Row = [call: string, wanted: unknown, given?: { query?: string; body?: unknown; status?: number }]

type Ask = (path: string, init: { method: string; body?: unknown }) => Promise<Response>

async function hold(ask: Ask, rows: Row[], ids: Record<string, string> = {}): Promise<void> {
  for (const [call, wanted, { query = '', body, status = 200 } = {}] of rows) {
    const [method = '', path = ''] = call.split(' ')
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name)
    const once = () => ask(`${url}${query}`, { method, ...(body === undefined ? {} : { body }) })
    let response = await once()
    // There is one lock for the market reviews of everybody: another test may still have it.
    while (status === 202 && response.status === 409) {
      await scheduler.wait(100)
      response = await once()
    }
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const answer = isJson ? await response.json() : await response.text()
    expect([call, response.status, answer]).toEqual([call, status, wanted])
    seen.add(call)
  }
}

test('options and health say what is so', async () => {
  const { ask, json } = await client()
  const models = await json<string[]>('/api/options/models')
  expect(models.length).toBeGreaterThan(50)
  expect(models).toEqual([...new Set(models)].sort())
  expect(models.filter((model) => !/^[a-z_]+\/[\w.:@/-]+$/.test(model))).toEqual([])
  const providers = new Set(models.map((model) => model.slice(0, model.indexOf('/'))))
  expect([...providers]).toEqual(expect.arrayContaining(['anthropic', 'openai']))
  expect(KEYED_PROVIDERS.length).toBeGreaterThan(2)
  const flags = { ENABLE_BILLING: false, HIDE_LLM_SETTINGS: false, HIDE_MICROAGENT_MANAGEMENT: true }
  await hold(ask, [
    ['GET /api/options/models', models],
    ['GET /api/options/agents', ['CodeActAgent', 'ReadOnlyAgent', 'ShellAgent']],
    ['GET /api/options/security-analyzers', ['invariant']],
    [
      'GET /api/options/config',
      { APP_MODE: 'oss', GITHUB_CLIENT_ID: '', POSTHOG_CLIENT_KEY: '', FEATURE_FLAGS: flags },
    ],
    ['GET /alive', { status: 'ok' }],
    ['GET /health', 'OK'],
  ])
})

test('a conversation is made, filled, read, changed and deleted', async () => {
  const { ask } = await client()
  const id = 'row'
  const info = {
    conversation_id: id,
    title: expect.any(String),
    last_updated_at: TIME,
    status: 'RUNNING',
    runtime_status: 'STATUS$READY',
    selected_repository: null,
    selected_branch: null,
    git_provider: null,
    trigger: 'service_api',
    agent_state: expect.any(String),
    num_connections: 0,
    url: `/api/conversations/${id}`,
    session_api_key: expect.stringMatching(/^bwc_/),
    created_at: TIME,
    pr_number: [],
  }
  const answer = { status: 'ok', conversation_id: id, message: null }
  const running = { ...answer, conversation_status: 'RUNNING' }
  const chat = await startConversation(
    { conversation_id: id },
    { ...(await client()), ask, json: async (path, init) => (await ask(path, init)).json() },
  )
  await chat.settled()
  const form = new FormData()
  form.append('files', new File(['answer = 42\n'], 'notes.txt'))
  await hold(
    ask,
    [
      ['POST /api/conversations', running, { body: { conversation_id: id } }],
      [`GET ${ONE}`, info],
      ['GET /api/conversations', { results: [info], next_page_id: null }],
      [`POST ${ONE}/upload-files`, { uploaded_files: ['/workspace/notes.txt'], skipped_files: [] }, { body: form }],
      [`GET ${ONE}/list-files`, ['notes.txt']],
      [`GET ${ONE}/select-file`, { code: 'answer = 42\n' }, { query: '?file=notes.txt' }],
      [`GET ${ONE}/zip-directory`, expect.stringMatching(/^PK[\s\S]*notes\.txt/)],
      [`GET ${ONE}/git/changes`, { error: 'Not a git repository' }, { status: 404 }],
      [`GET ${ONE}/git/diff`, { error: 'Not a git repository' }, { status: 500, query: '?path=notes.txt' }],
      [
        `POST ${ONE}/events`,
        { success: true },
        { body: { action: 'message', args: { content: 'git init && git add .' } } },
      ],
    ],
    { conversation_id: id },
  )
  await chat.settled()
  await expect.poll(async () => (await ask(`${chat.path}/git/changes`, { method: 'GET' })).status).toBe(200)
  const events = await chat.events()
  await hold(
    ask,
    [
      [`GET ${ONE}/git/changes`, [{ status: 'A', path: 'notes.txt' }]],
      [`GET ${ONE}/git/diff`, { original: '', modified: 'answer = 42' }, { query: '?path=notes.txt' }],
      [`GET ${ONE}/events`, { events: events.slice(0, 2), has_more: true }, { query: '?limit=2' }],
      [`GET ${ONE}/config`, { runtime_id: null, session_id: id }],
      [`GET ${ONE}/microagents`, { microagents: expect.any(Array) }],
      [
        `GET ${ONE}/trajectory`,
        { trajectory: expect.arrayContaining([expect.objectContaining({ action: 'message' })]) },
      ],
      [
        `GET ${ONE}/remember-prompt`,
        { status: 'success', prompt: expect.stringContaining('git init') },
        { query: `?event_id=${events.length - 2}` },
      ],
      [
        `POST ${ONE}/submit-feedback`,
        { statusCode: 200, body: { message: expect.any(String), feedback_id: ID, password: '' } },
        { body: { polarity: 'positive' } },
      ],
      [`PATCH ${ONE}`, true, { body: { title: 'Renamed' } }],
      [`GET ${ONE}`, { ...info, title: 'Renamed' }],
      [`POST ${ONE}/stop`, { ...answer, message: 'Conversation stopped successfully', conversation_status: 'STOPPED' }],
      [`POST ${ONE}/start`, running, { body: {} }],
      [`DELETE ${ONE}`, true],
      [`GET ${ONE}`, null],
    ],
    { conversation_id: id },
  )
})

test('settings and secrets are stored and shown without their values', async () => {
  const { ask } = await client()
  const settings = { llm_model: 'openai/gpt-5', llm_api_key: 'sk-1', language: 'de' }
  const shown = { llm_model: 'openai/gpt-5', llm_api_key: null, llm_api_key_set: true, language: 'de' }
  await hold(
    ask,
    [
      ['GET /api/settings', { error: 'Settings not found' }, { status: 404 }],
      ['POST /api/settings', message('Settings stored'), { body: settings }],
      ['GET /api/settings', expect.objectContaining(shown)],
      ['POST /api/reset-settings', { error: 'Reset settings functionality has been removed.' }, { status: 410 }],
      [
        'POST /api/add-git-providers',
        message('Git providers stored'),
        { body: { provider_tokens: { github: { token: '' } } } },
      ],
      ['POST /api/unset-provider-tokens', message('Unset Git provider tokens')],
      ['GET /api/secrets', { custom_secrets: [] }],
      ['POST /api/secrets', message('Secret created successfully'), { status: 201, body: { name: 'A', value: 'v' } }],
      [
        'PUT /api/secrets/{secret_id}',
        message('Secret updated successfully'),
        { body: { name: 'A', description: 'd' } },
      ],
      ['GET /api/secrets', { custom_secrets: [{ name: 'A', description: 'd' }] }],
      ['DELETE /api/secrets/{secret_id}', message('Secret deleted successfully')],
    ],
    { secret_id: 'A' },
  )
})

test('git providers tell of their user, repositories and microagents', async () => {
  expect(host).toMatch(/^127\.0\.0\.1:/)
  const ann = await withTokens({
    provider: 'github',
    token: `${GOOD_TOKENS.github}-${crypto.randomUUID().slice(0, 8)}`,
  })
  const ask: Ask = async (path) => {
    const { status, body } = await ann.user(path.replace('/api/user/', ''))
    return Response.json(body, { status })
  }
  const some = (fields: object) => expect.arrayContaining([expect.objectContaining(fields)])
  const repository = '/api/user/repository/{repository_name}'
  await hold(
    ask,
    [
      ['GET /api/user/installations', ['25381'], { query: '?provider=github' }],
      ['GET /api/user/repositories', some({ full_name: 'ann/repo-0', git_provider: 'github' })],
      ['GET /api/user/info', expect.objectContaining({ login: 'ann', company: 'Example' })],
      ['GET /api/user/search/repositories', some({ git_provider: 'github' }), { query: '?query=kit' }],
      ['GET /api/user/suggested-tasks', some({ git_provider: 'github', task_type: expect.any(String) })],
      [
        'GET /api/user/repository/branches',
        some({ name: 'main', protected: expect.any(Boolean) }),
        { query: '?repository=example/tools' },
      ],
      [`GET ${repository}/microagents`, some({ name: 'cursorrules', path: '.cursorrules' })],
      [
        `GET ${repository}/microagents/content`,
        { content: 'Use tabs.', path: '.cursorrules', triggers: [], git_provider: 'github' },
        { query: '?file_path=.cursorrules' },
      ],
    ],
    { repository_name: 'example/tools' },
  )
})

test('stocks are analysed, and tasks, their stream and a review tell of it', async () => {
  const ann = await client()
  const stream = await openStream(ann.key, { query: '?after=0' })
  const submitted = {
    task_id: ID,
    trace_id: ID,
    status: 'pending',
    message: expect.any(String),
    analysis_phase: 'auto',
  }
  const finished = expect.objectContaining({
    report: expect.objectContaining({ meta: expect.any(Object), strategy: expect.any(Object) }),
  })
  const review = {
    status: 'accepted',
    message: expect.any(String),
    send_notification: false,
    region: 'cn',
    task_id: ID,
    trace_id: ID,
  }
  const analysis = '/api/v1/analysis'
  await hold(ann.ask, [
    [`POST ${analysis}/analyze`, finished, { body: { stock_code: 'MSFT' } }],
    [`POST ${analysis}/analyze`, submitted, { body: { stock_code: 'AAPL', async_mode: true }, status: 202 }],
    [`POST ${analysis}/market-review`, review, { body: { region: 'cn', send_notification: false }, status: 202 }],
  ])
  await stream.until((_, all) => all.filter(({ event }) => /^task_(completed|failed)$/.test(event)).length === 2)
  stream.close()
  expect(new Set(stream.frames.map(({ event }) => event))).toEqual(
    new Set(['connected', 'task_created', 'task_started', 'task_progress', 'task_completed']),
  )
  seen.add(`GET ${analysis}/tasks/stream`)
  const { tasks } = await ann.json<{ tasks: { task_id: string; stock_code: string }[] }>(`${analysis}/tasks`)
  const task_id = tasks.find(({ stock_code }) => stock_code === 'AAPL')?.task_id ?? ''
  const done = { status: 'completed', progress: 100, error: null }
  await hold(
    ann.ask,
    [
      [
        `GET ${analysis}/tasks`,
        {
          total: 2,
          pending: 0,
          processing: 0,
          tasks: [expect.objectContaining(done), expect.objectContaining({ ...done, task_id })],
        },
      ],
      [`GET ${analysis}/status/{task_id}`, expect.objectContaining({ ...done, task_id, result: finished })],
      [
        `GET ${analysis}/tasks/{task_id}/flow`,
        expect.objectContaining({
          task_id,
          nodes: expect.arrayContaining([expect.objectContaining({ id: 'task_queue' })]),
        }),
      ],
    ],
    { task_id },
  )
})

test('no row is without a call here', () => {
  expect([...seen].sort()).toEqual(ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort())
})

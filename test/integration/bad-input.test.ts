import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Client, client, ROOT_KEY, request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema: { type?: string | string[] } }[]
  requestBody?: { content: Record<string, unknown>; required?: boolean }
  responses: Record<string, { content?: Record<string, unknown> }>
}
type Document = { paths: Record<string, Record<string, Operation>> }
type Item = { type: string; loc: (string | number)[]; msg: string; ctx?: Record<string, unknown> }

const { paths } = await (await request('/openapi.json')).json<Document>()
const calls = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
)
type Call = (typeof calls)[number]

const CHAT = '/api/conversations/{conversation_id}'
// The sign-in has one answer for every body, tool servers speak JSON-RPC, and a GET with a body cannot be made here.
const OTHER_WORLDS = new Set(['/api/session', '/api/v1/auth/login', '/mcp', '/mcp/mcp'])
const withJsonBody = calls.filter(
  ({ method, path, requestBody }) =>
    method !== 'GET' && !OTHER_WORLDS.has(path) && requestBody?.content['application/json'] !== undefined,
)

const isFile = ({ responses }: Call): boolean => !('application/json' in (responses[200]?.content ?? {}))
const everyScope = () => client({ scopes: ['conversations', 'analysis', 'admin'] })

/** What the owner has made so far, as far as anybody can see. */
async function traces(owner: Client): Promise<unknown> {
  const { results } = await owner.json<{ results: unknown[] }>('/api/conversations')
  const { keys } = await owner.json<{ keys: unknown[] }>(`/api/keys?owner=${owner.owner}`)
  return { conversations: results.length, keys: keys.length }
}

const hostile = (length: number) => 'x'.repeat(length)
const MEGABYTES = 1024 * 1024

/** body text → the type and place of the first item. */
const BROKEN: [body: string, contentType: string, type: string, loc: unknown[]][] = [
  ['', 'application/json', 'missing', ['body']],
  ['null', 'application/json', 'missing', ['body']],
  ['{"a": 1', 'application/json', 'json_invalid', ['body', 7]],
  ['{"a": "\u0001"}', 'application/json', 'json_invalid', ['body', 7]],
  ["{'a': 1}", 'application/json', 'json_invalid', ['body', 1]],
  ['{}{}', 'application/json', 'json_invalid', ['body', 2]],
  ['['.repeat(100_000), 'application/json', 'json_invalid', ['body', 0]],
  [`{"a":[${'0,'.repeat(500_000)}0]}`, 'application/json', 'json_invalid', ['body', 0]],
  ['[]', 'application/json', 'model_attributes_type', ['body']],
  ['"text"', 'application/json', 'model_attributes_type', ['body']],
  ['17', 'application/json', 'model_attributes_type', ['body']],
  ['a=1&b=2', 'application/x-www-form-urlencoded', 'model_attributes_type', ['body']],
  ['<a/>', 'text/xml', 'model_attributes_type', ['body']],
]

test('every call with a JSON body names what is wrong with a body that is none, and stores nothing', async () => {
  const owner = await everyScope()
  const chat = await startConversation({}, owner)
  const before = [await traces(owner), await chat.events()]
  expect(withJsonBody.length).toBeGreaterThan(2)
  for (const { method, path, requestBody } of withJsonBody) {
    const url = path.replace('{conversation_id}', chat.id).replace(/\{\w+\}/, 'nobody')
    for (const [body, contentType, type, loc] of BROKEN) {
      // A call that can do without a body takes none for none.
      if (type === 'missing' && requestBody?.required !== true) continue
      const headers = { 'x-session-api-key': owner.key, 'content-type': contentType }
      const response = await request(url, { method, headers, body })
      expect([method, path, body.slice(0, 20), response.status]).toEqual([method, path, body.slice(0, 20), 422])
      const { detail } = await response.json<{ detail: Item[] }>()
      expect([method, path, body.slice(0, 20), detail[0]?.type, detail[0]?.loc]).toEqual([
        method,
        path,
        body.slice(0, 20),
        type,
        loc,
      ])
    }
  }
  expect([await traces(owner), await chat.events()]).toEqual(before)
})

test('a body of 20 MB is refused with a 413 by every call, announced or not, and stores nothing', async () => {
  const owner = await everyScope()
  const chat = await startConversation({}, owner)
  const before = [await traces(owner), await chat.events()]
  const body = JSON.stringify({ key: 'x', action: 'message', args: { content: hostile(20 * MEGABYTES) } })
  for (const { method, path } of withJsonBody) {
    const url = path.replace('{conversation_id}', chat.id).replace(/\{\w+\}/, 'nobody')
    const headers = { 'x-session-api-key': owner.key, 'content-type': 'application/json' }
    const sent = await request(url, { method, headers, body })
    expect([method, path, sent.status]).toEqual([method, path, 413])
    expect(await sent.text()).toContain('larger than 8388608 bytes')
    const announced = await request(url, { method, headers: { ...headers, 'content-length': '20971520' }, body: '{}' })
    expect([method, path, announced.status]).toEqual([method, path, 413])
  }
  const upload = await owner.ask(`${chat.path}/upload-files`, {
    method: 'POST',
    headers: { 'content-length': '99999999' },
    body: new FormData(),
  })
  expect(upload.status).toBe(413)
  expect([await traces(owner), await chat.events()]).toEqual(before)
})

test('a body that is packed is refused by name by every call that takes one, in its own shape, and stores nothing', async () => {
  const owner = await everyScope()
  const chat = await startConversation({}, owner)
  const before = [await traces(owner), await chat.events()]
  const packed = new Response('{"action":"message","args":{"content":"x"}}').body?.pipeThrough(
    new CompressionStream('gzip'),
  )
  const body = await new Response(packed).arrayBuffer()
  const taking = calls.filter(({ method, requestBody }) => method !== 'GET' && requestBody !== undefined)
  expect(taking.length).toBeGreaterThan(withJsonBody.length)
  for (const { method, path, requestBody } of taking) {
    const url = path.replace('{conversation_id}', chat.id).replace(/\{\w+\}/, 'nobody')
    const type = Object.keys(requestBody?.content ?? {})[0] ?? 'application/json'
    const headers = { 'x-session-api-key': owner.key, 'content-type': type }
    const response = await request(url, { method, headers: { ...headers, 'content-encoding': 'gzip' }, body })
    expect([method, path, response.status]).toEqual([method, path, 415])
    const message = 'The body has the Content-Encoding "gzip"; send it without Content-Encoding'
    const analysis = path.startsWith('/api/v1/') && { error: 'http_error', message, detail: null }
    const settings = path === '/api/settings' && { error: message }
    expect([path, await response.json()]).toEqual([path, analysis || settings || { detail: message }])
  }
  const events = (encoding: string) =>
    chat.owner.ask(`${chat.path}/events`, {
      method: 'POST',
      headers: { 'content-encoding': encoding },
      body: { action: 'nothing' },
    })
  for (const encoding of ['br', 'deflate', 'GZIP', 'identity, gzip', 'x'.repeat(9_000)]) {
    expect([encoding, (await events(encoding)).status]).toEqual([encoding, 415])
  }
  for (const encoding of ['identity', ' Identity ', '']) {
    expect([encoding, (await events(encoding)).status]).toEqual([encoding, 422])
  }
  expect([await traces(owner), await chat.events()]).toEqual(before)
})

const IDS = [
  '..',
  '../../etc/passwd',
  '..\\..\\etc',
  'a/../b',
  '\u0000',
  'a\u0000b',
  hostile(10_000),
  '🦊',
  'ﬀ',
  'a\r\nset-cookie: evil=1',
  'a\nx-evil: 1',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '{{7*7}}',
  '%',
  '*',
  '__proto__',
  'constructor',
  hostile(64),
  hostile(65),
]

/** A body that the call would take, so that only the id is at fault. */
function goodBody({ method, path, requestBody }: Call): Record<string, unknown> | FormData | undefined {
  if (requestBody === undefined) return undefined
  if (method === 'PATCH') return { title: 'a' }
  if (path.endsWith('/events')) return { action: 'message', args: { content: 'echo hello' } }
  if (path.endsWith('/fork')) return { event_id: 0 }
  if (path.endsWith('/submit-feedback')) return { polarity: 'positive' }
  if (path.endsWith('/security/policy')) return { policy: 'x' }
  if (path.endsWith('/security/settings')) return { RISK_SEVERITY: 1 }
  if (!path.endsWith('/upload-files')) return {}
  const form = new FormData()
  form.append('files', new File(['x'], 'a.txt'))
  return form
}

/** A good value for every parameter that the call insists on. */
const requiredQuery = ({ parameters = [] }: Call): Record<string, string> =>
  Object.fromEntries(
    parameters
      .filter(({ in: place, required }) => place === 'query' && required === true)
      .map(({ name, schema }) => [name, schema.type === 'integer' ? '0' : 'a']),
  )

test('an id that cannot be one is answered like any unknown id by every call, and leaves no header or trace behind', async () => {
  const owner = await everyScope()
  // To a runner's socket a key is no ticket, whatever the id.
  const scoped = calls.filter(({ path }) => path.startsWith(CHAT) && !path.endsWith('/runner'))
  expect(scoped.length).toBeGreaterThan(5)
  for (const call of scoped) {
    const query = `?${new URLSearchParams(requiredQuery(call))}`
    const headers = /\/(ws|terminal)$/.test(call.path) ? { upgrade: 'websocket' } : {}
    const answerTo = async (id: string) => {
      const url = `${call.path.replace('{conversation_id}', encodeURIComponent(id)).replace('{port}', '3000')}${query}`
      const body = call.method === 'GET' ? undefined : goodBody(call)
      const response = await owner.ask(url, { method: call.method, headers, ...(body ? { body } : {}) })
      expect([id, response.headers.get('x-evil'), response.headers.get('set-cookie')]).toEqual([id, null, null])
      return [response.status, (await response.json<unknown>()) as unknown]
    }
    const usual = JSON.stringify(await answerTo('0'.repeat(32)))
    expect(usual).toMatch(/^\[(404|200),/)
    for (const id of IDS) {
      // A lone `..` is gone before the request is made; that is another path.
      if (id === '..') continue
      const shown = usual.replaceAll('0'.repeat(32), () => JSON.stringify(id).slice(1, -1))
      expect([call.method, call.path, JSON.stringify(await answerTo(id))]).toEqual([call.method, call.path, shown])
    }
  }
  expect(await traces(owner)).toEqual({ conversations: 0, keys: 1 })
})

test('an id in a body that breaks the rules is a 422 that names it, and no conversation comes of it', async () => {
  const owner = await everyScope()
  for (const id of [...IDS, '', ' ', null, 5, {}, ['a']]) {
    if (typeof id === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(id)) continue
    const response = await owner.ask('/api/conversations', { method: 'POST', body: { conversation_id: id } })
    expect([id, response.status]).toEqual([id, 422])
    const { detail } = await response.json<{ detail: Item[] }>()
    expect([id, detail.map(({ loc }) => loc)]).toEqual([id, [['body', 'conversation_id']]])
  }
  expect(await traces(owner)).toEqual({ conversations: 0, keys: 1 })
})

test('wrong types and unknown fields of a new conversation are all named at once, and none is made', async () => {
  const owner = await everyScope()
  const body = {
    repository: 1,
    git_provider: 'svn',
    image_urls: 'a.png',
    initial_user_msg: {},
    suggested_task: { git_provider: 'github', task_type: 'DANCE', repo: 'a/b', issue_number: 'many' },
    create_microagent: 'x',
    mcp_config: { sse_servers: [{ url: 'ftp://x' }, 5], stdio_servers: {}, extra: true },
    __proto__x: 1,
    surprise: 1,
  }
  const response = await owner.ask('/api/conversations', { method: 'POST', body })
  expect(response.status).toBe(422)
  const { detail } = await response.json<{ detail: Item[] }>()
  expect(detail.map(({ type, loc }) => `${type} ${loc.slice(1).join('.')}`).sort()).toEqual([
    'enum git_provider',
    'enum suggested_task.task_type',
    'extra_forbidden __proto__x',
    'extra_forbidden mcp_config.extra',
    'extra_forbidden surprise',
    'int_parsing suggested_task.issue_number',
    'list_type image_urls',
    'list_type mcp_config.stdio_servers',
    'missing suggested_task.title',
    'model_attributes_type create_microagent',
    'model_attributes_type mcp_config.sse_servers.1',
    'string_type initial_user_msg',
    'string_type repository',
    'value_error mcp_config.sse_servers.0.url',
  ])
  expect(await traces(owner)).toEqual({ conversations: 0, keys: 1 })
})

test('limits and positions beyond all sense get the answer of the contract, never a failure', async () => {
  const owner = await everyScope()
  const chat = await startConversation({}, owner)
  const all = await chat.events()
  expect(all.length).toBeGreaterThan(0)
  const answers: [query: string, status: number, body: unknown][] = [
    ['limit=-1', 400, { detail: 'Invalid limit' }],
    ['limit=101', 400, { detail: 'Invalid limit' }],
    [`limit=${'9'.repeat(300)}`, 400, { detail: 'Invalid limit' }],
    ['limit=-99999999999999999999', 400, { detail: 'Invalid limit' }],
    ['limit=0', 200, { events: [], has_more: true }],
    ['start_id=99999999999999999999', 200, { events: [], has_more: false }],
    [`start_id=-${'9'.repeat(50)}&limit=100`, 200, { events: all, has_more: false }],
    ['end_id=99999999999999999999&limit=100', 200, { events: all, has_more: false }],
    ['end_id=-1', 200, { events: [], has_more: false }],
    ['start_id=5&end_id=2', 200, { events: [], has_more: false }],
  ]
  for (const [query, status, body] of answers) {
    const response = await owner.ask(`${chat.path}/events?${query}`)
    expect([query, response.status, await response.json()]).toEqual([query, status, body])
  }
  for (const limit of ['-1', '0', '-99999999999999999999']) {
    const { results } = await owner.json<{ results: unknown[] }>(`/api/conversations?limit=${limit}`)
    expect([limit, results.length]).toEqual([limit, 1])
  }
  expect((await owner.ask(`/api/conversations?limit=${'9'.repeat(300)}`)).status).toBe(200)
  for (const page of ['', '%00', 'MjA=', '../..', hostile(10_000), '🦊', 'eyJ9']) {
    const response = await owner.ask(`/api/conversations?page_id=${encodeURIComponent(page)}`)
    expect([page, response.status]).toEqual([page, page === '' ? 200 : 400])
  }
})

/** Parameters of a query whose document type is this. */
const ofType = ({ parameters = [] }: Call, type: string) =>
  parameters.filter(({ in: place, schema }) => place === 'query' && [schema.type].flat().includes(type))

test('a number or a switch in a query that is none is a 422 that names it', async () => {
  const owner = await everyScope()
  const chat = await startConversation({}, owner)
  let tried = 0
  for (const call of calls.filter(({ method }) => method === 'GET')) {
    const url = call.path.replace('{conversation_id}', chat.id).replace(/\{\w+\}/, 'nobody')
    for (const [type, code] of [
      ['integer', 'int_parsing'],
      ['boolean', 'bool_parsing'],
    ] as const) {
      for (const { name } of ofType(call, type)) {
        for (const value of ['five', '', '1.5', '0x10', 'NaN', '1;2', '🦊', '%00', 'null', hostile(10_000)]) {
          const response = await owner.ask(`${url}?${name}=${value}`)
          expect([call.path, name, value, response.status]).toEqual([call.path, name, value, 422])
          const { detail } = await response.json<{ detail: Item[] }>()
          expect(detail.find(({ loc }) => loc[1] === name)).toMatchObject({ type: code, loc: ['query', name] })
          tried++
        }
      }
    }
  }
  expect(tried).toBeGreaterThan(50)
})

test('whatever text stands in a query, the answer is JSON with a status that the document declares', async () => {
  const owner = await everyScope()
  const chat = await startConversation({}, owner)
  const readable = calls.filter(({ method, path }) => method === 'GET' && !/(\/ws|\/stream)$/.test(path))
  const cases = readable.flatMap((call) => ofType(call, 'string').map(({ name }) => ({ call, name })))
  expect(cases.length).toBeGreaterThan(5)
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(...IDS, '/workspace/../..', '/etc/passwd', 'a\u0000', '2025-13-99', '%%%', '"', '\\', 'SELECT 1'),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...cases), text, async ({ call, name }, value) => {
      const url = call.path.replace('{conversation_id}', chat.id).replace(/\{\w+\}/, 'nobody')
      const response = await owner.ask(`${url}?${name}=${encodeURIComponent(value.toWellFormed())}`)
      expect(Object.keys(call.responses)).toContain(String(response.status))
      // A file stays a file; everything else, and every refusal, is JSON.
      if (response.ok && isFile(call)) await response.text()
      else await response.json()
    }),
    { numRuns: 300 },
  )
})

test('strange texts in an event are stored and given back as they were, and pollute nothing', async () => {
  const chat = await startConversation()
  const content = `# \u0000 \ud800 🦊 \u2028 ${'a\u0301'} </script> ${'\u202e'}`
  const body = `{"action":"message","args":{"content":${JSON.stringify(content)},"content":${JSON.stringify(content)}}}`
  const headers = { 'x-session-api-key': chat.owner.key, 'content-type': 'application/json' }
  const post = (text: string) => request(`${chat.path}/events`, { method: 'POST', headers, body: text })
  expect((await post(body)).status).toBe(200)
  const stored = await chat.events('?include_types=message&source=user')
  expect(stored.map(({ args }) => args?.content)).toEqual([content])
  const polluting =
    '{"action":"message","args":{"content":"x","__proto__":{"evil":1}},"constructor":{"prototype":{"evil":1}}}'
  expect((await post(polluting)).status).toBe(422)
  expect(({} as Record<string, unknown>).evil).toBe(undefined)
  expect(await chat.events('?include_types=message&source=user')).toHaveLength(1)
})

test('a bad key request issues no key', async () => {
  const countOf = async () => (await env.DB.prepare('SELECT count(*) AS n FROM api_keys').first<{ n: number }>())?.n
  const before = await countOf()
  const bad: unknown[] = [
    {},
    { owner: '../x', name: 'n', scopes: ['admin'] },
    { owner: 'a\u0000', name: 'n', scopes: ['admin'] },
    { owner: hostile(10_000), name: 'n', scopes: ['admin'] },
    { owner: '🦊', name: 'n', scopes: ['admin'] },
    { owner: 'ann', name: '', scopes: ['admin'] },
    { owner: 'ann', name: 5, scopes: ['admin'] },
    { owner: 'ann', name: 'n', scopes: [] },
    { owner: 'ann', name: 'n', scopes: ['root'] },
    { owner: 'ann', name: 'n', scopes: 'admin' },
    { owner: 'ann', name: 'n', scopes: ['admin'], expires_at: 'tomorrow' },
    { owner: 'ann', name: 'n', scopes: ['admin'], expires_at: '2001-01-01T00:00:00Z' },
  ]
  const headers = { 'x-session-api-key': ROOT_KEY, 'content-type': 'application/json' }
  for (const body of bad) {
    const response = await request('/api/keys', { method: 'POST', headers, body: JSON.stringify(body) })
    expect([body, response.status]).toEqual([body, 422])
  }
  expect(await countOf()).toBe(before)
  for (const id of IDS.filter((id) => id !== '..')) {
    const response = await request(`/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE', headers })
    expect([id, response.status]).toEqual([id, 404])
  }
})

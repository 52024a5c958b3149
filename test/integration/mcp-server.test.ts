import { expect, test } from 'vitest'
import { client, request } from '../helpers/app.ts'
import { mcpClient, type ToolReply } from '../helpers/mcp-client.ts'

const parsed = (reply: ToolReply): Record<string, unknown> => {
  if (reply.isError) throw new Error(reply.text)
  return JSON.parse(reply.text)
}

const TOOLS = [
  'create_pr',
  'create_mr',
  'create_bitbucket_pr',
  'list_conversations',
  'create_conversation',
  'get_conversation',
  'start_conversation',
  'send_message',
  'read_events',
  'list_files',
  'read_file',
  'search_stocks',
  'submit_analysis',
  'get_task',
  'get_report',
]

test('both addresses serve the same tools, each with a schema and a word on what it changes', async () => {
  const { key } = await client()
  for (const path of ['/mcp', '/mcp/mcp']) {
    const { client: mcp } = await mcpClient(key, { path })
    expect(mcp.getServerVersion()).toMatchObject({ name: 'bellwether' })
    const { tools } = await mcp.listTools()
    expect(tools.map(({ name }) => name)).toEqual(TOOLS)
    for (const { inputSchema, description, annotations } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) })
      expect(description?.length).toBeGreaterThan(20)
      expect(typeof annotations?.readOnlyHint).toBe('boolean')
    }
    const pull = tools.find(({ name }) => name === 'create_pr')?.inputSchema
    expect(pull?.required).toEqual(['repo_name', 'source_branch', 'target_branch', 'title'])
    expect(pull?.properties?.draft).toMatchObject({ type: 'boolean', default: true })
  }
})

test('a client starts a conversation, works in it and reads what came of it', async () => {
  const { key } = await client()
  const { call } = await mcpClient(key)
  const created = parsed(await call('create_conversation', { initial_user_msg: 'mkdir notes; seq 5 > notes/n.txt' }))
  const conversation_id = String(created.conversation_id)
  await expect.poll(async () => (await call('list_files', { conversation_id, path: 'notes' })).text).toBe('notes/n.txt')
  // The shell makes the file before it writes to it.
  await expect
    .poll(() => call('read_file', { conversation_id, path: 'notes/n.txt', first_line: 2, last_line: 3 }))
    .toEqual({ text: '2\n3', isError: false })
  expect(await call('send_message', { conversation_id, content: 'echo over' })).toEqual({
    text: 'Sent',
    isError: false,
  })
  await expect
    .poll(async () => (await call('read_events', { conversation_id, limit: 100 })).text)
    .toContain('"content":"over"')
  const listed = parsed(await call('list_conversations', { limit: 5 })) as { results: { conversation_id: string }[] }
  expect(listed.results.map((each) => each.conversation_id)).toEqual([conversation_id])
  expect(parsed(await call('get_conversation', { conversation_id }))).toMatchObject({ conversation_id, pr_number: [] })

  await request(`/api/conversations/${conversation_id}/stop`, {
    method: 'POST',
    headers: { 'x-session-api-key': key },
  })
  expect(await call('send_message', { conversation_id, content: 'hello?' })).toEqual({
    text: 'The conversation is stopped; start it first',
    isError: true,
  })
  expect(parsed(await call('start_conversation', { conversation_id }))).toMatchObject({ status: 'ok' })
  expect((await call('send_message', { conversation_id, content: 'echo again' })).isError).toBe(false)
})

test('a client has a stock analysed and reads the report', async () => {
  const { key } = await client()
  const { call } = await mcpClient(key)
  const found = parsed(await call('search_stocks', { query: '600519' })) as { items: { stock_code: string }[] }
  expect(found.items[0]?.stock_code).toContain('600519')
  const stocks = ['AAPL', '600000']
  const submitted = parsed(await call('submit_analysis', { stocks })) as { accepted: { task_id: string }[] }
  expect(submitted.accepted).toHaveLength(2)
  const task_id = String(submitted.accepted[0]?.task_id)
  await expect.poll(async () => parsed(await call('get_task', { task_id })).status).toBe('completed')
  const report = await call('get_report', { record_id: task_id })
  expect(report.isError).toBe(false)
  expect(report.text).toMatch(/^# /m)
  expect(report.text).toContain('AAPL')
  expect(await call('get_task', { task_id: 'nobody' })).toMatchObject({ isError: true })
})

test('what another owner has answers letter for letter like what never existed', async () => {
  const [owner, stranger] = [await client(), await client()]
  const own = await mcpClient(owner.key)
  const theirs = await mcpClient(stranger.key)
  const id = String(parsed(await own.call('create_conversation')).conversation_id)
  const submitted = parsed(await own.call('submit_analysis', { stocks: ['MSFT'] }))
  const never = id.replace(/^./, (first) => (first === '0' ? '1' : '0'))
  const calls: [string, (id: string) => Record<string, unknown>][] = [
    ['get_conversation', (conversation_id) => ({ conversation_id })],
    ['start_conversation', (conversation_id) => ({ conversation_id })],
    ['send_message', (conversation_id) => ({ conversation_id, content: 'hi' })],
    ['read_events', (conversation_id) => ({ conversation_id })],
    ['list_files', (conversation_id) => ({ conversation_id })],
    ['read_file', (conversation_id) => ({ conversation_id, path: 'a.txt' })],
  ]
  for (const [name, args] of calls) {
    const answer = await theirs.call(name, args(id))
    expect([name, answer.isError]).toEqual([name, true])
    expect(answer.text.replaceAll(id, never)).toBe((await theirs.call(name, args(never))).text)
  }
  const task = String(submitted.task_id)
  const unknown = task.replace(/^./, (first) => (first === '0' ? '1' : '0'))
  for (const [name, field] of [
    ['get_task', 'task_id'],
    ['get_report', 'record_id'],
  ] as const) {
    const answer = await theirs.call(name, { [field]: task })
    expect(answer.isError).toBe(true)
    expect(answer.text.replaceAll(task, unknown)).toBe((await theirs.call(name, { [field]: unknown })).text)
  }
  expect((parsed(await theirs.call('list_conversations')) as { results: unknown[] }).results).toEqual([])
})

test('arguments that do not fit are an error of the tool, told so that a model can mend them', async () => {
  const { call, client: mcp } = await mcpClient((await client()).key)
  const wrong: [string, Record<string, unknown>, string | RegExp][] = [
    ['get_conversation', {}, /conversation_id/],
    [
      'get_conversation',
      { conversation_id: '..' },
      'The arguments do not fit. conversation_id: Not an id of a conversation',
    ],
    ['get_conversation', { conversation_id: '../../keys' }, /Not an id/],
    ['get_task', { task_id: '..' }, 'The arguments do not fit. task_id: Not an id'],
    ['get_task', { task_id: '../../../keys' }, 'The task does not exist or has expired'],
    ['list_conversations', { limit: '5' }, /limit: .*number/],
    ['list_conversations', { limit: 1e9 }, /limit/],
    ['list_conversations', { page_id: 'bogus' }, 'Invalid page_id'],
    ['list_conversations', { nonsense: 1 }, /nonsense/],
    ['submit_analysis', { stocks: [] }, /stocks/],
    ['submit_analysis', { stocks: ['?!'] }, /\?!/],
    ['create_pr', { repo_name: 'a/b' }, /source_branch.*target_branch.*title/],
    ['create_conversation', { repository: 'a/b', git_provider: 'sourceforge' }, /git_provider/],
  ]
  for (const [name, args, words] of wrong) {
    const answer = await call(name, args)
    expect([name, args, answer.isError]).toEqual([name, args, true])
    expect(answer.text).toMatch(words)
  }
  await expect(mcp.callTool({ name: 'rm_rf', arguments: {} })).rejects.toThrow('Unknown tool: rm_rf')
})

test('a key that may not see analyses gets no analysis by way of a tool', async () => {
  const { call } = await mcpClient((await client({ scopes: ['conversations'] })).key)
  expect((await call('list_conversations')).isError).toBe(false)
  for (const [name, args] of [
    ['search_stocks', { query: 'AAPL' }],
    ['submit_analysis', { stocks: ['AAPL'] }],
  ] as const) {
    expect(await call(name, args)).toEqual({ text: 'This key lacks the scope "analysis"', isError: true })
  }
  const analyst = await client({ scopes: ['analysis'] })
  await expect(mcpClient(analyst.key)).rejects.toThrow('lacks the scope')
})

const post = (key: string, body: string, headers: Record<string, string> = {}) =>
  request('/mcp', {
    method: 'POST',
    headers: {
      'x-session-api-key': key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  })

test('what is no message of the protocol is refused with a status, and costs nothing else', async () => {
  const { key } = await client()
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const status = async (body: string, headers?: Record<string, string>) => (await post(key, body, headers)).status
  expect(await status(list)).toBe(200)
  expect(await status('{"jsonrpc":')).toBe(400)
  expect(await status('{"hello":"world"}')).toBe(400)
  expect(await status(list, { 'content-type': 'text/plain' })).toBe(415)
  expect(await status(list, { accept: 'text/html' })).toBe(406)
  expect(await status(list, { 'mcp-protocol-version': '1999-01-01' })).toBe(400)
  expect(await status('x'.repeat(9_000_000))).toBe(413)
  expect(await status('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toBe(202)
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await request('/mcp', { method, headers: { 'x-session-api-key': key } })
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST'])
  }
  const unknown = await post(key, '{"jsonrpc":"2.0","id":7,"method":"resources/list"}')
  expect(await unknown.json()).toMatchObject({ id: 7, error: { code: -32601 } })
})

test('a request that cancels itself, or that comes twice in one batch, is answered all the same', async () => {
  const { key } = await client()
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'no' } }
  const cancelled = await post(key, JSON.stringify([call, cancel]))
  expect(await cancelled.text()).toContain('create_pr')
  const twice = await post(key, JSON.stringify([call, call]))
  expect(await twice.text()).toContain('create_pr')
  const crowd = await post(key, JSON.stringify(Array.from({ length: 101 }, (_, id) => ({ ...call, id }))))
  expect(crowd.status).toBe(400)
})

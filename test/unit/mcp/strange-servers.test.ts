import { expect, test } from 'vitest'
import { mcpResultParts } from '../../../src/agent/tools/mcp.ts'
import type { McpServers } from '../../../src/db/settings.ts'
import { toolServerDoor } from '../../../src/mcp/remote-server.ts'
import { callMcpTool, type McpTool, openMcpServers } from '../../../src/mcp/session-tools.ts'
import { DEPS, journalOf, NO_SERVERS, overHttp, overSse, strangeUrl, toolsOf } from '../../helpers/mcp.ts'
import { CLOSED } from '../../helpers/policies.ts'
import { heldTimers } from '../../helpers/timers.ts'

const only = async (servers: McpServers, name = 'plain'): Promise<McpTool> => {
  const tool = (await toolsOf(servers)).find((each) => each.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool
}

const INSIDE =
  'The address is refused: 169.254.169.254 is not a public address (the operator can allow 169.254.169.254 with ALLOW_PRIVATE_NETWORK)'

const failureOf = async (servers: McpServers, more: { deadlineMs?: number } = {}) => {
  const { tools, failures } = await openMcpServers(servers, { ...DEPS, ...more })
  expect(tools).toEqual([])
  expect(failures).toHaveLength(1)
  return failures[0]?.message
}

test.each([
  ['not-json', 'The server answers with something that is not JSON'],
  ['not-json-stream', 'The server answers with something that is not JSON'],
  ['not-a-message', 'The server answers with something that is not a message of the protocol'],
  ['html', 'The server answers with something that is not the protocol'],
  ['cut-stream', 'The server closes the connection without an answer'],
  ['refuses-key', 'The server wants another key (status 401)'],
  ['fails', 'The server fails (status 500)'],
  ['nowhere', 'There is no tool server at this address (status 404)'],
  ['redirects-inside', INSIDE],
  ['large-listing', 'The server answers with more than 8388608 bytes'],
])('a server that is %s fails with a sentence, and without a wait', async (manner, message) => {
  expect(await failureOf(overHttp(strangeUrl(manner), 'hunter2'))).toBe(message)
})

test.each([
  ['not-json', 'The server answers with something that is not the protocol'],
  ['fails', 'The server fails (status 500)'],
  ['refuses-key', 'The server wants another key (status 401)'],
  ['redirects-inside', INSIDE],
  ['names-inside', 'The server wants its messages sent to another host'],
  ['cut-stream', 'The server closes the connection without an answer'],
])('an SSE server that is %s fails with a sentence', async (manner, message) => {
  expect(await failureOf(overSse(strangeUrl(manner)))).toBe(message)
})

test('a server that says nothing costs its deadline, and the others are listed meanwhile', async () => {
  const journal = crypto.randomUUID()
  const servers: McpServers = {
    sse: [
      { url: strangeUrl('silent'), apiKey: null },
      { url: strangeUrl('silent-stream'), apiKey: null },
    ],
    shttp: [
      { url: strangeUrl('silent'), apiKey: null },
      { url: strangeUrl('polite', journal), apiKey: null },
    ],
    stdio: [{ name: 'local', command: 'run-me', args: [], env: {} }],
  }
  const deadline = heldTimers(29_000)
  const opening = openMcpServers(servers, { ...DEPS, deadlineMs: 29_000 })
  await expect.poll(async () => (await journalOf(journal)).length).toBeGreaterThan(0)
  // All but that of the one that answers.
  await expect.poll(() => deadline.waiting).toBe(3)
  deadline.goOff()
  const opened = await opening
  expect(opened.tools.map(({ name }) => name)).toEqual(['plain'])
  expect(opened.failures.map(({ message }) => message)).toEqual(
    Array(3).fill('The server did not answer within 29 seconds'),
  )
})

test('a call that is never answered is a failed result at its deadline', async () => {
  const servers = overHttp(strangeUrl('silent-on-call'))
  const result = await callMcpTool(await only(servers), {}, { servers, ...DEPS, deadlineMs: 300 })
  expect(result).toEqual({
    meta: null,
    content: [{ type: 'text', text: 'Error: The server did not answer within 0.3 seconds' }],
    isError: true,
  })
})

test('a stop while servers are listed throws the reason of the stop', async () => {
  const stop = new AbortController()
  const opening = openMcpServers(overHttp(strangeUrl('silent')), { ...DEPS, signal: stop.signal })
  setTimeout(() => stop.abort(new Error('stopped')), 100)
  await expect(opening).rejects.toThrow('stopped')
  await expect(openMcpServers(NO_SERVERS, { ...DEPS, signal: stop.signal })).rejects.toThrow('stopped')
})

test('addresses inside are refused before anything is sent, and never shown whole', async () => {
  const door = toolServerDoor(CLOSED)
  const urls = [
    'http://169.254.169.254/latest?key=hunter2',
    'http://localhost:1234/mcp/hunter2',
    'http://10.1.2.3/',
    'ws://example.com/mcp',
    'http://hunter2@example.com/',
    'file:///etc/passwd',
    'not a url',
  ]
  for (const url of urls) {
    for (const servers of [overHttp(url, 'hunter2'), overSse(url)]) {
      const { tools, failures } = await openMcpServers(servers, { ...DEPS, door })
      expect(tools).toEqual([])
      expect(failures[0]?.message).toMatch(/^The address is (refused|malformed)/)
      expect(JSON.stringify(failures)).not.toContain('hunter2')
    }
  }
})

test('a listing of 2,000 tools, one without an end and one that goes in circles are cut', async () => {
  const many = await openMcpServers(overHttp(strangeUrl('many')), DEPS)
  expect(many.tools).toHaveLength(100)
  expect(many.failures).toEqual([
    { server: expect.any(String), message: 'Left out, because there are too many tools: 1900 of its 2000' },
  ])
  const endless = await openMcpServers(overHttp(strangeUrl('endless-pages')), { ...DEPS, maxTools: 500 })
  expect(endless.tools).toHaveLength(200)
  expect(endless.failures.map(({ message }) => message)).toEqual([
    'Its listing does not end; what came until then is used',
  ])
  const circle = await openMcpServers(overHttp(strangeUrl('same-cursor')), DEPS)
  expect(circle.tools.map(({ name }) => name)).toEqual(['again'])
})

test('odd tools get names that vendors take, and faulty ones cost only themselves', async () => {
  const { tools, failures } = await openMcpServers(overHttp(strangeUrl('odd-tools')), {
    ...DEPS,
    reserved: ['execute_bash', 'str_replace_editor'],
  })
  const remoteNames = Object.fromEntries(tools.map(({ name, remoteName }) => [name, remoteName]))
  expect(remoteNames).toEqual({
    read_file_now_: 'read file/now!',
    read_file_now__2: 'read.file.now?',
    _: '执行',
    _9lives: '9lives',
    ['x'.repeat(64)]: 'x'.repeat(150),
    twice: 'twice',
    proto_schema: 'proto_schema',
    bare: 'bare',
    long: 'long',
    safe_again: 'safe_again',
  })
  for (const { name, parameters } of tools) {
    expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
    expect(parameters).toMatchObject({ type: 'object', properties: {} })
  }
  const named = (name: string) => tools.find((tool) => tool.name === name)
  expect(named('twice')?.description).toBe('first')
  expect(named('long')?.description).toHaveLength(4_002)
  expect(tools.filter(({ repeatable }) => repeatable).map(({ name }) => name)).toEqual(['safe_again'])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(failures.map(({ message }) => message)).toEqual([
    '10 of its tools are not well described',
    'Left out, because the name is taken: execute_bash, twice',
  ])
})

test('equal names of two servers: the first one has it, and a call goes to it', async () => {
  const [first, second] = ['first', 'second'].map((part) => `${part}-${crypto.randomUUID()}`) as [string, string]
  const servers: McpServers = {
    ...NO_SERVERS,
    shttp: [first, second].map((journal) => ({ url: strangeUrl('polite', journal), apiKey: null })),
  }
  const { tools, failures } = await openMcpServers(servers, DEPS)
  expect(tools).toHaveLength(1)
  expect(failures.map(({ message }) => message)).toEqual(['Left out, because the name is taken: plain'])
  const [tool] = tools
  if (tool === undefined) throw new Error('no tool')
  expect((await callMcpTool(tool, {}, { servers, ...DEPS })).content).toEqual([{ type: 'text', text: 'done' }])
  const calls = async (journal: string) => (await journalOf(journal)).filter(({ method }) => method === 'tools/call')
  expect([(await calls(first)).length, (await calls(second)).length]).toEqual([1, 0])
  // The listing outlives the server.
  expect(await callMcpTool(tool, {}, { servers: NO_SERVERS, ...DEPS })).toMatchObject({ isError: true })
})

test('every request carries the key and the conversation, and nobody listens for what is said unasked', async () => {
  const journal = crypto.randomUUID()
  const servers = overHttp(strangeUrl('polite', journal), 'key-of-mine')
  await callMcpTool(await only(servers), {}, { servers, ...DEPS, conversationId: 'conv-7' })
  const entries = await journalOf(journal)
  expect(entries.map(({ method }) => method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/list',
    'initialize',
    'notifications/initialized',
    'tools/call',
  ])
  for (const { headers } of entries.slice(3)) {
    expect(headers).toMatchObject({
      authorization: 'Bearer key-of-mine',
      'x-session-api-key': 'key-of-mine',
      'x-openhands-serverconversation-id': 'conv-7',
      'x-bellwether-serverconversation-id': 'conv-7',
    })
  }
  const keyless = crypto.randomUUID()
  await openMcpServers(overHttp(strangeUrl('polite', keyless)), DEPS)
  for (const { headers } of await journalOf(keyless)) {
    expect(headers.authorization).toBeUndefined()
    expect(headers['x-session-api-key']).toBeUndefined()
  }
  expect(await failureOf(overHttp(strangeUrl('polite'), 'a\nkey'))).toBe(
    'The key of the server has characters that cannot be sent',
  )
})

test('answers of many megabytes are cut or refused', async () => {
  const call = async (manner: string) => {
    const servers = overHttp(strangeUrl(manner))
    return callMcpTool(await only(servers), {}, { servers, ...DEPS })
  }
  expect((await call('large-answer')).content).toEqual([
    { type: 'text', text: 'Error: The server answers with more than 8388608 bytes' },
  ])
  const { content } = await call('large-text')
  const text = content[0]?.type === 'text' ? content[0].text : ''
  expect(text.length).toBeLessThan(30_100)
  expect(text).toMatch(/^starté+\n\[\.\.\. \d+ characters left out \.\.\.\]\né+end$/)
  expect((await call('large-image')).content).toEqual([
    { type: 'text', text: '[image/png of 3145728 bytes left out: it is too large]' },
  ])
})

test('results that are not as expected are still results', async () => {
  const servers = overHttp(strangeUrl('odd-results'))
  const call = async (name: string) => callMcpTool(await only(servers, name), {}, { servers, ...DEPS })
  expect((await call('unknown-part')).content).toEqual([
    { type: 'text', text: '[a part of a kind that is not known here]' },
    { type: 'text', text: 'seen' },
    { type: 'text', text: '[a part of a kind that is not known here]' },
  ])
  expect((await call('structure')).content).toEqual([{ type: 'text', text: '{"answer":42}' }])
  expect(mcpResultParts(JSON.stringify(await call('failure')))).toEqual([
    { type: 'text', text: 'The tool failed.' },
    { type: 'text', text: 'no such file' },
  ])
  const nothing = await call('nothing')
  expect(nothing).toEqual({ meta: null, content: [], isError: false })
  expect(mcpResultParts(JSON.stringify(nothing))).toEqual([{ type: 'text', text: '[no output]' }])
  const crowd = await call('crowd')
  expect(crowd.content).toHaveLength(101)
  expect(crowd.content.at(-1)).toEqual({ type: 'text', text: '[400 more parts left out]' })
  expect(mcpResultParts('as it came')).toEqual([{ type: 'text', text: 'as it came' }])
})

test('an unknown tool of a known server fails in the words of the protocol', async () => {
  const servers = overHttp(strangeUrl('polite'))
  const silent = overHttp(strangeUrl('many'))
  const tool = await only(servers)
  const [gone] = (await openMcpServers(silent, { ...DEPS, maxTools: 1 })).tools
  if (gone === undefined) throw new Error('no tool')
  expect(await callMcpTool(gone, {}, { servers: silent, ...DEPS })).toEqual({
    meta: null,
    content: [{ type: 'text', text: 'Error: Method not found' }],
    isError: true,
  })
  expect(await callMcpTool(tool, {}, { servers, ...DEPS })).toMatchObject({ isError: false })
})

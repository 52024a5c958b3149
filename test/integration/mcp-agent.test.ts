import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { inState, startAgent, untilSaid } from '../helpers/agent.ts'
import { withTokens } from '../helpers/git-accounts.ts'
import { everything, journalOf, strangeUrl } from '../helpers/mcp.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

const finish = { calls: [{ id: 'f', name: 'finish', arguments: { message: 'done' } }] }
const call = (name: string, args: Record<string, unknown>, id = 'c1') => ({ calls: [{ id, name, arguments: args }] })

type ModelRequest = {
  body: { tools?: { function: { name: string } }[]; messages: { role: string; content: unknown }[] }
}

test('an agent calls a tool of a remote server, in this life of its object and in the next', async () => {
  const chat = await startAgent({
    replies: [
      call('echo', { message: 'hello from the edge' }),
      finish,
      call('get-sum', { a: 20, b: 22 }, 'c2'),
      finish,
    ],
    body: {
      initial_user_msg: 'use the server',
      mcp_config: {
        sse_servers: [],
        stdio_servers: [{ name: 'files', command: 'serve-files', args: [], env: {} }],
        shttp_servers: [{ url: await everything('http') }, { url: strangeUrl('fails') }],
      },
    },
  })
  await inState(chat, 'finished')
  const events = await chat.events()
  const action = events.find((event) => event.action === 'call_tool_mcp')
  expect(action?.args).toMatchObject({ name: 'echo', arguments: { message: 'hello from the edge' } })
  expect(events.find(({ observation }) => observation === 'mcp')).toMatchObject({
    cause: action?.id,
    content: '{"meta":null,"content":[{"type":"text","text":"Echo: hello from the edge"}],"isError":false}',
    extras: { name: 'echo', arguments: { message: 'hello from the edge' } },
  })
  // What cannot be used is told once, in words.
  const told = events.filter(({ observation }) => observation === 'error').map(({ content }) => String(content))
  expect(told.filter((text) => text.includes('The server fails (status 500)'))).toHaveLength(1)
  // One that would have to run as a program is no error: whoever is there hears of it as a status, once.
  expect(told.join()).not.toContain('files')
  const socket = await chat.connect()
  await socket.until((s) => s.frames.some(({ type }) => type === 'ready'))
  const asked = (await chat.model.requests()).at(-1) as unknown as ModelRequest
  expect(asked.body.tools?.map((tool) => tool.function.name)).toEqual(expect.arrayContaining(['execute_bash', 'echo']))
  expect(JSON.stringify(asked.body.messages)).toContain('Echo: hello from the edge')

  await evictDurableObject(conversation(env, chat.owner.owner, chat.id))
  await chat.post('message', { content: 'once more' })
  await expect
    .poll(async () => (await chat.events()).filter(({ observation }) => observation === 'mcp').length, {})
    .toBe(2)
  const again = (await chat.events()).filter(({ observation }) => observation === 'mcp')
  expect(again[1]?.content).toContain('The sum of 20 and 22 is 42.')
  const complaints = (await chat.events()).filter(({ observation }) => observation === 'error')
  expect(complaints).toHaveLength(told.length)
  const statuses = socket.frames.filter(({ id }) => id === 'STATUS$TOOL_SERVERS_NOT_RUN')
  expect(statuses).toEqual([expect.objectContaining({ level: 'info', message: expect.stringContaining('files') })])
})

test('a server that is not there at the start is told of once, and its tools are there from the message on that finds it', async () => {
  const url = await everything('http')
  const real = globalThis.fetch
  const away = vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const asked = input instanceof Request ? input.url : String(input)
    return asked.startsWith(url) ? Promise.reject(new TypeError('fetch failed')) : real(input, init)
  })
  onTestFinished(() => away.mockRestore())
  const chat = await startAgent({
    replies: [{ text: 'one' }, { text: 'two' }, call('echo', { message: 'found' }), { text: 'three' }],
    body: {
      initial_user_msg: 'go',
      mcp_config: { sse_servers: [], stdio_servers: [], shttp_servers: [{ url }, { url: strangeUrl('fails') }] },
    },
  })
  await untilSaid(chat, 'one')
  await inState(chat, 'awaiting_user_input')
  await chat.post('message', { content: 'still away?' })
  await untilSaid(chat, 'two')
  await inState(chat, 'awaiting_user_input')
  const complaints = async () =>
    (await chat.events()).flatMap(({ observation, content }) => (observation === 'error' ? [String(content)] : []))
  expect(await complaints()).toEqual([
    expect.stringMatching(/cannot be reached/),
    expect.stringMatching(/status 500/),
    expect.stringMatching(/asked again with your next message/),
  ])
  away.mockRestore()
  await chat.post('message', { content: 'and now?' })
  await untilSaid(chat, 'three')
  expect((await chat.events()).find(({ observation }) => observation === 'mcp')?.content).toContain('Echo: found')
  expect(await complaints()).toHaveLength(3)
})

test('a stop while a server hangs is honoured, and the server hears who it was that called', async () => {
  const journal = crypto.randomUUID()
  const chat = await startAgent({
    replies: [call('plain', {}), finish],
    body: {
      initial_user_msg: 'call it',
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: [{ url: strangeUrl('silent-on-call', journal), api_key: 'key-1' }],
      },
    },
  })
  await expect.poll(async () => (await journalOf(journal)).some(({ method }) => method === 'tools/call')).toBe(true)
  const [entry] = (await journalOf(journal)).filter(({ method }) => method === 'tools/call')
  expect(entry?.headers).toMatchObject({ 'x-session-api-key': 'key-1', 'x-openhands-serverconversation-id': chat.id })
  await chat.post('change_agent_state', { agent_state: 'stopped' })
  await inState(chat, 'stopped')
  expect((await chat.events()).filter(({ observation }) => observation === 'mcp')).toEqual([])
})

test('an agent opens a pull request with the token of its owner, and the conversation has its number', async () => {
  const host = `http://${inject('providerHost')}`
  const owner = await withTokens({ provider: 'github', token: GOOD_TOKENS.github, host })
  const pull = { repo_name: 'ann/tools', source_branch: 'topic', target_branch: 'main', title: 'Better tools' }
  const chat = await startAgent({
    owner,
    replies: [call('create_pr', pull), finish],
    settings: { confirmation_mode: true, security_analyzer: 'invariant' },
    body: { initial_user_msg: 'open a pull request' },
  })
  // It is seen by others, so it waits for a yes like a push does.
  await inState(chat, 'awaiting_user_confirmation')
  const [system] = (await chat.events()).filter(({ action }) => action === 'system')
  expect(JSON.stringify(system?.args?.tools)).toContain('"create_pr"')
  expect((await chat.events()).at(-1)).toMatchObject({
    action: 'call_tool_mcp',
    args: { name: 'create_pr', arguments: pull, security_risk: 1, confirmation_state: 'awaiting_confirmation' },
  })
  await chat.post('change_agent_state', { agent_state: 'user_confirmed' })
  await inState(chat, 'finished')
  const answer = (await chat.events()).find(({ observation }) => observation === 'mcp')
  expect(answer?.content).toContain('https://github.com/ann/tools/pull/17?draft')
  const [asked] = (await chat.model.requests()).filter(({ method }) => method === 'POST') as unknown as ModelRequest[]
  const offered = asked?.body.tools?.map((tool) => tool.function.name) ?? []
  expect(offered).toContain('create_pr')
  expect(offered).not.toContain('create_mr')
  expect(await owner.json(chat.path)).toMatchObject({ pr_number: [17] })
})

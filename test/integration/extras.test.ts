import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { builtinMicroagents } from '../../src/agent/context/knowledge.ts'
import { OWN_DIRECTORY, REFERENCE_DIRECTORY } from '../../src/agent/microagents.ts'
import { conversation } from '../../src/bindings.ts'
import { client } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'

const evict = (chat: Chat) => evictDurableObject(conversation(env, chat.owner.owner, chat.id))

test('config, editor and web hosts answer in every state, and an evicted conversation answers the same', async () => {
  const chat = await startConversation()
  const answers = async () =>
    Promise.all(['config', 'vscode-url', 'web-hosts'].map((call) => chat.owner.json(`${chat.path}/${call}`)))
  const expected = [{ runtime_id: null, session_id: chat.id }, { vscode_url: null }, { hosts: {} }]
  expect(await answers()).toEqual(expected)
  await evict(chat)
  expect(await answers()).toEqual(expected)
  await chat.owner.ask(`${chat.path}/stop`, { method: 'POST' })
  expect(await answers()).toEqual(expected)
  expect(await chat.owner.json(chat.path)).toMatchObject({ status: 'STOPPED' })
})

const CALLS: [method: string, call: string, body?: unknown][] = [
  ['GET', 'config'],
  ['GET', 'vscode-url'],
  ['GET', 'web-hosts'],
  ['GET', 'microagents'],
  ['GET', 'trajectory'],
  ['GET', 'remember-prompt?event_id=0'],
  ['POST', 'submit-feedback', { polarity: 'positive' }],
  ['GET', 'security/policy'],
  ['POST', 'security/policy', { policy: 'mine' }],
  ['GET', 'security/settings'],
  ['POST', 'security/settings', { RISK_SEVERITY: 2 }],
  ['GET', 'security/export-trace'],
]

test('a stranger is told byte for byte what is told of an id that never existed, by every one of these calls', async () => {
  const chat = await startConversation()
  const stranger = await client()
  const unknown = '0'.repeat(32)
  for (const [method, call, body] of CALLS) {
    const answerFor = async (id: string) => {
      const response = await stranger.ask(`/api/conversations/${id}/${call}`, { method, body })
      return [response.status, (await response.text()).replaceAll(id, '<id>')]
    }
    const expected = [404, '{"detail":"Conversation <id> not found"}']
    expect([call, await answerFor(chat.id)]).toEqual([call, expected])
    expect([call, await answerFor(unknown)]).toEqual([call, expected])
    expect([call, await answerFor('no.such.id')]).toEqual([call, expected])
    expect([call, (await chat.owner.ask(`${chat.path}/${call}`, { method, body })).status]).toEqual([call, 200])
  }
})

test('the microagents of the workspace are there in every state, those that always hold first, a bad one left out', async () => {
  const write = (path: string, text: string) =>
    `mkdir -p ${path.replace(/\/[^/]*$/, '')}; cat > ${path} <<'END'\n${text}\nEND`
  const own = `${OWN_DIRECTORY}/microagents`
  const chat = await startConversation({
    initial_user_msg: [
      write(
        `${own}/flow.md`,
        '---\ntriggers: [Deploy]\nmcp_tools: {stdio_servers: [{name: fetch, command: x}]}\n---\nD',
      ),
      write(`${own}/bad.md`, '---\ntype: wizard\n---\nB'),
      write(`${own}/repo.md`, '# House rules'),
      write(`${REFERENCE_DIRECTORY}/microagents/ask.md`, '---\ninputs: [{name: a, description: b}]\n---\nA'),
    ].join('\n'),
  })
  await expect.poll(async () => (await chat.events('?include_types=observation:run')).length).toBe(1)
  const read = async () => {
    const response = await chat.owner.ask(`${chat.path}/microagents`)
    return [response.status, await response.json<{ microagents: { name: string; type: string }[] }>()] as const
  }
  const [status, { microagents }] = await read()
  expect(status).toBe(200)
  const builtins = builtinMicroagents().map(({ name }) => name)
  expect(microagents.map(({ name }) => name)).toEqual(['repo', ...builtins, 'ask', 'flow'])
  expect(microagents[0]).toEqual({
    name: 'repo',
    type: 'repo',
    content: '# House rules',
    triggers: [],
    inputs: [],
    tools: [],
  })
  expect(microagents.slice(-2)).toEqual([
    {
      name: 'ask',
      type: 'knowledge',
      content: expect.stringMatching(/^A\n\n./),
      triggers: ['/ask'],
      inputs: [{ name: 'a', description: 'b' }],
      tools: [],
    },
    { name: 'flow', type: 'knowledge', content: 'D', triggers: ['Deploy'], inputs: [], tools: ['fetch'] },
  ])
  await evict(chat)
  await chat.owner.ask(`${chat.path}/stop`, { method: 'POST' })
  expect(await read()).toEqual([200, { microagents }])
})

import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test } from 'vitest'
import { deleteAll } from '../../durable-objects/conversation/lifecycle/deletion.ts'
import { MIGRATIONS } from '../../durable-objects/conversation/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import { conversation } from '../../src/bindings.ts'
import { hexId } from '../../src/lib/crypto.ts'
import { bash, inState, lastPrompt, startAgent, untilSaid } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'

type Forked = { status: string; conversation_id: string; conversation_status: string }

const fork = (chat: Chat, body: Record<string, unknown>) =>
  chat.owner.ask(`${chat.path}/fork`, { method: 'POST', body })

async function forked(chat: Chat, eventId: number): Promise<Chat> {
  const made = await chat.owner.json<Forked>(`${chat.path}/fork`, { method: 'POST', body: { event_id: eventId } })
  expect(made).toMatchObject({ status: 'ok', conversation_status: 'RUNNING' })
  const join = await startConversation({ conversation_id: made.conversation_id }, chat.owner)
  return join
}

/** Everything that can be seen of the workspace: paths, kinds, modes, times and contents, as a digest of its archive. */
async function workspaceOf(chat: Chat, at?: number): Promise<string> {
  const archive = await chat.owner.ask(`${chat.path}/zip-directory${at === undefined ? '' : `?at=${at}`}`)
  expect(archive.status).toBe(200)
  const digest = await crypto.subtle.digest('SHA-256', await archive.arrayBuffer())
  return [...new Uint8Array(digest)].join(' ')
}

async function run(chat: Chat, command: string): Promise<string> {
  const before = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? -1
  await chat.post('run', { command })
  let found: string | undefined
  await expect
    .poll(
      async () => {
        const later = await chat.events(`?limit=100&start_id=${before + 1}`)
        found = later.find(({ observation }) => observation === 'run' || observation === 'error')?.content
        return found !== undefined
      },
      { interval: 20 },
    )
    .toBe(true)
  return found ?? ''
}

const STEPS = [
  'mkdir -p src/deep && echo one > src/deep/a.txt && ln -s src/deep/a.txt link && chmod 755 src/deep/a.txt',
  'echo two >> src/deep/a.txt && printf "" > empty',
  'printf "%01200000d" 1 > large.txt && echo three > b.txt',
  'mv src moved && rm empty && echo small > large.txt',
  'rm -rf moved && printf "%01300000d" 2 > b.txt && echo tail >> b.txt',
  'rm -f link large.txt b.txt && echo new > a',
]

test('a fork at any event has the workspace as it was then, to the byte, however far the other one went on', async () => {
  const chat = await startConversation()
  const empty = await workspaceOf(chat)
  const seen: { id: number; state: string }[] = []
  for (const step of STEPS) {
    await run(chat, step)
    const id = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? 0
    seen.push({ id, state: await workspaceOf(chat) })
  }
  expect(new Set(seen.map(({ state }) => state)).size).toBe(STEPS.length)
  for (const { id, state } of seen) expect(await workspaceOf(await forked(chat, id))).toBe(state)
  // The same files are there to be looked at without a fork.
  for (const { id, state } of seen) expect([id, await workspaceOf(chat, id)]).toEqual([id, state])
  const [first, second, , fourth] = seen.map(({ id }) => id)
  const list = (query: string) => chat.owner.json<string[]>(`${chat.path}/list-files?${query}`)
  expect(await list(`at=${first}`)).toEqual(['src/', 'link'])
  expect(await list(`at=${second}&path=src/deep`)).toEqual(['src/deep/a.txt'])
  expect(await list('')).toEqual(['a'])
  const read = (query: string) => chat.owner.ask(`${chat.path}/select-file?${query}`)
  expect(await (await read(`file=src/deep/a.txt&at=${first}`)).json()).toEqual({ code: 'one\n' })
  expect(await (await read(`file=link&at=${second}`)).json()).toEqual({ code: 'one\ntwo\n' })
  expect(await (await read(`file=large.txt&at=${fourth}`)).json()).toEqual({ code: 'small\n' })
  expect((await read(`file=src/deep/a.txt&at=${fourth}`)).status).toBe(500)
  for (const at of ['999999', '-1', 'x']) expect((await read(`file=link&at=${at}`)).status).toBeGreaterThanOrEqual(400)
  expect((await list('at=999999')) as unknown).toMatchObject({ error: expect.stringContaining('no event 999999') })
  expect(await workspaceOf(await forked(chat, 1))).toBe(empty)
})

test('a fork at the last event has what was uploaded since, and goes on having it when there are further events', async () => {
  const chat = await startConversation()
  const empty = await workspaceOf(chat)
  await run(chat, 'echo one > a; printf "%0900000d" 1 > big')
  const last = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? 0
  const before = await workspaceOf(chat)
  const upload = async (name: string, content: string) => {
    const body = new FormData()
    body.append('files', new File([content], name))
    await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body })
  }
  await upload('new', 'uploaded')
  await upload('big', 'x'.repeat(1_300_000))
  const uploaded = await workspaceOf(chat)
  expect(uploaded).not.toBe(before)
  expect(await workspaceOf(await forked(chat, last))).toBe(uploaded)
  await upload('newer', 'uploaded later')
  const newest = await workspaceOf(chat)
  expect(await workspaceOf(await forked(chat, last))).toBe(newest)
  await run(chat, 'rm -f new newer; echo two > a')
  expect(await workspaceOf(await forked(chat, last))).toBe(newest)
  // The event before is the command itself, which had done nothing yet.
  expect(await workspaceOf(await forked(chat, last - 1))).toBe(empty)
})

test('a first change that is taken back takes nothing else with it', async () => {
  const chat = await startConversation()
  expect(await run(chat, 'rmdir /workspace/none; mkdir a/b/c; echo kept > f; cat f')).toContain('kept')
  const last = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? 0
  expect(await run(await forked(chat, last), 'cat /workspace/f')).toBe('kept')
})

test('a fork has the same events until then and goes its own way after; the other one does not notice', async () => {
  const chat = await startAgent({
    replies: [
      { calls: [bash('echo first > f', 'k1'), bash('echo second > f', 'k2')] },
      { text: 'both done' },
      { text: 'I am the fork' },
    ],
    body: { initial_user_msg: 'write' },
  })
  await untilSaid(chat, 'both done')
  await inState(chat, 'awaiting_user_input')
  const all = await chat.events()
  const at = all.find(({ content, observation }) => observation === 'run' && content === '')?.id ?? 0
  const copy = { ...(await forked(chat, at)), model: chat.model }
  const events = await copy.events()
  expect(events.slice(0, at + 1)).toEqual(all.slice(0, at + 1))
  expect(events.map(({ id }) => id)).toEqual(events.map((_, n) => n))
  expect(await (await copy.owner.ask(`${copy.path}/select-file?file=f`)).json()).toEqual({ code: 'first\n' })
  await copy.post('message', { content: 'and you?' })
  await untilSaid(copy, 'I am the fork')
  const prompt = await lastPrompt(copy)
  // The second call had not been made: it is answered all the same.
  expect(prompt.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id)).toEqual(['k1', 'k2'])
  expect(JSON.stringify(prompt)).toContain('forked before it')
  expect(await chat.events()).toEqual(all)
  expect(await (await chat.owner.ask(`${chat.path}/select-file?file=f`)).json()).toEqual({ code: 'second\n' })
})

test('what cannot be forked is refused with its reason, and nothing is made', async () => {
  const chat = await startConversation()
  expect((await fork(chat, { event_id: 9_999 })).status).toBe(400)
  expect((await fork(chat, {})).status).toBe(422)
  expect((await fork(chat, { event_id: -1 })).status).toBe(422)
  expect((await fork(chat, { event_id: 1, conversation_id: 'no/such' })).status).toBe(422)
  expect((await fork(chat, { event_id: 1, conversation_id: chat.id })).status).toBe(409)
  const stranger = await client()
  const answer = await stranger.ask(`${chat.path}/fork`, { method: 'POST', body: { event_id: 1 } })
  expect(answer.status).toBe(404)
  const listed = await chat.owner.json<{ results: unknown[] }>('/api/conversations')
  expect(listed.results).toHaveLength(1)
})

test('deleting either of the two leaves the large files of the other', async () => {
  const chat = await startConversation()
  await run(chat, 'printf "%01200000d" 7 > large.txt')
  const last = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? 0
  const copy = await forked(chat, last)
  await chat.owner.ask(chat.path, { method: 'DELETE' })
  expect(await conversation(env, chat.owner.owner, chat.id).summary()).toBeNull()
  expect(await run(copy, 'tail -c 3 /workspace/large.txt')).toBe('007')
})

test('a fork that follows one that a crash cut off is not cleared away with what is left of that', async () => {
  const chat = await startConversation()
  await run(chat, 'printf "%01200000d" 7 > large.txt')
  const last = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? 0
  const id = hexId()
  await runInDurableObject(conversation(env, chat.owner.owner, id), (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    deleteAll(storage, { ...LEFT, id, owner: chat.owner.owner })
  })
  await abortAllDurableObjects()
  slowBucket(300)
  const answer = await fork(chat, { event_id: last, conversation_id: id })
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ conversation_id: id })])
  await abortAllDurableObjects()
  const copy = await startConversation({ conversation_id: id }, chat.owner)
  expect(await run(copy, 'tail -c 3 /workspace/large.txt')).toBe('007')
})

test('two forks to one id at once: one is made, and who hears that the id is taken finds it there', async () => {
  const chat = await startConversation()
  await run(chat, 'printf "%01200000d" 7 > large.txt')
  const last = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? 0
  slowBucket(100)
  const id = hexId()
  const seen = [1, 2, 3].map(async () => {
    const { status } = await fork(chat, { event_id: last, conversation_id: id })
    return [status, (await chat.owner.ask(`/api/conversations/${id}/events?limit=1`)).status]
  })
  expect((await Promise.all(seen)).sort()).toEqual([
    [200, 200],
    [409, 200],
    [409, 200],
  ])
})

const LEFT = {
  incarnation: hexId(),
  title: '',
  trigger: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  titledAt: null,
  instructions: '',
  repository: null,
  setup: 'done',
  firstMessage: null,
  loop: 'running',
} as const

/** Has the bucket take its time over what is put into it, until the test is over. */
function slowBucket(ms: number): void {
  const { FILES } = env
  const slow = new Proxy(FILES, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        if (name === 'put') await scheduler.wait(ms)
        return value.apply(target, args)
      }
    },
  })
  Object.assign(env, { FILES: slow })
  onTestFinished(() => void Object.assign(env, { FILES }))
}

test('a fork has what a download of the other one packed, where the files are the same', async () => {
  const chat = await startConversation()
  await run(chat, 'printf "%05000d" 1 > same.txt; printf "%05000d" 1 > changed.txt; printf "%0300d" 1 > grown.txt')
  const id = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? 0
  const then = await workspaceOf(chat)
  await run(chat, 'printf "%05000d" 2 > changed.txt; printf "%0300d" 1 >> grown.txt')
  await workspaceOf(chat)
  const copy = await forked(chat, id)
  const packed = await runInDurableObject(conversation(env, copy.owner.owner, copy.id), (_, { storage }) =>
    storage.sql.exec('SELECT name FROM workspace_packed JOIN workspace_nodes USING (inode) ORDER BY name').toArray(),
  )
  expect(packed).toEqual([{ name: 'same.txt' }])
  expect([await workspaceOf(copy), await workspaceOf(chat, id)]).toEqual([then, then])
})

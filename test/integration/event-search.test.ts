import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'

const stubOf = (chat: Chat) => conversation(env, chat.owner.owner, chat.id)

/** Adds messages whose only effect is to be there. */
function append(chat: Chat, thoughts: string[]): Promise<void> {
  return runInDurableObject(stubOf(chat), (instance) => {
    const object = instance as unknown as { addEvent(event: object, ref: null): unknown }
    for (const thought of thoughts) {
      const args = { agent_state: 'user_confirmed', thought }
      object.addEvent({ source: 'user', message: '', action: 'change_agent_state', args }, null)
    }
  })
}

const covered = (chat: Chat): Promise<number> =>
  runInDurableObject(stubOf(chat), (_, { storage }) => {
    const [row] = storage.sql.exec("SELECT value FROM meta WHERE name = 'search'").toArray()
    return row === undefined ? -1 : (JSON.parse(String(row.value)) as { covered: number }).covered
  })

test('the alarm fills the index while the conversation goes on, and every page is the same as before', async () => {
  const chat = await startConversation()
  const search = async (query: string) => {
    const page = await chat.owner.json<{ events: { id: number }[]; has_more: boolean }>(
      `${chat.path}/events?${query}&query=${encodeURIComponent('贵州茅台 Needle')}`,
    )
    return { ids: page.events.map(({ id }) => id), more: page.has_more }
  }
  const queries = ['', 'reverse=true&limit=2', 'start_id=300&limit=1', 'end_id=700', 'source=agent', 'limit=0']
  await append(
    chat,
    Array.from({ length: 1_200 }, (_, i) => (i % 400 === 7 ? `at ${i}: 贵州茅台 NEEDLE` : `nothing at ${i}`)),
  )
  const before = await Promise.all(queries.map(search))
  expect(before[0]?.ids).toHaveLength(3)
  expect(before.map(({ more }) => more)).toEqual([false, true, true, false, false, true])
  await expect.poll(() => covered(chat)).toBeGreaterThan(300)
  expect(await Promise.all(queries.map(search))).toEqual(before)
  await evictDurableObject(stubOf(chat))
  await append(chat, ['one more 贵州茅台 needle'])
  await expect.poll(() => covered(chat)).toBeGreaterThan(1_190)
  const after = await search('')
  expect(after.ids.slice(0, 3)).toEqual(before[0]?.ids)
  expect(after.ids).toHaveLength(4)
})

test('a conversation that was paged, searched and replayed can be deleted at once, index and all', async () => {
  const chat = await startConversation()
  await append(
    chat,
    Array.from({ length: 800 }, (_, i) => `${'x'.repeat(3_000)} ${i}`),
  )
  await expect.poll(() => covered(chat)).toBeGreaterThan(100)
  const socket = await chat.connect()
  for (const query of ['limit=1', 'limit=0', 'query=xx&limit=2', 'query=x%20700', 'query=x&limit=1&reverse=true']) {
    expect((await chat.owner.ask(`${chat.path}/events?${query}`)).status).toBe(200)
  }
  const answer = await chat.owner.ask(chat.path, { method: 'DELETE' })
  expect([answer.status, await answer.json()]).toEqual([200, true])
  await socket.until((s) => s.frames.some(({ type }) => type === 'closed'))
  const tables = () =>
    runInDurableObject(stubOf(chat), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'event%'").toArray(),
    )
  await expect.poll(tables).toEqual([])
})

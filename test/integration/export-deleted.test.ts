// A conversation that is deleted while it is exported.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ConversationBooks } from '../../durable-objects/owner/conversation-books.ts'
import { Exports } from '../../durable-objects/owner/export/exports.ts'
import { MIGRATIONS } from '../../durable-objects/owner/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import { owner as ownerOf } from '../../src/bindings.ts'
import { client } from '../helpers/app.ts'
import { exported } from '../helpers/archive.ts'
import { importEnd, someone, uploadArchive } from '../helpers/importable.ts'

/** An environment in which something happens the moment before a conversation is asked this. */
function disturbed(method: string, happens: () => Promise<unknown>): Env {
  let isOver = false
  const before = <T extends object>(stub: T): T =>
    new Proxy(stub, {
      get: (_, name) => {
        const value: unknown = Reflect.get(stub, name, stub)
        if (name !== method || typeof value !== 'function') return value
        return async (...given: unknown[]) => {
          if (!isOver) await happens()
          isOver = true
          // A method of a stub has no `apply` of its own.
          return Reflect.apply(value, stub, given)
        }
      },
    })
  const CONVERSATION = new Proxy(env.CONVERSATION, {
    get: (namespace, name) => {
      const value: unknown = Reflect.get(namespace, name, namespace)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const made = value.apply(namespace, given)
        return /^get/.test(String(name)) ? before(made) : made
      }
    },
  })
  return { ...env, CONVERSATION }
}

test('a conversation that is deleted while it is exported is left out, and the archive can be imported', async () => {
  for (const method of ['forkEvents', 'forkNodes', 'forkFile']) {
    const { by, chat } = await someone()
    await runInDurableObject(ownerOf(env, by.owner), async (_, { storage }) => {
      migrate(storage, MIGRATIONS)
      const deleted = () => by.ask(chat.path, { method: 'DELETE' })
      const deps = { env: () => disturbed(method, deleted), storage, books: new ConversationBooks(storage) }
      const exports = new Exports(deps)
      await exports.begin(by.owner)
      while (exports.standing?.state === 'preparing') await exports.work()
    })
    const { entries, archive } = await exported(by)
    // With a file that cannot be read any more the conversation begins anew, and is not there.
    const isBegun = method !== 'forkFile'
    expect([method, entries.has(`conversations/${chat.id}/conversation.json`)]).toEqual([method, isBegun])
    const other = await client({ owner: `taker-${crypto.randomUUID()}` })
    await uploadArchive(other, archive)
    const done = await importEnd(other)
    // The talk is whole.
    expect([method, done.problem, done.phase, done.conversations]).toEqual([method, null, 'done', 1])
    expect(done.left_out.conversations).toBe(isBegun ? 1 : undefined)
    expect(await other.json(chat.path)).toBe(null)
  }
})

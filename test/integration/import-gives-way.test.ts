import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ConversationBooks } from '../../durable-objects/owner/conversation-books.ts'
import { Imports } from '../../durable-objects/owner/import/imports.ts'
import { MIGRATIONS } from '../../durable-objects/owner/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import { owner as ownerOf } from '../../src/bindings.ts'
import { client } from '../helpers/app.ts'
import { archiveOf, handedIn, someone } from '../helpers/importable.ts'

test('an import lets others come first after each few of its steps', async () => {
  const { by } = await someone()
  const archive = await archiveOf(by)
  const other = await client({ owner: `taker-${crypto.randomUUID()}` })
  onTestFinished(() => void vi.restoreAllMocks())
  const [pauses, entries] = await runInDurableObject(ownerOf(env, other.owner), async (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    const allowed = () => ({ conversations: 100, bytes: 1_000_000_000 })
    const imports = new Imports({ env: () => env, storage, books: new ConversationBooks(storage), allowed })
    await handedIn(imports, other.owner, archive)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    while (imports.standing?.phase !== 'done') await imports.work()
    return [timers.mock.calls.filter(([, delayMs]) => delayMs === 0).length, imports.standing.entries]
  })
  expect(entries).toBeGreaterThan(16)
  // Each is noted, looked into and carried out.
  expect(pauses).toBeGreaterThanOrEqual(Math.floor((3 * entries) / 8) - 1)
})

// The pool of one owner at its limit: two hundred runners and up to two thousand conversations, a fiftieth of ten thousand and a
// hundred thousand. What is counted is what no busy machine changes: rows that the database reads, messages, bytes that are stored.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { RunnerPool } from '../../../durable-objects/owner/runner-pool.ts'
import { MIGRATIONS } from '../../../durable-objects/owner/schema.ts'
import { migrate } from '../../../durable-objects/sql.ts'

const RUNNERS = 200
/** In the suite two each, ten with `npm run proof`. */
const CAPACITY = inject('isProof') ? 10 : 2
const CONVERSATIONS = RUNNERS * CAPACITY

/** The pool's end of a runner's socket; the runner behind it takes every conversation. */
class RunnerSocket {
  readonly readyState = 1
  sent = 0
  reads = 0
  pool: RunnerPool | null = null
  #attachment: unknown = { kind: 'runner', key: null, runner: null }

  serializeAttachment(value: unknown): void {
    this.#attachment = value
  }

  deserializeAttachment(): unknown {
    this.reads += 1
    return this.#attachment
  }

  send(text: string): void {
    this.sent += 1
    const { id, method } = JSON.parse(text) as { id?: number; method?: string }
    if (method === undefined || id === undefined) return
    queueMicrotask(() => void this.receive({ jsonrpc: '2.0', id, result: {} }))
  }

  close(): void {}

  // As much of a socket as the pool asks for.
  receive(message: object): Promise<void> {
    return this.pool?.receive(this as unknown as WebSocket, JSON.stringify(message)) ?? Promise.resolve()
  }
}

const idOf = (number: number): string => number.toString(16).padStart(32, '0')

function helloOf(number: number): object {
  const runner = {
    ...{ id: idOf(number), name: `runner ${number}`, labels: ['linux'], version: '0.1.0', os: 'linux', arch: 'x64' },
    ...{ capacity: CAPACITY, isolation: 'bwrap', network: 'list', tools: [] },
  }
  const params = { wire: 1, runner, holds: [], clock: 0 }
  return { jsonrpc: '2.0', id: 1, method: 'runner/hello', params }
}

test('a full pool reads few rows for each conversation, sends one message, and spreads them evenly', async () => {
  await runInDurableObject(env.OWNER.getByName(`scale-${crypto.randomUUID()}`), async (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    const sockets = Array.from({ length: RUNNERS }, () => new RunnerSocket())
    const { sql, rowsRead } = counted(storage.sql)
    const ctx = { storage: { sql }, getWebSockets: () => sockets, waitUntil: () => {} }
    const pool = new RunnerPool(ctx as unknown as DurableObjectState, { unknown: () => [], changed: () => {} })
    for (const [number, socket] of sockets.entries()) {
      socket.pool = pool
      await socket.receive(helloOf(number))
    }
    const joined = { rows: rowsRead(), messages: sentBy(sockets), bytes: storage.sql.databaseSize }
    // Each hello looks at all sockets, and reads none of them again.
    expect(Math.max(...sockets.map(({ reads }) => reads))).toBe(1)
    let most = 0
    for (let count = 0; count < CONVERSATIONS; count++) {
      const before = rowsRead()
      const wanted = {
        conversation: `c${count}`,
        holder: idOf(count),
        path: '/x',
        ticket: 't',
        labels: ['linux'],
        preferred: [],
        only: null,
        last: null,
        patienceMs: 1_000,
      }
      expect((await pool.want(wanted)).ok).toBe(true)
      most = Math.max(most, rowsRead() - before)
    }
    const used = pool.list().map(({ conversations }) => conversations)
    expect([Math.min(...used), Math.max(...used)]).toEqual([CAPACITY, CAPACITY])
    const full = await pool.want({
      conversation: 'one-more',
      holder: 'x',
      path: '/x',
      ticket: 't',
      labels: [],
      preferred: [],
      only: null,
      last: null,
      patienceMs: 1_000,
    })
    expect(full).toMatchObject({ ok: false, reason: 'full' })
    // A hello is one message and a conversation is one.
    expect([joined.messages, sentBy(sockets) - joined.messages]).toEqual([RUNNERS, CONVERSATIONS])
    // Each runner and each conversation that it has, once.
    expect(most).toBeLessThan(3 * (RUNNERS + CONVERSATIONS))
    expect((storage.sql.databaseSize - joined.bytes) / CONVERSATIONS).toBeLessThan(500)
  })
}, 120_000)

test('runners that are long gone are forgotten, the newest are kept, and those that are connected stay whatever their age', async () => {
  await runInDurableObject(env.OWNER.getByName(`gone-${crypto.randomUUID()}`), async (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    const sockets: RunnerSocket[] = []
    const ctx = { storage, getWebSockets: () => sockets, waitUntil: () => {} }
    const pool = new RunnerPool(ctx as unknown as DurableObjectState, { unknown: () => [], changed: () => {} })
    const join = async (number: number) => {
      const socket = new RunnerSocket()
      socket.pool = pool
      sockets.push(socket)
      await socket.receive(helloOf(number))
    }
    await join(0)
    const started = Date.now()
    onTestFinished(() => void vi.restoreAllMocks())
    const day = 24 * 3600_000
    vi.spyOn(Date, 'now').mockReturnValue(started + 40 * day)
    const { description } = storage.sql.exec<{ description: string }>('SELECT description FROM runners').one()
    for (let number = 1; number <= 800; number++) {
      const seenAt = started + (number <= 20 ? 9 : 39) * day + number
      const told = JSON.stringify({ ...JSON.parse(description), id: idOf(number) })
      storage.sql.exec('INSERT INTO runners VALUES (?, ?, ?, 0, NULL, NULL)', idOf(number), told, seenAt)
    }
    await join(900)
    const known = pool.list()
    expect(known.filter(({ state }) => state === 'connected').map(({ id }) => id)).toEqual([idOf(900), idOf(0)])
    const gone = known.filter(({ state }) => state === 'gone').map(({ id }) => id)
    expect([gone.length, gone[0], gone.at(-1)]).toEqual([699, idOf(800), idOf(102)])
  })
})

const sentBy = (sockets: readonly RunnerSocket[]): number => sockets.reduce((sum, { sent }) => sum + sent, 0)

/** A storage that counts the rows that were read through it. */
function counted(sql: SqlStorage): { sql: SqlStorage; rowsRead(): number } {
  const cursors: { rowsRead: number }[] = []
  let settled = 0
  const exec: SqlStorage['exec'] = (query, ...bindings) => {
    const cursor = sql.exec(query, ...bindings)
    cursors.push(cursor)
    // Only what is asked on the object itself finds its hidden fields.
    return cursor as never
  }
  return {
    sql: { exec } as unknown as SqlStorage,
    rowsRead: () => {
      for (const { rowsRead } of cursors.splice(0)) settled += rowsRead
      return settled
    },
  }
}

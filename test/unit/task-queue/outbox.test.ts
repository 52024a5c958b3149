import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { OUTBOX_SCHEMA } from '../../../durable-objects/common-tables.ts'
import { Outbox } from '../../../durable-objects/outbox.ts'

/** Runs the body with an outbox over the SQLite of a fresh object, and a clock that the body moves. */
async function withOutbox(body: (box: Outbox, time: { now: number }, sql: SqlStorage) => Promise<void>): Promise<void> {
  const stub = env.TASK_QUEUE.get(env.TASK_QUEUE.newUniqueId())
  await runInDurableObject(stub, async (_, state) => {
    const { sql } = state.storage
    sql.exec(`DROP TABLE IF EXISTS outbox; ${OUTBOX_SCHEMA}`)
    const time = { now: 1_000_000 }
    await body(new Outbox(sql, { clock: () => time.now, sendTimeoutMs: 50 }), time, sql)
  })
}

test('what is put is sent once, oldest first, only the newest payload of a key, and then forgotten', async () => {
  await withOutbox(async (box) => {
    box.put('row', 'a', '1')
    box.put('row', 'b', '2')
    box.put('row', 'a', '3')
    expect(box.pending().map(({ key, payload }) => key + payload)).toEqual(['b2', 'a3'])
    const sent: string[] = []
    const delivery = await box.deliver(async ({ key, payload }) => {
      sent.push(key + payload)
    })
    expect(sent).toEqual(['b2', 'a3'])
    expect(delivery).toEqual({ delivered: 2, failed: 0, nextAttemptAt: null })
    expect(box.pending()).toEqual([])
  })
})

test('a failed send backs off further each time, spares the others, and is delivered once the trouble is over', async () => {
  await withOutbox(async (box, time) => {
    box.put('row', 'bad', 'x')
    box.put('row', 'good', 'y')
    const refuse = async ({ key }: { key: string }) => {
      if (key === 'bad') throw new Error('down')
    }
    expect(await box.deliver(refuse)).toMatchObject({ delivered: 1, failed: 1 })
    const delays: number[] = []
    for (let i = 0; i < 12; i++) {
      const at = Number(box.nextAttemptAt)
      delays.push(at - time.now)
      expect((await box.deliver(refuse)).failed).toBe(0)
      time.now = at
      expect((await box.deliver(refuse)).failed).toBe(1)
    }
    delays.forEach((delay, i) => {
      const ceiling = Math.min(300_000, 1_000 * 2 ** i)
      expect(delay).toBeGreaterThanOrEqual(ceiling / 2)
      expect(delay).toBeLessThanOrEqual(ceiling)
    })
    // A newer payload does not jump the back-off.
    box.put('row', 'bad', 'z')
    expect(Number(box.nextAttemptAt)).toBeGreaterThan(time.now)
    // Unless somebody waits to see it delivered; it counts as one more attempt.
    const attempts = box.pending()[0]?.attempts ?? 0
    box.hurry('row', 'another')
    expect(await box.deliver(async () => {})).toMatchObject({ delivered: 0, failed: 0 })
    box.hurry('row', 'bad')
    expect(await box.deliver(() => Promise.reject(new Error('still away')))).toMatchObject({ failed: 1 })
    expect(box.pending()).toMatchObject([{ payload: 'z', attempts: attempts + 1 }])
    time.now = Number(box.nextAttemptAt)
    const sent: string[] = []
    await box.deliver(async ({ payload }) => void sent.push(payload))
    expect(sent).toEqual(['z'])
    expect(box.nextAttemptAt).toBeNull()
  })
})

test('a payload put while the older one is on its way is sent too, after it, even by a delivery asked meanwhile', async () => {
  await withOutbox(async (box) => {
    box.put('row', 'a', 'old')
    const sent: string[] = []
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = box.deliver(async ({ payload }) => {
      await gate
      sent.push(payload)
    })
    await Promise.resolve()
    box.put('row', 'a', 'new')
    const second = box.deliver(async ({ payload }) => void sent.push(payload))
    release()
    expect(await first).toMatchObject({ delivered: 1 })
    expect(await second).toMatchObject({ delivered: 1, nextAttemptAt: null })
    expect(sent).toEqual(['old', 'new'])
  })
})

test('a send that never answers is given up, and a late put is not lost to it', async () => {
  await withOutbox(async (box, time, sql) => {
    box.put('row', 'a', 'old')
    const hanging = box.deliver(() => new Promise<void>(() => {}))
    await Promise.resolve()
    box.put('row', 'a', 'new')
    expect(await hanging).toMatchObject({ delivered: 0, failed: 1 })
    // Another object instance after an eviction: the row is the truth.
    const again = new Outbox(sql, { clock: () => time.now })
    expect(again.pending()).toMatchObject([{ payload: 'new', attempts: 1 }])
    time.now = Number(again.nextAttemptAt)
    expect(await again.deliver(async () => {})).toMatchObject({ delivered: 1, nextAttemptAt: null })
  })
})

test('a delivery that the storage breaks off fails, and the next one sends what is left', async () => {
  await withOutbox(async (_, time, sql) => {
    let isFull = true
    const failing: Pick<SqlStorage, 'exec'> = {
      exec: (query: string, ...values: unknown[]) => {
        if (isFull && query.startsWith('DELETE')) throw new Error('database or disk is full: SQLITE_FULL')
        return sql.exec(query, ...values)
      },
    }
    const box = new Outbox(failing as SqlStorage, { clock: () => time.now })
    box.put('row', 'a', '1')
    await expect(box.deliver(async () => {})).rejects.toThrow('SQLITE_FULL')
    isFull = false
    expect(await box.deliver(async () => {})).toEqual({ delivered: 1, failed: 0, nextAttemptAt: null })
  })
})

test('a delivery during which the object is erased ends quietly, whether its send succeeds or fails', async () => {
  for (const fails of [false, true]) {
    await withOutbox(async (box, _, sql) => {
      box.put('row', 'a', '1')
      const erase = async () => {
        sql.exec('DROP TABLE outbox')
        if (fails) throw new Error('down')
      }
      expect(await box.deliver(erase)).toEqual({ delivered: 0, failed: 1, nextAttemptAt: null })
    })
  }
})

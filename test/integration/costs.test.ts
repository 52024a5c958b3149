// What a turn and an analysis cost at a platform that counts rows and bytes: the numbers that docs/deploy.md reckons with.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation, owner, taskQueue } from '../../src/bindings.ts'
import { bash, inState, startAgent } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { countRows } from '../helpers/counted-rows.ts'

const sizeOf = (stub: DurableObjectStub) => runInDurableObject(stub, (_, { storage }) => storage.sql.databaseSize)

const databaseSize = async () => (await env.DB.prepare('SELECT 1').run()).meta.size_after

/** What the tables of the database hold, as rows of the tables and of their indexes. */
async function storedRows(): Promise<number> {
  const { results } = await env.DB.prepare(
    `SELECT name, (SELECT count(*) FROM sqlite_master i WHERE i.type = 'index' AND i.tbl_name = m.name) AS indexes
     FROM sqlite_master m WHERE type = 'table' AND name NOT LIKE '%!_cf!_%' ESCAPE '!' AND name NOT LIKE 'sqlite%'`,
  ).all<{ name: string; indexes: number }>()
  let sum = 0
  for (const { name, indexes } of results) {
    const rows = await env.DB.prepare(`SELECT count(*) AS n FROM "${name}"`).first<number>('n')
    sum += (rows ?? 0) * (1 + indexes)
  }
  return sum
}

test('a turn of five commands writes the rows and bytes that the sums of the documents reckon with', async () => {
  const long = 'x'.repeat(2_000)
  const turn = (n: number) => [
    ...Array.from({ length: 5 }, (_, i) => ({ text: long, calls: [bash(`seq 400; echo ${n} > made-${n}-${i}.txt`)] })),
    { text: `the end of ${n}` },
  ]
  const chat = await startAgent({ replies: [...turn(1), ...turn(2)] })
  const stub = conversation(env, chat.owner.owner, chat.id)
  const books = owner(env, chat.owner.owner)
  const ask = async (content: string) => {
    await chat.owner.ask(`${chat.path}/events?wait=60`, {
      method: 'POST',
      body: { action: 'message', args: { content } },
    })
    await inState(chat, 'awaiting_user_input')
  }
  await ask('first')
  const [rows, booked, before] = [await countRows(stub), await countRows(books), await sizeOf(stub)]
  await ask('second')
  const cost = { rows: rows() + booked(), bytes: (await sizeOf(stub)) - before }
  expect(cost.rows).toBeGreaterThan(100)
  expect(cost.rows).toBeLessThanOrEqual(250)
  expect(cost.bytes).toBeLessThanOrEqual(100_000)
})

test('an analysis writes the rows and bytes that the sums of the documents reckon with', async () => {
  const ann = await client()
  const analyze = () =>
    ann.ask('/api/v1/analysis/analyze?wait=60', {
      method: 'POST',
      body: { stock_code: 'AAPL', async_mode: true, force_refresh: true },
    })
  expect((await analyze()).status).toBe(200)
  const costs: { queue: number; database: number; bytes: number }[] = []
  for (let round = 0; round < 4; round++) {
    const [queue, stored, size] = [await countRows(taskQueue(env)), await storedRows(), await databaseSize()]
    expect((await analyze()).status).toBe(200)
    const [database, bytes] = [(await storedRows()) - stored, (await databaseSize()) - size]
    costs.push({ queue: queue(), database, bytes })
  }
  // There is one queue and one database: what other work of theirs writes meanwhile is no cost of an analysis.
  const [least, most] = [Math.min, Math.max].map(
    (of) => (name: keyof (typeof costs)[0]) => of(...costs.map((one) => one[name])),
  )
  expect(most?.('queue')).toBeGreaterThan(50)
  expect(least?.('queue')).toBeLessThanOrEqual(130)
  // Bars and quotes of a closed market are there already.
  expect(most?.('database')).toBeGreaterThan(5)
  expect(least?.('database')).toBeLessThanOrEqual(50)
  expect(least?.('bytes')).toBeLessThanOrEqual(60_000)
})

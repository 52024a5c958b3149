// A hundred thousand events: every search is complete, and looks at a small part of them. What is counted is the rows that
// the database reads, which no busy machine changes.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { EventLog } from '../../durable-objects/conversation/events/event-log.ts'
import { MIGRATIONS } from '../../durable-objects/conversation/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import type { NewEvent } from '../../src/agent/events.ts'

const EVENTS = 100_000
const BATCH = 100
/** Written after the index was filled. */
const TAIL = 400
/** Of a search that reads all, a fiftieth. */
const FEW_ROWS = 2_000

const message = (text: string): NewEvent => ({ source: 'agent', message: text, action: 'message', args: {} })

/** Texts of single events, among others that are all alike but for a number. */
const ODD: Readonly<Record<number, string>> = {
  3: '100% of `a_b*c"d`',
  512: '贵州茅台酒股份有限公司',
  48000: 'A NEEDLE in the haystack',
  48001: '五粮液 and 泸州老窖',
  77777: "o'clock; DROP TABLE events; --",
  99999: '🎈 the last one is 茅台 too',
  100200: 'the needle again, beyond the index',
}

const textOf = (id: number): string => ODD[id] ?? `step ${id} of the plan is done`

/** A storage that counts the rows that were read through it. */
function counted(sql: SqlStorage): { sql: SqlStorage; rowsRead(): number } {
  const cursors: { rowsRead: number }[] = []
  const exec: SqlStorage['exec'] = (query, ...bindings) => {
    const cursor = sql.exec(query, ...bindings)
    cursors.push(cursor)
    // Only what is asked on the object itself finds its hidden fields.
    return cursor as never
  }
  return {
    sql: { exec } as SqlStorage,
    rowsRead: () => cursors.splice(0).reduce((sum, { rowsRead }) => sum + rowsRead, 0),
  }
}

test('in 100,000 events any text is found wherever it stands, and finding it reads few of them', async () => {
  const stub = env.CONVERSATION.get(env.CONVERSATION.newUniqueId())
  await runInDurableObject(stub, (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    const counting = counted(storage.sql)
    const log = new EventLog(counting.sql)
    const append = (count: number) => {
      const first = log.last + 1
      log.append(Array.from({ length: count }, (_, i) => message(textOf(first + i))))
    }
    while (log.last < EVENTS - 1) append(BATCH)
    while (log.fillIndex(Number.POSITIVE_INFINITY) !== null);
    append(TAIL)

    const search = (query: string, reverse = false) => {
      counting.rowsRead()
      const none = { excludeHidden: false, includeTypes: null, excludeTypes: null, source: null }
      const filter = { ...none, startDate: null, endDate: null, query }
      const page = log.search({ startId: 0, endId: null, reverse, limit: 20, filter })
      expect(counting.rowsRead(), query).toBeLessThan(FEW_ROWS)
      return page.events.map((text) => (JSON.parse(text) as { id: number }).id)
    }

    const found: [query: string, ids: number[]][] = [
      ['needle', [48_000, 100_200]],
      ['NEEDLE IN THE HAY', [48_000]],
      ['贵州茅台', [512]],
      ['茅台', [512, 99_999]],
      ['酒', [512]],
      ['泸州老', [48_001]],
      ['🎈', [99_999]],
      ['%', [3]],
      ['a_b*c"d', [3]],
      ['*', [3]],
      ['`a_b*c"', [3]],
      ["'clock; DROP", [77_777]],
      ['step 51234 of', [51_234]],
      ['step 100399 ', [100_399]],
      ['nowhere at all', []],
      ['台茅', []],
      ['a%b', []],
      ['"step"', []],
      [`${'the haystack '.repeat(2_000)}needle`, []],
    ]
    for (const [query, ids] of found) {
      expect(search(query), query).toEqual(ids)
      expect(search(query, true), query).toEqual(ids.toReversed())
    }
    // Common ones fill a page from its beginning, either way.
    const last = EVENTS + TAIL - 1
    for (const query of ['step', 'st', 'of the plan is done', 'n']) {
      expect(search(query).at(-1), query).toBeLessThan(30)
      expect(search(query, true)[0], query).toBe(last)
    }
  })
})

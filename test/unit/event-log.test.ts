import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { EventLog } from '../../durable-objects/conversation/events/event-log.ts'
import type { EventPage } from '../../durable-objects/conversation/events/event-search.ts'
import { MIGRATIONS } from '../../durable-objects/conversation/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import { isHidden, kindOf, type NewEvent } from '../../src/agent/events.ts'
import { isoMicros } from '../../src/lib/clock.ts'

/** Runs with the storage of an object that nothing else uses. */
function withLog<T>(run: (log: EventLog, storage: DurableObjectStorage) => T): Promise<T> {
  const stub = env.CONVERSATION.get(env.CONVERSATION.newUniqueId())
  return runInDurableObject(stub, (_, state) => {
    migrate(state.storage, MIGRATIONS)
    return run(new EventLog(state.storage.sql), state.storage)
  })
}

const text = fc.oneof(
  fc.constantFrom('', 'Ärger', '贵州茅台', 'say "hi"\n', '%_"*', 'İstanbul', '\u0000', 'a\\b', '🎈'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

const event: fc.Arbitrary<NewEvent> = fc
  .record({
    kind: fc.constantFrom('run', 'message', 'error', 'recall'),
    isAction: fc.boolean(),
    source: fc.constantFrom('agent' as const, 'user' as const, 'environment' as const),
    message: text,
    hidden: fc.boolean(),
  })
  .map(({ kind, isAction, source, message, hidden }) =>
    isAction
      ? { source, message, action: kind, args: { hidden } }
      : { source, message, observation: kind, content: message, extras: { hidden } },
  )

const FIRST_AT = Date.UTC(2026, 7, 14, 9, 30)
const SECOND = 1_000

/** Events, and how many seconds after the one before each of them comes; the clock may be set back. */
const history = fc.array(fc.tuple(event, fc.integer({ min: -2, max: 3 })), { maxLength: 40 })

/** Often the very time of an event. */
const date = fc.option(
  fc.integer({ min: -2, max: 40 }).map((seconds) => isoMicros(FIRST_AT + seconds * SECOND)),
  { nil: null },
)

const types = fc.option(
  fc.array(fc.constantFrom('run', 'action:run', 'observation:message', 'error', 'nonsense'), { maxLength: 3 }),
  { nil: null },
)

const page: fc.Arbitrary<EventPage> = fc.record({
  startId: fc.integer({ min: 0, max: 45 }),
  endId: fc.option(fc.integer({ min: -1, max: 45 }), { nil: null }),
  reverse: fc.boolean(),
  limit: fc.integer({ min: 0, max: 15 }),
  filter: fc.record({
    excludeHidden: fc.boolean(),
    query: fc.option(
      fc.oneof(
        text.filter((query) => query !== ''),
        fc.constantFrom('RUN', 'ärger', '茅台', '"hi"'),
      ),
      { nil: null },
    ),
    includeTypes: types,
    excludeTypes: types,
    source: fc.option(fc.constantFrom('agent', 'user', 'nobody'), { nil: null }),
    startDate: date,
    endDate: date,
  }),
})

/** The same search over an array, as plainly as it can be said. */
function naive(all: NewEvent[], texts: string[], { startId, endId, reverse, limit, filter }: EventPage) {
  const named = (names: string[], kind: string) => names.some((name) => name === kind || kind.endsWith(`:${name}`))
  const matches = all.flatMap((each, id) => {
    const body = (texts[id] ?? '').toLowerCase()
    const kind = kindOf(each)
    const { timestamp } = JSON.parse(texts[id] ?? '') as { timestamp: string }
    const query = filter.query?.toLowerCase() ?? null
    const found =
      query === null || body.includes(query) || body.includes(JSON.stringify(filter.query).slice(1, -1).toLowerCase())
    const keep =
      id >= startId &&
      (endId === null || id <= endId) &&
      found &&
      !(filter.excludeHidden && isHidden(each)) &&
      (filter.includeTypes === null || named(filter.includeTypes, kind)) &&
      !(filter.excludeTypes !== null && named(filter.excludeTypes, kind)) &&
      (filter.source === null || each.source === filter.source) &&
      (filter.startDate === null || timestamp >= filter.startDate) &&
      (filter.endDate === null || timestamp <= filter.endDate)
    return keep ? [texts[id] ?? ''] : []
  })
  if (reverse) matches.reverse()
  return { events: matches.slice(0, limit), hasMore: matches.length > limit }
}

/** Stores them one at a time, as the clock goes. */
function storeAt(log: EventLog, events: readonly (readonly [NewEvent, number])[]): string[] {
  vi.setSystemTime(FIRST_AT)
  return events.flatMap(([each, seconds]) => {
    vi.setSystemTime(Date.now() + seconds * SECOND)
    return log.append([each]).map((stored) => stored.text)
  })
}

test('any search gives what a plain walk over all events gives, whatever the filters, dates, ranges and direction', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    await withLog((log, storage) => {
      const pages = fc.array(page, { minLength: 5, maxLength: 5 })
      fc.assert(
        fc.property(history, pages, (events, asked) => {
          storage.sql.exec('DELETE FROM events')
          const fresh = new EventLog(storage.sql)
          const texts = storeAt(fresh, events)
          const times = texts.map((each) => (JSON.parse(each) as { timestamp: string }).timestamp)
          expect(times).toEqual([...times].sort())
          const given = events.map(([each]) => each)
          for (const each of asked) expect(fresh.search(each)).toEqual(naive(given, texts, each))
        }),
        { numRuns: 80 },
      )
      expect(log.last).toBe(-1)
    })
  } finally {
    vi.useRealTimers()
  }
})

/** What a schedule does to a log: it appends, opens it anew, fails to append, or deletes everything. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.array(event, { minLength: 1, maxLength: 8 }).map((events) => ({ events })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('large' as const, 'refused' as const, 'restart' as const, 'delete' as const),
  },
)
const filter = { excludeHidden: false, query: null, includeTypes: null, excludeTypes: null, source: null }
const plainPage = fc.record({
  startId: fc.integer({ min: 0, max: 45 }),
  endId: fc.option(fc.integer({ min: -1, max: 45 }), { nil: null }),
  reverse: fc.boolean(),
  limit: fc.integer({ min: 0, max: 15 }),
  filter: fc.boolean().map((excludeHidden) => ({ ...filter, excludeHidden, startDate: null, endDate: null })),
})
const NEWEST: EventPage = {
  startId: 0,
  endId: null,
  reverse: true,
  limit: 20,
  filter: { ...filter, startDate: null, endDate: null },
}
const REFUSED: NewEvent = { source: 'agent', message: 'refused', action: 'run', args: {} }
/** Longer than the memory of the test, and than a row. */
const LARGE: NewEvent = { source: 'agent', message: 'x'.repeat(650_000), action: 'run', args: {} }

test('a log answers with the events in its memory as it does from its tables alone, after whatever happened to it', async () => {
  await withLog((_, storage) => {
    const { sql } = storage
    sql.exec(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.body LIKE '%"message":"refused"%'
      BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    const happen = (
      log: EventLog,
      what: 'large' | 'refused' | 'restart' | 'delete' | { events: NewEvent[] },
      room: number,
    ) => {
      if (what === 'restart') return new EventLog(sql, room)
      if (what === 'refused') expect(() => log.append([REFUSED])).toThrow('refused')
      else if (what === 'large') log.append([LARGE])
      else if (what !== 'delete') log.append(what.events)
      if (what !== 'delete') return log
      sql.exec('DELETE FROM events; DELETE FROM event_parts')
      return new EventLog(sql, room)
    }
    const schedule = fc.array(fc.tuple(step, plainPage, page, fc.integer({ min: -1, max: 45 })), { maxLength: 14 })
    fc.assert(
      fc.property(schedule, fc.constantFrom(300, 2_000, 256 * 1024), (steps, room) => {
        let log = happen(new EventLog(sql, room), 'delete', room)
        for (const [what, ordinary, filtered, after] of steps) {
          log = happen(log, what, room)
          const bare = new EventLog(sql, 0)
          expect(log.last).toBe(bare.last)
          for (const asked of [ordinary, filtered]) expect(log.search(asked)).toEqual(bare.search(asked))
          expect(log.since(after, ordinary.limit)).toEqual(bare.since(after, ordinary.limit))
          expect(log.get(after)).toBe(bare.get(after))
        }
      }),
      { numRuns: 60 },
    )
  })
})

test('the newest events are answered without a statement, from the moment at which they are stored', async () => {
  await withLog((log, { sql }) => {
    const said = (message: string): NewEvent => ({ source: 'user', message, action: 'message', args: {} })
    const readers = (from: EventLog) => [() => from.search(NEWEST), () => from.since(-1, 100), () => from.get(1)]
    log.append([said('one'), said('two')])
    const before = readers(log).map((read) => read())
    const opened = new EventLog(sql)
    opened.search(NEWEST)
    // Rows that nothing but a statement could see.
    sql.exec('DELETE FROM events')
    expect(readers(log).map((read) => read())).toEqual(before)
    expect(readers(opened).map((read) => read())).toEqual(before)
  })
})

test('ids are dense from 0 across batches and instances, and the stored text is what was given', async () => {
  await withLog((log, { sql }) => {
    const run: NewEvent = { source: 'agent', message: 'm', action: 'run', args: { command: 'ls' } }
    expect(log.append([run, run, run]).map(({ id }) => id)).toEqual([0, 1, 2])
    expect(log.append([run]).map(({ id }) => id)).toEqual([3])
    const again = new EventLog(sql)
    expect(again.last).toBe(3)
    const [fifth] = again.append([run])
    expect(JSON.parse(fifth?.text ?? '')).toEqual({ id: 4, timestamp: again.lastAt, ...run })
    expect(again.get(4)).toBe(fifth?.text)
    expect(again.since(2, 10).map(({ id }) => id)).toEqual([3, 4])
    expect(again.get(5)).toBeNull()
  })
})

test('the newest event of a kind is known after every way in which events come, to a later log of the same storage too', async () => {
  await withLog((log, storage) => {
    const said = (kind: string): NewEvent => ({ source: 'user', message: '', action: kind, args: {} })
    const newest = (of = log) => ['action:run', 'action:message', 'action:think'].map((kind) => of.newestOf(kind))
    expect(newest()).toEqual([-1, -1, -1])
    log.append([said('run'), said('message')])
    expect(newest()).toEqual([0, 1, -1])
    log.append([said('run'), said('think'), said('run')])
    log.append([said('finish')])
    expect(newest()).toEqual([4, 1, 3])
    const source = new EventLog(storage.sql)
    expect(newest(source)).toEqual([4, 1, 3])
    log.adopt([`{"id":6,"timestamp":"${isoMicros(Date.now())}",${JSON.stringify(said('message')).slice(1)}`])
    expect(newest()).toEqual([4, 6, 3])
  })
})

test('an event larger than a row can hold is kept whole, found and paged like any other', async () => {
  await withLog((log, storage) => {
    const large = `${'你'.repeat(599_999)}🎈${'x'.repeat(2_500_000)}needle`
    const { text: stored } = log.append([{ source: 'user', message: large, action: 'message', args: {} }])[0] ?? {
      text: '',
    }
    log.append([{ source: 'user', message: 'small', action: 'message', args: {} }])
    expect(log.get(0) === stored).toBe(true)
    expect(log.since(-1, 10)[0]?.text === stored).toBe(true)
    const first = log.firstAfter(-1, 'user', ['action:message'])
    expect([first?.id, first?.text === stored, first?.text === stored]).toEqual([0, true, true])
    const filter = {
      excludeHidden: false,
      query: 'NEEDLE',
      includeTypes: null,
      excludeTypes: null,
      source: null,
      startDate: null,
      endDate: null,
    }
    expect(log.search({ startId: 0, endId: null, reverse: false, limit: 5, filter }).events.length).toBe(1)
    const longest = storage.sql.exec('SELECT max(length(CAST(text AS BLOB))) AS bytes FROM event_parts').one()
    expect(Number(longest.bytes)).toBeLessThan(2_000_000)
  })
})

test('reading a part of the log leaves no cursor open that would lock it against a deletion', async () => {
  await withLog((log, storage) => {
    const run: NewEvent = { source: 'agent', message: 'x'.repeat(100_000), action: 'run', args: {} }
    log.append(Array.from({ length: 20 }, () => run))
    while (log.fillIndex(Number.POSITIVE_INFINITY) !== null);
    const filter = {
      excludeHidden: false,
      query: null,
      includeTypes: null,
      excludeTypes: null,
      source: null,
      startDate: null,
      endDate: null,
    }
    for (const reverse of [true, false]) {
      const page = { startId: 0, endId: null, reverse, limit: 3 }
      expect(log.search({ ...page, filter })).toMatchObject({ hasMore: true })
      expect(log.search({ ...page, filter: { ...filter, query: 'xxxx' } })).toMatchObject({ hasMore: true })
      expect(log.search({ ...page, filter: { ...filter, query: 'x' } })).toMatchObject({ hasMore: true })
    }
    expect(log.since(4, 100).map(({ id }) => id)).toEqual([5, 6])
    storage.sql.exec('DROP TABLE event_terms; DROP TABLE event_search; DROP TABLE events; DROP TABLE event_parts')
  })
})

test('a page that would be too large to send ends early, says so and locks nothing', async () => {
  await withLog((log, storage) => {
    const filter = {
      excludeHidden: false,
      query: null,
      includeTypes: null,
      excludeTypes: null,
      source: null,
      startDate: null,
      endDate: null,
    }
    log.append(
      Array.from({ length: 30 }, () => ({ source: 'user', message: 'y'.repeat(500_000), action: 'message', args: {} })),
    )
    const ids: number[] = []
    for (let startId = 0, more = true; more; startId = (ids.at(-1) ?? 0) + 1) {
      const { events, hasMore } = log.search({ startId, endId: null, reverse: false, limit: 100, filter })
      expect(events.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(9_000_000)
      ids.push(...events.map((text) => (JSON.parse(text) as { id: number }).id))
      more = hasMore
    }
    expect(ids).toEqual(Array.from({ length: 30 }, (_, i) => i))
    storage.sql.exec('DROP TABLE events')
  })
})

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventLog } from '../../durable-objects/conversation/events/event-log.ts'
import type { EventPage } from '../../durable-objects/conversation/events/event-search.ts'
import { matchingBodies, PAUSE } from '../../durable-objects/conversation/events/event-search.ts'
import { EventSearchIndex } from '../../durable-objects/conversation/events/event-search-index.ts'
import { textQuery } from '../../durable-objects/conversation/events/event-search-query.ts'
import { MIGRATIONS } from '../../durable-objects/conversation/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import type { NewEvent } from '../../src/agent/events.ts'

/** Runs with the storage of an object that nothing else uses. */
function withStorage<T>(run: (storage: DurableObjectStorage) => T): Promise<T> {
  const stub = env.CONVERSATION.get(env.CONVERSATION.newUniqueId())
  return runInDurableObject(stub, (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    return run(storage)
  })
}

/** An empty log in a storage that may have held another, index and all. */
function emptyLog({ sql }: DurableObjectStorage): EventLog {
  sql.exec(`DELETE FROM events; DELETE FROM event_parts; DELETE FROM meta;
    DROP TABLE IF EXISTS event_terms; DROP TABLE IF EXISTS event_search`)
  return new EventLog(sql)
}

const message = (text: string, source: 'user' | 'agent' = 'user'): NewEvent => ({
  source,
  message: text,
  action: 'message',
  args: {},
})

const NO_FILTER: EventPage['filter'] = {
  excludeHidden: false,
  query: null,
  includeTypes: null,
  excludeTypes: null,
  source: null,
  startDate: null,
  endDate: null,
}

const pageOf = (query: string, more: Partial<EventPage> = {}): EventPage => ({
  startId: 0,
  endId: null,
  reverse: false,
  limit: 100,
  ...more,
  filter: { ...NO_FILTER, query },
})

const idsOf = ({ events }: { events: string[] }): number[] =>
  events.map((text) => (JSON.parse(text) as { id: number }).id)

/** A time at which no event has come for long. */
const IN_PEACE = Number.POSITIVE_INFINITY

function fillAll(log: EventLog): number {
  let pieces = 1
  while (log.fillIndex(IN_PEACE) !== null) pieces += 1
  return pieces
}

/** What a search promises, said over an array: the text or its JSON-escaped form, in small letters, in small letters. */
function naive(texts: string[], { startId, endId, reverse, limit, filter }: EventPage) {
  const query = filter.query ?? ''
  const forms = [query.toLowerCase(), JSON.stringify(query).slice(1, -1).toLowerCase()]
  const matches = texts.filter((text, id) => {
    const { source } = JSON.parse(text) as { source: string }
    const isInRange = id >= startId && (endId === null || id <= endId)
    const isFound = forms.some((form) => text.toLowerCase().includes(form))
    return isInRange && isFound && (filter.source === null || filter.source === source)
  })
  if (reverse) matches.reverse()
  return { events: matches.slice(0, limit), hasMore: matches.length > limit }
}

/** Where the notions of a letter's case differ, where JSON escapes, where LIKE and MATCH have a syntax of their own. */
const PARTS = [
  ...[
    'i',
    'I',
    'İ',
    '\u0307',
    'ı',
    'k',
    'K',
    '\u212a',
    's',
    'ſ',
    'ß',
    'ẞ',
    'σ',
    'Σ',
    'ς',
    'å',
    '\u212b',
    'Å',
    'ǆ',
    'ǅ',
  ],
  ...['Ꭰ', 'ꭰ', 'ა', 'Ა', 'Ɪ', 'ɪ', 'µ', 'μ', 'é', 'É', 'Я', 'я', 'Ԩ', 'ԩ', '茅', '台', '酒', '🎈', '\ud83c', '\udf88'],
  ...[
    '"',
    '\\',
    '%',
    '_',
    '*',
    "'",
    '\n',
    '\t',
    '\u0000',
    '}',
    '{',
    ' ',
    'a',
    'A',
    '1',
    '\ufffe',
    '\uffff',
    'AND',
    'null',
  ],
]
const part = fc.constantFrom(...PARTS)
const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))

/** Something that stands in one of the texts, in another case perhaps, or anything. */
function queryFrom(texts: string[]): fc.Arbitrary<string> {
  const piece = fc
    .record({
      from: fc.constantFrom(...texts, '"source":"user"', '{}}'),
      at: fc.nat(6),
      length: fc.integer({ min: 1, max: 6 }),
    })
    .map(({ from, at, length }) => from.slice(at, at + length))
  const cased = fc
    .record({ piece, change: fc.constantFrom('as is', 'upper', 'lower') })
    .map(({ piece, change }) =>
      change === 'upper' ? piece.toUpperCase() : change === 'lower' ? piece.toLowerCase() : piece,
    )
  const anything = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
  return fc.oneof({ weight: 3, arbitrary: cased }, anything).filter((query) => query !== '')
}

const scenario = fc.array(text, { minLength: 1, maxLength: 30 }).chain((texts) =>
  fc.record({
    texts: fc.constant(texts),
    covered: fc.nat(texts.length),
    firstLook: fc.constantFrom(0, 0, 2, 10),
    pages: fc.array(
      fc.record({
        startId: fc.nat(20),
        endId: fc.option(fc.nat(30), { nil: null }),
        reverse: fc.boolean(),
        limit: fc.nat(8),
        filter: fc.record({
          query: queryFrom(texts),
          source: fc.constantFrom(null, 'user', 'agent'),
        }),
      }),
      { minLength: 6, maxLength: 6 },
    ),
  }),
)

/** Every match of the page, whether the index is asked at once or after a look at so many events. */
function found(
  { sql }: DurableObjectStorage,
  log: EventLog,
  { page, ...how }: { page: EventPage; firstLook: number; slice: number },
) {
  return [...searchedBy(log, sql, page, how)].filter((each) => each !== PAUSE)
}

function searchedBy(log: EventLog, sql: SqlStorage, page: EventPage, how: { firstLook: number; slice: number }) {
  const whole = (id: number) => log.get(id) ?? ''
  return matchingBodies(page, { sql, index: new EventSearchIndex(sql), last: log.last, whole, ...how })
}

test('a search finds the same with the index empty, filled in part and complete', async () => {
  await withStorage((storage) => {
    fc.assert(
      fc.property(scenario, ({ texts, covered, firstLook, pages }) => {
        const log = emptyLog(storage)
        const events = texts.map((each, i) => message(each, i % 2 === 0 ? 'user' : 'agent'))
        const stored = log.append(events.slice(0, covered)).map((event) => event.text)
        if (covered > 0) fillAll(log)
        stored.push(...log.append(events.slice(covered)).map((event) => event.text))
        for (const isComplete of [false, true]) {
          if (isComplete) fillAll(log)
          for (const each of pages) {
            const page = { ...each, filter: { ...NO_FILTER, ...each.filter } }
            expect(log.search(page)).toEqual(naive(stored, page))
            const all = naive(stored, { ...page, limit: 100 }).events
            expect(found(storage, log, { page, firstLook, slice: 1_000 })).toEqual(all)
            expect(found(storage, log, { page, firstLook, slice: 3 })).toEqual(all)
          }
        }
      }),
      { numRuns: 150 },
    )
  })
})

test('for every letter of Unicode, whatever the index and LIKE are asked cannot miss one of its spellings', async () => {
  const spellings = new Map<string, Set<string>>()
  for (let code = 0x20; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    const small = letter.toLowerCase()
    if (small === letter && small.toUpperCase() === small) continue
    spellings.set(small, (spellings.get(small) ?? new Set([small])).add(letter))
  }
  // At the end of a word the capital of sigma has another small letter.
  spellings.get('ς')?.add('Σ')
  expect(spellings.size).toBeGreaterThan(1_300)
  await withStorage(({ sql }) => {
    sql.exec("CREATE VIRTUAL TABLE grams USING fts5 (text, content = '', tokenize = 'trigram', detail = 'none')")
    sql.exec("CREATE VIRTUAL TABLE terms USING fts5vocab ('grams', 'row')")
    for (const [small, letters] of spellings) {
      const { forms, patterns } = textQuery(`1${small}2`)
      sql.exec("INSERT INTO grams (grams) VALUES ('delete-all')")
      for (const [i, letter] of [...letters].entries())
        sql.exec('INSERT INTO grams (rowid, text) VALUES (?, ?)', i, `x1${letter}2x`)
      const terms = forms[0]
      if (terms !== null && terms !== undefined && 'groups' in terms) {
        const match = terms.groups.map((group) => `"${group.replaceAll('"', '""')}"`).join(' AND ')
        const found = sql.exec('SELECT rowid FROM grams WHERE grams MATCH ?', match).toArray()
        expect(found, `groups of ${small}`).toHaveLength(letters.size)
      }
      const [begun] = textQuery(`茅${small}`).forms
      if (begun !== null && begun !== undefined && 'prefix' in begun && begun.prefix !== '茅') {
        expect(begun.prefix).toBe(`茅${small}`)
        sql.exec("INSERT INTO grams (grams) VALUES ('delete-all')")
        for (const letter of letters) sql.exec('INSERT INTO grams (text) VALUES (?)', `茅${letter}}`)
        expect(sql.exec('SELECT term FROM terms').toArray()).toEqual([{ term: `茅${small}}` }])
      }
      for (const letter of letters) {
        const { like } = sql.exec("SELECT ? LIKE ? ESCAPE '\\' AS like", `x1${letter}2x`, patterns?.[0] ?? '%').one()
        expect(like, `${letter} is like ${patterns}`).toBe(1)
      }
    }
  })
})

test('a piece at a time, an event larger than a piece or a row too, the index covers the log, also after an eviction', async () => {
  await withStorage((storage) => {
    const log = emptyLog(storage)
    // No three characters of it stand together twice.
    const unique = Array.from({ length: 50_000 }, (_, i) => String.fromCodePoint(i < 20_000 ? 0x4e00 + i : 0x20000 + i))
    const large = `${unique.join('')}${'你好世界'.repeat(200_000)}needleA${'🎈'.repeat(30_000)}needleB${'x'.repeat(100)}`
    const middle = `${'abc '.repeat(10_000)}needleC`
    for (const each of ['first', large, middle, 'last needleA']) log.append([message(each)])
    const search = (query: string) => idsOf(log.search(pageOf(query)))
    const check = () => {
      expect(search('NeedleA')).toEqual([1, 3])
      expect(search('界needleA🎈')).toEqual([1])
      expect(search('🎈needleBx')).toEqual([1])
      expect(search('c needleC')).toEqual([2])
      expect(search('needleD')).toEqual([])
    }
    check()
    for (let i = 0; i < 20; i++) expect(log.fillIndex(IN_PEACE)).toBe(20)
    check()
    const again = new EventLog(storage.sql)
    const pieces = fillAll(again) + 20
    expect(pieces).toBeGreaterThan(large.length / 16_384)
    expect(again.isIndexDue).toBe(false)
    expect(idsOf(again.search(pageOf('needleA')))).toEqual([1, 3])
    expect(idsOf(again.search(pageOf('needleA', { reverse: true, limit: 1 })))).toEqual([3])
    // Every group is there, those across the cuts between pieces too.
    const terms = new Set(
      storage.sql
        .exec('SELECT term FROM event_terms')
        .toArray()
        .map(({ term }) => String(term)),
    )
    const missing = unique.slice(2).filter((_, i) => !terms.has(unique.slice(i, i + 3).join('')))
    expect(missing).toEqual([])
  })
})

test('the index is due after many events or much text, and being asked for it early does no harm', async () => {
  await withStorage((storage) => {
    const log = emptyLog(storage)
    expect(log.fillIndex(IN_PEACE)).toBeNull()
    log.append(Array.from({ length: 499 }, (_, i) => message(`event ${i}`)))
    expect(log.isIndexDue).toBe(false)
    log.append([message('one more')])
    expect(log.isIndexDue).toBe(true)
    // Not while events keep coming.
    expect(log.fillIndex(Date.now())).toBe(1_000)
    expect(log.isIndexDue).toBe(true)
    expect(fillAll(log)).toBeGreaterThan(5)
    expect(log.isIndexDue).toBe(false)
    for (let i = 0; i < 3; i++) log.append([message('x'.repeat(400_000))])
    expect(log.isIndexDue).toBe(true)
    fillAll(log)
    expect(log.isIndexDue).toBe(false)
    expect(idsOf(log.search(pageOf('event 499')))).toEqual([])
    expect(idsOf(log.search(pageOf('event 498')))).toEqual([498])
  })
})

test('what looks like syntax is plain text, and any length of it is taken', async () => {
  await withStorage((storage) => {
    const log = emptyLog(storage)
    const odd = [
      '100%',
      'a_b',
      'x*',
      '"quoted"',
      "o'clock",
      'NEAR(a b)',
      'a AND b',
      '-minus',
      '^caret',
      '(open',
      'col:x',
      '\\d+',
    ]
    log.append(odd.map((each) => message(each)))
    log.append([message('100x'), message('axb'), message(`${'long '.repeat(500)}end`)])
    const check = () => {
      for (const [id, each] of odd.entries()) expect(idsOf(log.search(pageOf(each))), each).toEqual([id])
      expect(idsOf(log.search(pageOf('%%%')))).toEqual([])
      expect(idsOf(log.search(pageOf(`${'LONG '.repeat(500)}END`)))).toEqual([odd.length + 2])
      expect(idsOf(log.search(pageOf('no '.repeat(100_000))))).toEqual([])
    }
    check()
    fillAll(log)
    check()
  })
})

test('one and two characters are answered by the index when they are rare, and by looking when they are common', async () => {
  await withStorage((storage) => {
    const log = emptyLog(storage)
    const texts = Array.from({ length: 3_000 }, (_, i) => `item ${i} ${String.fromCodePoint(0x4e00 + (i % 500))}茅`)
    texts[1_234] = 'the rare 稀有 word qz'
    log.append(texts.map((each) => message(each)))
    const queries = ['稀有', '有', 'qz', '茅', '茅"', '茅台', 'it', 'e', '"}', '}}', '7', 'QZ']
    const answers = (of: EventLog) => queries.map((query) => of.search(pageOf(query, { limit: 5, startId: 100 })))
    const before = answers(log)
    fillAll(log)
    expect(answers(log)).toEqual(before)
    expect(idsOf(log.search(pageOf('稀有')))).toEqual([1_234])
    expect(idsOf(log.search(pageOf('qz', { reverse: true })))).toEqual([1_234])
  })
})

test('a search through many events reads a thousand at a time, and others come first in between', async () => {
  await withStorage(async (storage) => {
    const log = emptyLog(storage)
    log.append(Array.from({ length: 3_500 }, (_, i) => message(i === 1_700 ? '中' : `event ${i}`)))
    const pauses = [...searchedBy(log, storage.sql, pageOf('中'), { firstLook: 200, slice: 1_000 })].filter(
      (each) => each === PAUSE,
    ).length
    expect(pauses).toBe(3)
    const rare = { ...pageOf(''), filter: { ...NO_FILTER, source: 'agent' } }
    for (const reverse of [false, true]) {
      for (const page of [pageOf('中', { reverse }), pageOf('event 3', { reverse, limit: 5 }), { ...rare, reverse }]) {
        const order: string[] = []
        setTimeout(() => order.push('another'), 0)
        const searching = log
          .searchPatiently(page, () => true)
          .then((found) => {
            order.push('the search')
            return found
          })
        expect(await searching).toEqual(log.search(page))
        if (page.limit === 100) expect(order).toEqual(['another', 'the search'])
      }
    }
    // An ordinary one is over at once.
    let isOver = false
    void log
      .searchPatiently(pageOf('event', { limit: 20 }), () => true)
      .then(() => {
        isOver = true
      })
    await Promise.resolve()
    expect(isOver).toBe(true)
    expect(await log.searchPatiently(pageOf('中'), () => false)).toBeNull()
  })
})

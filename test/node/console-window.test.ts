// The part of a long log that the page holds, and what it reads from it.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LiveTail } from '../../durable-objects/conversation/sockets/live-tail.ts'
import { isSame } from '../../src/web/conversation/entries.ts'
import { withNewest, withOlder } from '../../src/web/conversation/listing.ts'
import { costOf, excerpt, extended, MOST_EVENTS, withLive } from '../../src/web/conversation/window.ts'
import { progressText } from '../../src/web/format.ts'
import { AUDIT_NAMES } from '../../src/web/settings/settings-api.ts'
import type { ConversationInfo, StoredEvent } from '../../src/web/wire.ts'
import {
  type Hindrance,
  hostHindrance,
  isBranchName,
  nameOfRequest,
  outcomeOf,
  pushHindrance,
} from '../../src/web/workspace/pull-request.ts'
import { inOrder } from '../../src/web/workspace/tree.ts'
import { inLines, withEndsOf } from '../../src/web/workspace/workspace-api.ts'
import { ZH } from '../../src/web/zh.ts'

const events = (from: number, to: number): StoredEvent[] =>
  Array.from({ length: to - from + 1 }, (_, at) => {
    return { id: from + at, timestamp: '2026-01-01T00:00:00Z', source: 'agent' as const, message: '' }
  })
const span = (list: readonly StoredEvent[]) => [list[0]?.id, list.at(-1)?.id, list.length]

test('the window grows at one side, drops at the other, and takes no page that would leave a gap', () => {
  expect(span(extended(events(100, 199), events(40, 99), 'earlier'))).toEqual([40, 199, 160])
  expect(span(extended(events(100, 199), events(200, 259), 'later'))).toEqual([100, 259, 160])
  const full = events(1000, 1000 + MOST_EVENTS - 1)
  expect(span(extended(full, events(940, 999), 'earlier'))).toEqual([940, 940 + MOST_EVENTS - 1, MOST_EVENTS])
  expect(span(extended(full, events(1320, 1379), 'later'))).toEqual([1060, 1379, MOST_EVENTS])
  // The reader has jumped elsewhere meanwhile.
  expect(span(extended(events(100, 199), events(40, 80), 'earlier'))).toEqual([100, 199, 100])
  expect(span(extended(events(100, 199), events(300, 320), 'later'))).toEqual([100, 199, 100])
  expect(span(extended(events(100, 199), events(180, 220), 'later'))).toEqual([100, 220, 121])
  expect(span(extended([], events(0, 3), 'later'))).toEqual([0, 3, 4])
})

test('live events join a window that ends at the newest one, and no other', () => {
  expect(span(withLive(events(0, 9), events(10, 11), 9))).toEqual([0, 11, 12])
  expect(span(withLive(events(0, 9), events(51, 52), 50))).toEqual([0, 9, 10])
  expect(span(withLive([], events(0, 0), -1))).toEqual([0, 0, 1])
  expect(withLive(events(0, MOST_EVENTS - 1), events(MOST_EVENTS, MOST_EVENTS + 4), MOST_EVENTS - 1)).toHaveLength(
    MOST_EVENTS,
  )
})

test('a hit shows the words around what was found, wherever in the event it stands', () => {
  const [event] = events(1, 1)
  if (event === undefined) throw new Error('missing')
  const long = { ...event, content: `${'a '.repeat(100)}Needle ${'b '.repeat(200)}` }
  expect(excerpt(long, 'needle')).toMatch(/^…(a )+Needle (b )+.*…$/)
  expect(excerpt({ ...event, args: { command: 'ls needle', n: 1 } }, 'NEEDLE')).toBe('ls needle')
  expect(excerpt({ ...event, message: 'said' }, 'elsewhere')).toBe('said')
})

test('cost, tokens and the fill of the context come from the newest action that tells them', () => {
  const metrics = (prompt_tokens: number) => ({
    accumulated_cost: 0.5,
    accumulated_token_usage: { prompt_tokens, completion_tokens: 5, per_turn_token: 250, context_window: 1000 },
  })
  const told = events(0, 3).map((event) => (event.id < 2 ? { ...event, llm_metrics: metrics(event.id * 10) } : event))
  expect(costOf(told)).toEqual({ dollars: 0.5, tokens: 15, fill: 0.25 })
  expect(costOf([{ ...(events(0, 0)[0] as StoredEvent), llm_metrics: { accumulated_token_usage: {} } }])).toEqual({
    dollars: 0,
    tokens: 0,
    fill: null,
  })
  expect(costOf(events(0, 3))).toBeNull()
})

test('two entries are the same when everything in them is', () => {
  const entry = { id: 1, output: { text: 'a', exitCode: 0 }, files: ['x'] }
  expect(isSame(entry, structuredClone(entry))).toBe(true)
  expect(isSame(entry, { ...entry, output: { text: 'a', exitCode: 1 } })).toBe(false)
  expect(isSame(entry, { ...entry, files: ['x', 'y'] })).toBe(false)
  expect(isSame(entry, { ...entry, output: null })).toBe(false)
})

test('the tail has the end of each output and the answer under way, until the event that holds them', () => {
  const tail = new LiveTail()
  const stored = (text: object, source = 'agent') => [{ id: 9, kind: 'k', source, text: JSON.stringify(text) }]
  tail.sent({ type: 'output', action_id: 7, text: 'one ' })
  tail.sent({ type: 'output', action_id: 7, text: 'two' })
  tail.sent({ type: 'output', action_id: 8, text: 'x'.repeat(70_000) })
  tail.sent({ type: 'delta', answer: 1, attempt: 1, kind: 'text', text: 'begun' })
  tail.sent({ type: 'delta', answer: 1, attempt: 2, kind: 'text', text: 'He' })
  tail.sent({ type: 'delta', answer: 1, attempt: 2, kind: 'reasoning', text: 'hm' })
  tail.sent({ type: 'delta', answer: 1, attempt: 2, kind: 'text', text: 'llo' })
  expect(tail.frames()).toEqual([
    { type: 'delta', answer: 1, attempt: 2, kind: 'text', text: 'Hello' },
    { type: 'output', action_id: 7, text: 'one two' },
    { type: 'output', action_id: 8, text: 'x'.repeat(65_536) },
  ])
  tail.stored(stored({ observation: 'run', cause: 8, content: 'said \\"cause\\":7' }, 'environment'))
  expect(tail.frames().map(({ type }) => type)).toEqual(['delta', 'output'])
  tail.stored(stored({ observation: 'run', cause: 7 }))
  expect(tail.frames()).toEqual([])
})

test('a folder stands before files, and a file before those with greater numbers', () => {
  expect(inOrder(['file-10', 'file-9', 'b/', 'a.txt', 'a/'])).toEqual(['a/', 'b/', 'a.txt', 'file-9', 'file-10'])
})

test('the progress of a task has the colon of its own language', () => {
  expect(progressText('Apple：quote ready')).toBe('Apple: quote ready')
  expect(progressText('贵州茅台：行情已获取')).toBe('贵州茅台：行情已获取')
  expect(progressText('queued')).toBe('queued')
})

test('every action that the service notes has a name in the console', () => {
  const source = readFileSync(new URL('../../src/db/audit.ts', import.meta.url), 'utf8')
  const list = /AUDIT_ACTIONS = \[(.*?)\]/s.exec(source)?.[1] ?? ''
  const actions = [...list.matchAll(/'([\w.]+)'/g)].map(([, action]) => action)
  expect(actions).toContain('key.issued')
  expect(Object.keys(AUDIT_NAMES).sort()).toEqual(actions.sort())
})

test('no text has two Chinese wordings, of which one would be lost', async () => {
  const names = ['alerts', 'analysis', 'conversation', 'frame', 'portfolio', 'reference', 'screening', 'workspace']
  const books = await Promise.all(
    names.map(async (name) => (await import(`../../src/web/zh-${name}.ts`)) as Record<string, Record<string, string>>),
  )
  const pages = books.flatMap((book) => Object.values(book))
  expect(pages.length).toBeGreaterThanOrEqual(names.length)
  const lost = pages.flatMap((page) => Object.entries(page).filter(([text, words]) => Reflect.get(ZH, text) !== words))
  expect(lost).toEqual([])
})

test('a request has the name that its host gives it', () => {
  const names = (['github', 'gitlab', 'bitbucket'] as const).map(nameOfRequest)
  expect(names).toEqual(['Pull request', 'Merge request', 'Pull request'])
})

test('the outcome of a command is its own, whatever else ran meanwhile, and one that was stopped or lost has come to an end', () => {
  const ran = { observation: 'run', content: 'said', extras: { metadata: { exit_code: 0 } } }
  const log = events(0, 5).map((event, at) => ({
    ...event,
    ...[{}, { ...ran, cause: 9 }, {}, { ...ran, cause: 2 }][at],
  }))
  expect([outcomeOf(log, 2), outcomeOf(log, 4)]).toEqual([{ exitCode: 0, output: 'said' }, null])
  const stopped = { ...events(6, 6)[0], observation: 'error', content: 'The command was stopped.', cause: 4 }
  expect(outcomeOf([...log, stopped as StoredEvent], 4)).toEqual({ exitCode: -1, output: 'The command was stopped.' })
})

test('what a git host refuses is told with the setting that is missing', () => {
  const of = ({ message, to }: Hindrance) => [message, to]
  const tokens = '/settings/git-hosts'
  const pushes = {
    'remote: error: GH006: Protected branch update failed for refs/heads/x.': ['The host takes no push to x', null],
    "fatal: Authentication failed for 'https://github.com/a/b.git/'": ['does not take the stored token', tokens],
    'remote: Permission to a/b.git denied to ann.': ['does not take the stored token', tokens],
    ' ! [rejected] x -> x (non-fast-forward)': ['has commits that are not here', null],
    'fatal: the remote end hung up unexpectedly': ['The push failed.', null],
  }
  for (const [said, [sentence, to]] of Object.entries(pushes))
    expect(of(pushHindrance(said, 'x'))).toEqual([expect.stringContaining(sentence ?? ''), to])
  const requests = {
    'github did not open it: it does not accept the stored token': ['does not take the stored token', tokens],
    'No gitlab token is stored.': ['does not take the stored token', tokens],
    'gitlab did not open it: it has no such thing': ['shows no such repository', tokens],
    'github did not open it: Validation Failed: A pull request already exists for x.': ['is open already', null],
    'github did not open it: it answered HTTP 500': ['opened no request', null],
  }
  for (const [said, [sentence, to]] of Object.entries(requests))
    expect(of(hostHindrance(said, 'x'))).toEqual([expect.stringContaining(sentence ?? ''), to])
  expect(['topic', 'a/b-1', 'übung'].map(isBranchName)).toEqual([true, true, true])
  expect(['', 'a b', '-x', 'a..b', 'a/', 'x.lock', 'a//b', 'a~1', '.x'].some(isBranchName)).toBe(false)
})

test('the list of conversations loses none and shows none twice when new ones push the others down, and drops what is gone', () => {
  const items = (ids: string) => [...ids].map((id) => ({ conversation_id: id }) as ConversationInfo)
  const page = (ids: string, next: string | null) => ({ results: items(ids), next_page_id: next })
  const shown = (part: { items: ConversationInfo[]; next: string | null }) =>
    `${part.items.map(({ conversation_id: id }) => id).join('')} ${part.next}`
  const two = withOlder(withNewest({ items: [], next: null }, page('bcd', 'd')), page('efg', 'g'))
  expect(shown(two)).toBe('bcdefg g')
  expect(shown(withNewest(two, page('abc', 'c')))).toBe('abcdefg g')
  expect(shown(withNewest(two, page('bde', 'e')))).toBe('bdefg g')
  expect(shown(withNewest(two, page('xyz', 'z')))).toBe('xyz z')
  expect(shown(withNewest(two, page('bc', null)))).toBe('bc null')
  const one = withNewest({ items: items('bcd'), next: 'd' }, page('abc', 'c'))
  expect(shown(one)).toBe('abcd d')
  expect(shown(withOlder({ items: items('abcd'), next: 'c' }, page('def', null)))).toBe('abcdef null')
})

test('an edit in a text field, which knows one end of a line, changes no other line of a file', () => {
  const through = (file: string, edit: (lines: string) => string) => withEndsOf(file, edit(inLines(file)))
  expect(through('a\nb\n', (text) => `${text}c`)).toBe('a\nb\nc')
  expect(through('a\r\nb\r\n', (text) => text.replace('b', 'B\nc'))).toBe('a\r\nB\r\nc\r\n')
  expect(through('a\r\nb\nc\rd', (text) => text.replace('c', 'C').replace('a\n', 'a\nnew\n'))).toBe(
    'a\r\nnew\r\nb\nC\r\nd',
  )
  expect(through('a\r\nb\nc', (text) => `${text}\nd`)).toBe('a\r\nb\nc\r\nd')
  for (const file of ['', 'x', '\r\n', 'a\r\nb\nc\rd\n']) expect(through(file, (text) => text)).toBe(file)
})

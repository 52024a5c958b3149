import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Condensing, condensing, maskPages, summaryPrompt } from '../../../src/agent/context/condenser.ts'
import type { ViewEntry } from '../../../src/agent/context/history.ts'
import { fixedTokens, messageTokens } from '../../../src/agent/context/history.ts'
import { textTokens } from '../../../src/llm/metrics.ts'
import type { PromptMessage } from '../../../src/llm/model.ts'

const HEAD: ViewEntry[] = [
  { id: 2, kind: 'user', events: 1, tokens: 50 },
  { id: 6, kind: 'user', events: 1, tokens: 300 },
]

/** Answers of two events each, with ids that leave room for their results. */
const answers = (count: number, tokens = 100): ViewEntry[] =>
  Array.from({ length: count }, (_, index) => ({ id: 10 + index * 3, kind: 'answer' as const, events: 2, tokens }))

const QUIET = { isRequested: false, summarizes: true, contextWindow: null, fixedTokens: 1000 }

const kept = (view: readonly ViewEntry[], { places }: Condensing) => view.filter((_, at) => !places.includes(at))
const eventsOf = (view: readonly ViewEntry[]) => view.reduce((sum, { events }) => sum + events, 0)

test('up to 120 events nothing is summarised; beyond, the first stay, the newest 55 stay, and a text stands between', () => {
  expect(condensing({ ...QUIET, view: [...HEAD, ...answers(59)] })).toBeNull()
  const view = [...HEAD, ...answers(60)]
  const found = condensing({ ...QUIET, view })
  if (found === null) throw new Error('nothing was condensed')
  const stay = kept(view, found)
  expect(stay.slice(0, 2)).toEqual(HEAD)
  expect(eventsOf(stay.slice(2))).toBe(54)
  expect(found).toMatchObject({ how: 'summary', offset: 2, from: 10 })
  // The results of the last forgotten answer go with it, and nothing of the first that stays.
  expect(found.to).toBe((stay[2]?.id ?? 0) - 1)
  expect(condensing({ ...QUIET, summarizes: false, view })).toBeNull()
})

test('a former summary is taken up into the next one, and survives when only a window is cut', () => {
  const summary: ViewEntry = { id: 6, kind: 'summary', events: 1, tokens: 500 }
  const view = [...HEAD, summary, ...answers(70)]
  expect(condensing({ ...QUIET, view })?.places[0]).toBe(2)
  const window = condensing({ ...QUIET, view, isRequested: true })
  expect(window).toMatchObject({ how: 'window', offset: 3 })
  expect(window?.places[0]).toBe(3)
})

test('a full window condenses however few the events are, down to a part of it', () => {
  const view = [...HEAD, ...answers(10, 2000)]
  expect(condensing({ ...QUIET, view, contextWindow: 100_000 })).toBeNull()
  const found = condensing({ ...QUIET, view, contextWindow: 24_000 })
  if (found === null) throw new Error('nothing was condensed')
  const tokens = kept(view, found)
    .slice(2)
    .reduce((sum, entry) => sum + entry.tokens, 0)
  expect(tokens).toBeLessThanOrEqual(24_000 * 0.4)
  expect(tokens).toBeGreaterThan(0)
})

test('after the model said that it was too much, the newer half stays, with or without summaries', () => {
  const view = [...HEAD, ...answers(8)]
  for (const summarizes of [true, false]) {
    const found = condensing({ ...QUIET, summarizes, view, isRequested: true })
    expect(found).toMatchObject({ how: 'window', places: [2, 3, 4, 5], from: 10, to: 21 })
  }
  // One giant among dwarfs: the half is one of tokens, too.
  const giant = view.map((entry, at) => (at === 7 ? { ...entry, tokens: 90_000 } : entry))
  expect(condensing({ ...QUIET, view: giant, isRequested: true })?.places).toEqual([2, 3, 4, 5, 6, 7])
  expect(condensing({ ...QUIET, view: HEAD, isRequested: true })).toBeNull()
  expect(condensing({ ...QUIET, view: [...HEAD, ...answers(1)], isRequested: true })).toBeNull()
})

test('whatever a conversation looks like, condensing ends, keeps its beginning and its end, and names each event once', () => {
  const entry = fc.record({
    kind: fc.constantFrom<ViewEntry['kind']>('user', 'answer', 'answer'),
    events: fc.integer({ min: 1, max: 30 }),
    tokens: fc.integer({ min: 1, max: 20_000 }),
  })
  const asked = { isRequested: fc.boolean(), contextWindow: fc.option(fc.integer({ min: 2000, max: 200_000 })) }
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 120 }), fc.record(asked), (entries, { isRequested, contextWindow }) => {
      let id = 1
      let view: ViewEntry[] = entries.map((made) => {
        id += made.events
        return { ...made, id: id - made.events }
      })
      const last = view.at(-1)
      const gone = new Set<number>()
      for (let round = 0; ; round++) {
        expect(round).toBeLessThanOrEqual(entries.length)
        const found = condensing({ ...QUIET, view, isRequested, contextWindow })
        if (found === null) break
        expect(found.from).toBeLessThanOrEqual(found.to)
        const forgotten = found.places.map((at) => view[at])
        for (const item of forgotten) {
          if (item === undefined || item.kind === 'summary') continue
          expect(item.id >= found.from && item.id <= found.to && !gone.has(item.id)).toBe(true)
          gone.add(item.id)
        }
        const stay = kept(view, found)
        for (const item of stay)
          if (item.kind !== 'summary') expect(item.id < found.from || item.id > found.to).toBe(true)
        expect(stay.at(-1)).toBe(last)
        if (found.how === 'summary') stay.splice(found.offset, 0, { id: 0, kind: 'summary', events: 1, tokens: 50 })
        view = stay
      }
    }),
  )
})

const result = (name: string, text: string): PromptMessage => ({
  role: 'tool',
  callId: text,
  name,
  content: [{ type: 'text', text }],
})
const textsOf = (messages: readonly PromptMessage[]) => messages.map((message) => JSON.stringify(message))

test('only the two newest pages are shown, and other results stay', () => {
  const messages = [
    result('browse', 'page one'),
    result('execute_bash', 'output'),
    result('browse', 'page two'),
    result('browse', 'page three'),
  ]
  const masked = textsOf(maskPages(messages))
  expect(masked.map((text) => /left out/.test(text))).toEqual([true, false, false, false])
  expect(textsOf(maskPages(messages, 0)).filter((text) => /left out/.test(text))).toHaveLength(3)
})

test('the question for a summary holds the former notes and everything that goes, and fits into the window', () => {
  const forgotten: PromptMessage[] = [
    { role: 'assistant', text: 'I look.', calls: [{ id: '1', name: 'execute_bash', arguments: '{"command":"ls"}' }] },
    result('execute_bash', 'README.md'),
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Use tabs.' },
        { type: 'image', url: 'data:image/png;base64,AAAA' },
      ],
    },
  ]
  const text = JSON.stringify(summaryPrompt({ former: 'USER: wants a parser', forgotten, contextWindow: null }))
  for (const part of ['USER: wants a parser', 'I look.', 'ls', 'README.md', 'Use tabs.', '[an image]'])
    expect(text).toContain(part)
  expect(text).not.toContain('base64')
  const long = Array.from({ length: 80 }, (_, index) => result('execute_bash', `${index} ${'word '.repeat(5000)}`))
  const prompt = summaryPrompt({ former: null, forgotten: long, contextWindow: 16_000 })
  expect(prompt.messages.reduce((sum, message) => sum + messageTokens(message), 0)).toBeLessThan(16_000)
  expect(JSON.stringify(prompt)).toContain('[result of execute_bash] 79 word')
})

test('tokens are guessed near the rules of thumb that vendors publish', () => {
  // About four characters of English to a token, and a token for one or two Chinese characters.
  expect(textTokens('The quick brown fox jumps over the lazy dog. '.repeat(100)) / 4500).toBeCloseTo(0.27, 1)
  expect(textTokens('股票市场今天的表现好于预期'.repeat(100)) / 1300).toBeCloseTo(0.9, 1)
  expect(textTokens('')).toBe(0)
  expect(fixedTokens({ system: 'x'.repeat(360), tools: [] })).toBeGreaterThan(99)
})

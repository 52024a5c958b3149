import { expect, test } from 'vitest'
import { modelComment } from '../../../src/analysis/market-review/comment.ts'
import { NarratorError } from '../../../src/analysis/narrator.ts'
import { ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import { facts, narrating, TEXTS } from './facts.ts'

const SOON_MS = 20
const signal = new AbortController().signal
const clock = () => Date.parse('2026-08-14T10:00:00Z')
const tell = (narration: ReturnType<typeof narrating>) => modelComment(facts(), narration, { signal, clock })

test('a model’s words stand in a box, each sentence checked and none rewritten; without a usable answer there is none', async () => {
  const told = await tell(
    narrating(async () => ({
      ...TEXTS,
      overview: 'The SSE Composite closed at 3500.12, up 1.21%. The SSE Composite fell 3%.',
      plan: 'It may pay to wait for a calmer day.',
      stance: 'red',
    })),
  )
  expect(told).toMatchObject({
    model: 'm-1',
    fault: null,
    box: { contradiction: 'The model sees the market otherwise: Risk-off' },
  })
  expect(told.box?.sentences.slice(0, 1)).toEqual([
    { text: 'The SSE Composite closed at 3500.12, up 1.21%.', mark: null, cites: [1] },
  ])
  expect(told.box?.evidence).toEqual([{ n: 1, fact: 'SSE Composite', text: 'SSE Composite: 3500.12 +1.21%' }])
  expect(told.box?.counts).toEqual({ checked: 8, confirmed: 1, marked: 6, dropped: 1 })
  expect(JSON.stringify(told.box)).not.toContain('fell 3%')
  const agreeing = await tell(narrating(async () => ({ ...TEXTS, stance: 'green' })))
  expect(agreeing.box?.contradiction).toBeNull()
})

test('a model without a usable answer is named with what it did wrong, try by try', async () => {
  const failures: [() => Promise<unknown>, string, number][] = [
    [async () => ({ ...TEXTS, risks: undefined }), 'bad_json', 2],
    [async () => 'not json', 'bad_json', 2],
    [async () => Promise.reject(new NarratorError('bad_key', { model: 'm-1' })), 'bad_key', 1],
    [async () => Promise.reject(new NarratorError('quota', { model: 'm-1' })), 'quota', 1],
    [async () => Promise.reject(new Error('broken')), 'network', 1],
  ]
  for (const [answer, fault, tries] of failures) {
    const { box, model, fault: told, runs } = await tell(narrating(answer))
    expect([box, model, told, runs.length, runs.at(-1)?.error_type]).toEqual([null, null, fault, tries, fault])
  }
  const refused = await tell(narrating(async () => Promise.reject(new NarratorError('bad_key', { model: 'm-1' }))))
  expect(refused.runs).toMatchObject([{ model: 'm-1', success: false, error_type: 'bad_key' }])
  const silent = narrating(() => new Promise(() => {}), SOON_MS)
  expect(await tell(silent)).toMatchObject({ box: null, fault: 'timeout' })
})

test('a row of evidence says in the words of the review what it is of, also where stocks were counted', async () => {
  for (const language of ReportLanguage.options) {
    const { up } = facts().breadth ?? { up: 0 }
    const counted = {
      zh: `上涨家数为${up}家。`,
      en: `${up} stocks rose.`,
      ko: `상승 종목은 ${up}개였다.`,
    }[language]
    const told = await modelComment(
      { ...facts(), language },
      narrating(async () => ({ ...TEXTS, overview: counted })),
      { signal, clock },
    )
    const { breadth } = textsOf(language).review.gap
    expect([language, told.box?.sentences[0]]).toEqual([language, { text: counted, mark: null, cites: [1] }])
    expect(told.box?.evidence[0]).toMatchObject({ fact: breadth, text: expect.stringMatching(`^${breadth}: `) })
  }
})

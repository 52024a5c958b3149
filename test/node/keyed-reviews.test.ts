// Figures of a market's day that a model names by their keys.

import { expect, test } from 'vitest'
import { modelComment } from '../../src/analysis/market-review/comment.ts'
import type { RegionFacts } from '../../src/analysis/market-review/facts.ts'
import { MARKET_DAYS } from '../fixtures/sentences/market-days.ts'

const TEXTS = { indices: '', sectors: '', funds: '', news: '', plan: '', risks: '' }

/** What stands in the box of a review whose model wrote the text, and what it was asked. */
async function told(text: string, facts: RegionFacts) {
  let prompt = ''
  const narrator = {
    complete: async (request: { prompt: string }) => {
      prompt = request.prompt
      return { output: { ...TEXTS, overview: text }, model: 'm', provider: 'p', tokens: 1, isCutOff: false }
    },
  }
  const ctx = { clock: () => 0, signal: new AbortController().signal }
  const { box } = await modelComment(facts, { narrator, timeoutMs: 60_000 }, ctx)
  if (box === null) throw new Error('no box')
  return { prompt, box, shown: box.sentences.map(({ text: one, mark }) => (mark === null ? one : `${one} [${mark}]`)) }
}

const day = (language: RegionFacts['language']): RegionFacts => ({ ...MARKET_DAYS.cn, language })

test('keys of indices, boards and breadth are put in as the review prints them, each beside its own name', async () => {
  const zh = await told('沪指收于{{SH000001.last}}点，上涨{{SH000001.change_pct}}。', day('zh'))
  expect(zh.shown).toEqual(['沪指收于3512.46点，上涨0.52%。'])
  expect(zh.prompt).toContain('{{SH000001.change_pct}} = +0.52% (上证指数 ')
  expect(zh.box.evidence.map(({ fact }) => fact)).toEqual(['上证指数'])
  const en = await told(
    'The leading board gained {{industry_top_1.change_pct}}; {{breadth.up}} stocks rose.',
    day('en'),
  )
  expect(en.shown[0]).toMatch(/^The leading board gained 2\.35% \(银行 .+\);/)
  expect(en.shown[1]).toBe('2871 stocks rose.')
})

test('a key told of another index, or against the way it went, is not kept; one that the review has not drops its sentence', async () => {
  const wrong = [
    '深证成指收于{{SH000001.last}}点。',
    '上证指数下跌{{SH000001.change_pct}}。',
    'The SZSE Component closed at {{SH000001.last}}.',
    '{{breadth.up}} stocks fell.',
  ]
  for (const text of wrong) {
    const { box } = await told(text, day('zh'))
    expect([text, box.counts.confirmed]).toEqual([text, 0])
  }
  const unknown = ['{{SH000001.pe}}', '{{AAPL.last}}', '{{ {{SH000001.last}} }}', '{{SH000001.last', '{{}}']
  for (const key of unknown) {
    const { box, shown } = await told(`The index stands at ${key}.`, day('en'))
    expect([key, shown, box.counts.dropped]).toEqual([key, [], 1])
  }
  const { box } = await told(`${'{{SH000001.last}} '.repeat(220)}.`, day('en'))
  expect([box.sentences, box.counts.dropped]).toEqual([[], 1])
})

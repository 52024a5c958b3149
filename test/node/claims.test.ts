// The checker of a model's words against labelled sentences, and hostile answers against the box that holds them.

import { expect, test } from 'vitest'
import type { Narrator } from '../../src/analysis/narrator.ts'
import { generate } from '../fixtures/sentences/grammar.ts'
import { DEVELOPMENT } from '../fixtures/sentences/split.ts'
import { confusion, faults } from '../support/claims/confusion.ts'
import { ALONE, analyze, DEADLINES, type Subject } from '../unit/analysis/alone.ts'
import { barsOf, wave } from '../unit/analysis/series.ts'

test('of the made sentences for development at most 1 % of the false ones pass and 1 % of the true ones are hurt', () => {
  const { passed, hurt } = faults(confusion(DEVELOPMENT.made, ({ language }) => language))
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.01)
})

test('of sentences written by hand false ones are caught; how many true ones are marked is not yet what it should be', () => {
  const { passed, hurt } = faults(confusion(DEVELOPMENT.byHand, ({ language }) => language))
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.35)
})

test('of new sentences of the same grammar at most 1 % of the false ones pass and 2 % of the true ones are hurt', () => {
  const seeds = process.env.PROOF === '1' ? [...Array(10).keys()].map((i) => `claims ${i}`) : ['claims']
  const { passed, hurt } = faults(
    confusion(
      seeds.flatMap((seed) => generate(seed)),
      ({ language }) => language,
    ),
  )
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.02)
})

// The sealed third is opened once, when the checker is finished.
if (process.env.SEALED_SENTENCES === '1') {
  test('the sealed sentences, reported as they are', async () => {
    const { SEALED } = await import('../fixtures/sentences/sealed.ts')
    for (const rows of [
      confusion(SEALED.made, ({ language }) => language),
      confusion(SEALED.byHand, ({ language }) => language),
    ]) {
      process.stdout.write(`${JSON.stringify(rows, null, 1)}\n${JSON.stringify(faults(rows))}\n`)
    }
  })
}

const INPUT: Subject = {
  instrument: { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' },
  names: { zh: '贵州茅台' },
  request: { reportType: 'detailed', language: 'zh', analysisPhase: 'auto', skills: null },
  configuredLanguage: 'zh',
  queryId: 'd'.repeat(32),
}

/** An answer that says the text in every place that a model may fill. */
function answerWith(text: string) {
  const [line, paragraph] = [text.slice(0, 400), text.slice(0, 2_000)]
  const paragraphs = [
    ...['technical_analysis', 'ma_analysis', 'volume_analysis', 'fundamental_analysis', 'news_summary'],
    ...['market_sentiment', 'sector_position', 'short_term_outlook', 'medium_term_outlook', 'earnings_outlook'],
  ]
  return {
    ...Object.fromEntries(paragraphs.map((key) => [key, paragraph])),
    ...{ one_sentence: line, analysis_summary: paragraph, action: 'buy' },
    ...{ positive_catalysts: [line], risk_alerts: [line], advice_without_position: line, advice_with_position: line },
  }
}

async function reportWith(output: unknown) {
  const narrator: Narrator = {
    complete: async () => ({ output, model: 'test/model', provider: 'test', tokens: 1, isCutOff: false }),
  }
  const result = await analyze(INPUT, {
    dailyBars: async () => ({
      ok: true,
      value: barsOf(wave(80, 0.3, 1400)),
      provider: 'tencent',
      provenance: null,
      runs: [],
    }),
    quote: async () => ({ ok: false, runs: [] }),
    ...ALONE,
    narrator,
    onStage: () => undefined,
    clock: () => Date.parse('2026-03-20T08:00:00Z'),
    signal: new AbortController().signal,
    deadlines: DEADLINES,
  })
  if (!result.ok) throw new Error(result.message)
  return result.report
}

/** All of a report but the box, and what says who wrote it. */
function outside(report: Awaited<ReturnType<typeof reportWith>>): string {
  const raw = { ...report.details?.raw_result, model_comment: null }
  return JSON.stringify({ ...report, details: { ...report.details, raw_result: raw } })
}

const plain = (text: string) => text.normalize('NFKC').replace(/\p{Cf}/gu, '')

test('hostile answers reach no field outside the box: all else is the same whatever the model writes', async () => {
  const calm = outside(await reportWith(answerWith('x')))
  for (const { id, text, marks } of DEVELOPMENT.hostile) {
    for (const output of [answerWith(text), text]) {
      const report = await reportWith(output)
      const rest = outside(report)
      for (const mark of marks) {
        if (plain(calm).includes(plain(mark))) continue
        expect([id, mark, rest.includes(mark) || plain(rest).includes(plain(mark))]).toEqual([id, mark, false])
      }
      expect([report.summary.operation_advice, report.summary.sentiment_score]).toEqual([
        JSON.parse(calm).summary.operation_advice,
        JSON.parse(calm).summary.sentiment_score,
      ])
    }
  }
})

// Whole reports, every figure and word of them, beside those that were made before: what one sees of a change that was not
// meant to change any. `npm test -- test/unit/analysis/whole-reports.test.ts -u` writes them anew; the difference is to be read.

import { expect, test } from 'vitest'
import { previousOf } from '../../../src/analysis/gather/previous.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import {
  BARS,
  FLOW,
  FUND,
  failedFetch,
  fetchedValue,
  providerRun,
  QUOTE,
  REPORT,
  reportWith,
  WHOLE,
} from './company-reports.ts'

const provenance = { kind: 'historical' as const, label: 'sample', endsOn: '2024-09-19' }
const outflow = FLOW.map((day, i) => ({ ...day, mainNet: -1.234e7 * (i + 1) }))
const falling = BARS.toReversed().map((bar, i) => ({ ...bar, date: BARS[i]?.date ?? bar.date }))
const beforeFalling = falling.at(-2)?.close ?? 0
const lastFalling = falling.at(-1)?.close ?? 0

const SCENES: Record<
  string,
  { language: ReportLanguage; made: (language: ReportLanguage) => Promise<AnalysisReport> }
> = {
  bought: { language: 'zh', made: (language) => reportWith(WHOLE, {}, { language }) },
  'held-back': {
    language: 'en',
    made: (language) => reportWith({ ...WHOLE, flow: async () => fetchedValue(outflow) }, {}, { language }),
  },
  falling: {
    language: 'ko',
    made: async (language) => {
      const before = previousOf(await reportWith(WHOLE, {}, { language }))
      const quote = {
        ...{
          ...QUOTE,
          price: lastFalling,
          prevClose: beforeFalling,
          change: lastFalling - beforeFalling,
          volumeRatio: 2.345,
        },
        changePct: (lastFalling / beforeFalling - 1) * 100,
        quotedAt: (QUOTE.quotedAt ?? 0) - 90_600,
      }
      const changes = {
        dailyBars: async () => fetchedValue(falling),
        quote: async () => fetchedValue(quote),
        previous: async () => before && { ...before, date: '2026-03-19', queryId: 'b'.repeat(32) },
        mood: async () => 'defensive' as const,
      }
      return reportWith({ ...WHOLE, flow: async () => fetchedValue(outflow) }, changes, { language })
    },
  },
  'nothing-but-bars': {
    language: 'en',
    made: (language) => {
      const company = {
        fundamentals: async () => failedFetch('unsupported'),
        flow: async () => failedFetch('empty'),
        boards: async () => failedFetch('timeout'),
        rankings: async () => failedFetch('http_500'),
        peers: async () => failedFetch('http_500'),
      }
      return reportWith(company, { quote: async () => failedFetch('http_429') }, { language })
    },
  },
  sampled: {
    language: 'ko',
    made: (language) => {
      const changes = {
        dailyBars: async () => ({ ...fetchedValue(BARS), provenance }) as never,
        quote: async () => ({ ...fetchedValue(QUOTE), provenance }) as never,
      }
      return reportWith(WHOLE, changes, { language, instrument: FUND })
    },
  },
  young: {
    language: 'zh',
    made: (language) => {
      const kept = fetchedValue(REPORT, [providerRun({ operation: 'kept_fundamentals', staleSeconds: 90_000 })])
      const changes = { dailyBars: async () => fetchedValue(BARS.slice(-7)) }
      return reportWith({ ...WHOLE, fundamentals: async () => kept }, changes, { language })
    },
  },
}

test('whole reports stand word for word, figure for figure and line for line of their charts as they did', async () => {
  for (const [name, { language, made }] of Object.entries(SCENES)) {
    const report = await made(language)
    const at = `../../fixtures/reports/${name}`
    await expect(`${JSON.stringify(report, null, 1)}\n`).toMatchFileSnapshot(`${at}.json`)
    await expect(renderMarkdown(report)).toMatchFileSnapshot(`${at}.md`)
    await expect(renderHtml(report)).toMatchFileSnapshot(`${at}.html`)
  }
})

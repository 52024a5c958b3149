import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { BARS, failedFetch, fetchedValue, LAST, QUOTE, reportWith } from './company-reports.ts'

const FIVE_OFF = { ...QUOTE, price: LAST * 1.05, change: LAST * 1.05 - QUOTE.prevClose }
const quote = { ...FIVE_OFF, changePct: (FIVE_OFF.price / QUOTE.prevClose - 1) * 100 }
const bars = async () => ({ ...fetchedValue(BARS), provider: 'tencent' })

test('another source is asked when quote and bars differ, never one that was asked before, and the report tells what it says', async () => {
  const asked: (readonly string[])[] = []
  const otherQuote = async (known: readonly string[]) => {
    asked.push(known)
    return { ...fetchedValue(QUOTE), provider: 'yahoo' }
  }
  await reportWith(null, { dailyBars: bars, otherQuote })
  expect(asked).toEqual([])
  const report = await reportWith(null, { dailyBars: bars, quote: async () => fetchedValue(quote), otherQuote })
  expect(asked).toEqual([['tencent', 'eastmoney']])
  expect(report.summary.action).toBeNull()
  expect(report.meta.data_checks).toContain(
    `第二来源为 ${QUOTE.price.toFixed(2)} / ${QUOTE.prevClose.toFixed(2)} (yahoo)，与日线相符`,
  )
  expect(renderMarkdown(report)).toContain('与日线相符')
})

test('where no other source answers, the report says that nobody could be asked', async () => {
  const failing = async () => {
    throw new Error('a bug in a source')
  }
  for (const otherQuote of [null, async () => failedFetch('timeout'), failing]) {
    const report = await reportWith(null, { dailyBars: bars, quote: async () => fetchedValue(quote), otherQuote })
    expect(report.meta.data_checks).not.toContain('第二来源')
    expect(renderMarkdown(report)).toContain('第二来源（没有可用的第二来源）')
  }
})

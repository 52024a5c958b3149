// Figures of a quote that no company has are left out and told; volumes that were lost are not taken for a quiet day.

import { expect, test } from 'vitest'
import type { Quote } from '../../../src/market/bars.ts'
import { examine } from '../../../src/market/consistency/examine.ts'
import { alarms, type Evidence } from '../../../src/market/consistency/types.ts'
import { cleanSeries, randomOf } from './series-evidence.ts'

function cleanOf(key: string): Evidence & { quote: Quote } {
  for (let seed = 1; ; seed++) {
    const { evidence, has } = cleanSeries(randomOf(seed), { quoted: true, key })
    const { quote, bars } = evidence
    const isOver = quote?.quotedAt != null && bars.length > 100 && evidence.now - quote.quotedAt >= 3_600_000
    if (isOver && !has.suspension && alarms(examine(evidence).consistency).length === 0) return { ...evidence, quote }
  }
}

const KEYS = ['600519', 'HK00700', 'AAPL']

test('a market value or a ratio that no company has is left out, with what was told', () => {
  for (const key of KEYS) {
    const clean = cleanOf(key)
    const told = (changes: Partial<Quote>) => {
      const values = {
        totalMarketValue: 2e12,
        circulatingMarketValue: 1.5e12,
        peRatio: 20,
        pbRatio: 3,
        turnoverRatePct: null,
      }
      const { quote, consistency } = examine({ ...clean, quote: { ...clean.quote, ...values, ...changes } })
      const [found] = alarms(consistency)
      return { detail: found?.detail, verdict: found?.verdict, marks: consistency.marks.valuation, quote }
    }
    const wild = told({ totalMarketValue: 1e41 })
    expect(wild).toMatchObject({ detail: 'impossible_value', verdict: 'warn', marks: ['magnitude'] })
    expect(wild.quote).toMatchObject({ totalMarketValue: null, circulatingMarketValue: null, peRatio: 20 })
    const more = told({ circulatingMarketValue: 6e12 })
    expect(more).toMatchObject({
      detail: 'traded_value',
      quote: { totalMarketValue: null, circulatingMarketValue: null },
    })
    expect(told({ peRatio: 1e9 })).toMatchObject({ detail: 'impossible_ratio', quote: { peRatio: null, pbRatio: 3 } })
    expect(told({ pbRatio: -1e7 })).toMatchObject({ detail: 'impossible_ratio', quote: { peRatio: 20, pbRatio: null } })
    expect(told({ peRatio: -350, pbRatio: 180 })).toMatchObject({ detail: undefined, quote: { peRatio: -350 } })
  }
})

test('volumes that were lost fail; days on which nothing traded and nothing moved do not', () => {
  for (const key of KEYS) {
    const clean = cleanOf(key)
    const from = clean.bars.length - 5
    const lost = clean.bars.map((bar, i) => (i < from ? bar : { ...bar, volume: 0, amount: null }))
    const volumeOf = (evidence: Evidence) =>
      alarms(examine(evidence).consistency).find(({ check }) => check === 'volume_units')
    expect(volumeOf({ ...clean, bars: lost })).toMatchObject({ verdict: 'fail', touches: ['volume'] })
    expect(volumeOf({ ...clean, bars: lost, quote: null })).toMatchObject({
      detail: 'no_trades',
      count: expect.any(Number),
    })
    const silent = clean.bars.map((bar) => ({ ...bar, volume: 0, amount: null }))
    expect(volumeOf({ ...clean, bars: silent, quote: null })).toBeUndefined()
    const before = clean.bars[from - 1]?.close ?? 0
    const quiet = clean.bars.map((bar, i) =>
      i < from ? bar : { ...bar, open: before, high: before, low: before, close: before, volume: 0, amount: null },
    )
    expect(volumeOf({ ...clean, bars: quiet, quote: null })).toBeUndefined()
  }
})

test('an open that the limit of the day does not allow is left out of the quote, with what was told', () => {
  const clean = cleanOf('600519')
  const { prevClose } = clean.quote
  for (const open of [prevClose * 1.4, prevClose * 0.7]) {
    const { quote, consistency } = examine({ ...clean, quote: { ...clean.quote, open, high: null, low: null } })
    expect(quote).toMatchObject({ open: null, price: clean.quote.price })
    expect(alarms(consistency)).toMatchObject([
      { check: 'quote_limit', verdict: 'warn', detail: 'clipped', expected: clean.quote.price, found: open },
    ])
    expect(consistency.marks.price).toEqual(['quote_limit'])
  }
})

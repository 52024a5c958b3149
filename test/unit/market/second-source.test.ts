// Another source is asked where quote and bars differ or a limit is broken, and what it says counts; moves where no limit is are
// marked while they are near; limits that nobody can date are said to be the wider ones.

import { expect, test } from 'vitest'
import type { Bar, Quote } from '../../../src/market/bars.ts'
import { examine, isInDoubt } from '../../../src/market/consistency/examine.ts'
import { alarms, type Evidence, type Finding } from '../../../src/market/consistency/types.ts'
import { cleanSeries, randomOf } from './series-evidence.ts'

/** A clean long series with a quote after the close. */
function cleanOf(key: string): Evidence & { quote: Quote } {
  for (let seed = 1; ; seed++) {
    const { evidence, has } = cleanSeries(randomOf(seed), { quoted: true, key })
    const { quote, bars } = evidence
    const isOver = quote?.quotedAt != null && bars.length > 300 && evidence.now - quote.quotedAt >= 3_600_000
    if (isOver && !has.suspension && alarms(examine(evidence).consistency).length === 0) return { ...evidence, quote }
  }
}

const scaled = (quote: Quote, factor: number): Quote => {
  const move = (value: number | null) => (value === null ? null : value * factor)
  const { price, prevClose, change } = quote
  const prices = { price: price * factor, prevClose: prevClose * factor, change: change * factor }
  return { ...quote, ...prices, open: move(quote.open), high: move(quote.high), low: move(quote.low) }
}

const pair = ({ price, prevClose }: Quote): string => `${price.toFixed(2)} / ${prevClose.toFixed(2)}`

const of = (evidence: Evidence, check: Finding['check']) =>
  examine(evidence).consistency.findings.find((finding) => finding.check === check)

test('a second source tells whether the quote or the bars are wrong, or that nothing fits; without doubt nobody is asked', () => {
  const clean = cleanOf('600519')
  expect(isInDoubt(examine(clean).consistency)).toBe(false)
  const wrong = { ...clean, quote: scaled(clean.quote, 10) }
  expect(isInDoubt(examine(wrong).consistency)).toBe(true)
  const second = (quote: Quote) => ({ source: 'yahoo', quote })
  expect(of({ ...wrong, second: second(clean.quote) }, 'second_source')).toMatchObject({
    ...{ verdict: 'warn', detail: 'second_bars', found: `${pair(clean.quote)} (yahoo)` },
    expected: pair(wrong.quote),
  })
  expect(of({ ...wrong, second: second(wrong.quote) }, 'second_source')).toMatchObject({
    ...{ verdict: 'warn', detail: 'second_quote' },
  })
  expect(of({ ...wrong, second: second(scaled(clean.quote, 3)) }, 'second_source')).toMatchObject({
    ...{ verdict: 'fail', detail: 'second_neither' },
  })
  expect(of({ ...clean, second: second(clean.quote) }, 'second_source')).toMatchObject({ verdict: 'pass' })
  expect(of({ ...wrong, second: null }, 'second_source')).toMatchObject({
    verdict: 'not_possible',
    detail: 'no_second',
  })
  const old = { ...clean.quote, quotedAt: (clean.quote.quotedAt ?? 0) - 5 * 86_400_000 }
  expect(of({ ...wrong, second: second(old) }, 'second_source')).toMatchObject({ detail: 'no_second' })
  // It settles no price: what failed stays withheld.
  expect(examine({ ...wrong, second: second(wrong.quote) }).consistency.isBlocked).toBe(true)
})

test('a quote without a price is compared with the bars by the second source alone', () => {
  const clean = cleanOf('600519')
  const second = { source: 'yahoo', quote: clean.quote }
  expect(of({ ...clean, quote: null, second }, 'second_source')).toMatchObject({ verdict: 'pass' })
  const far = { source: 'yahoo', quote: scaled(clean.quote, 2) }
  expect(of({ ...clean, quote: null, second: far }, 'second_source')).toMatchObject({ verdict: 'fail' })
})

test('a large move of a share without a limit, on ordinary turnover, fails alone and is marked once a second source tells it too', () => {
  const clean = cleanOf('HK00700')
  const last = clean.bars.at(-1) as Bar
  const price = clean.quote.prevClose * 1.6
  const bars = [...clean.bars.slice(0, -1)]
  const change = price - clean.quote.prevClose
  const moved: Quote = {
    ...clean.quote,
    price,
    high: price,
    low: clean.quote.prevClose,
    open: price,
    change,
    changePct: 60,
  }
  const evidence = { ...clean, bars, quote: { ...moved, volume: last.volume, amount: null } }
  expect(of(evidence, 'quote_limit')).toMatchObject({ verdict: 'fail', detail: 'beyond_limit' })
  const told = { ...evidence, second: { source: 'yahoo', quote: { ...moved, price: price * 1.001 } } }
  expect(of(told, 'quote_limit')).toMatchObject({ verdict: 'warn', detail: 'confirmed_move' })
  expect(of(told, 'second_source')).toMatchObject({ verdict: 'pass' })
  expect(examine(told).consistency.isBlocked).toBe(false)
})

/** A rise by so much on heavy turnover, so many bars ago. */
function risen(evidence: Evidence, ago: number): Evidence {
  const at = evidence.bars.length - ago
  const bars = evidence.bars.map((bar, i): Bar => {
    const factor = i < at ? 1 / 1.6 : 1
    const { open, high, low, close } = bar
    const prices = { open: open * factor, high: high * factor, low: low * factor, close: close * factor }
    return { ...bar, ...prices, volume: i === at ? bar.volume * 12 : bar.volume, amount: null }
  })
  return { ...evidence, bars }
}

test('a true large move is marked while it is near, and later only told as what nobody can check; unadjusted bars keep the mark', () => {
  const clean = cleanOf('HK00700')
  const verdict = (evidence: Evidence) => of(evidence, 'corporate_action')
  for (const ago of [3, 30, 60]) expect([ago, verdict(risen(clean, ago))?.verdict]).toEqual([ago, 'warn'])
  for (const ago of [61, 120, 250]) {
    const finding = verdict(risen(clean, ago))
    expect([ago, finding?.verdict, finding?.detail, finding?.touches]).toEqual([ago, 'not_possible', 'large_move', []])
  }
  const raw = { ...risen(clean, 120), adjustment: { kind: 'none' as const, source: 'sina' } }
  expect(verdict(raw)).toMatchObject({ verdict: 'warn', touches: ['averages', 'range', 'levels'] })
  // An old one hides no new one.
  expect(verdict(risen(risen(clean, 120), 10))).toMatchObject({ verdict: 'warn' })
})

test('a split over missing sessions is no ordinary move in a market without limits either', () => {
  const clean = cleanOf('AAPL')
  const at = clean.bars.length - 100
  const halved = clean.bars.map((bar, i): Bar => {
    if (i >= at) return bar
    return { ...bar, open: bar.open * 2, high: bar.high * 2, low: bar.low * 2, close: bar.close * 2 }
  })
  const bars = [...halved.slice(0, at - 15), ...halved.slice(at)]
  expect(of({ ...clean, bars }, 'corporate_action')).toMatchObject({ verdict: 'fail', detail: 'jump' })
})

test('shares under a risk warning are held to the wider limit, and it is said', () => {
  const clean = cleanOf('600519')
  const named = (name: string) => of({ ...clean, quote: { ...clean.quote, name } }, 'price_limit')
  for (const name of ['ST某股', '*ST某股', 'S*ST某股']) {
    expect([name, named(name)]).toEqual([
      name,
      expect.objectContaining({ verdict: 'not_possible', detail: 'wider_limit' }),
    ])
  }
  expect(named('某股')).toMatchObject({ verdict: 'pass' })
  const growth = cleanOf('300750')
  expect(of({ ...growth, quote: { ...growth.quote, name: '*ST某股' } }, 'price_limit')).toMatchObject({
    verdict: 'pass',
  })
})

// The checks of figures by themselves: no false alarm of clean series, every kind of corruption seen, and the rules of the exchanges.

import { expect, inject, test } from 'vitest'
import type { Bar } from '../../../src/market/bars.ts'
import { sessionEnd } from '../../../src/market/calendar.ts'
import { examine } from '../../../src/market/consistency/examine.ts'
import { limitShare } from '../../../src/market/consistency/limits.ts'
import { alarms, CHECKS, type Evidence, type Finding } from '../../../src/market/consistency/types.ts'
import { listSamples, loadSampleBars } from '../../../src/market/providers/sample.ts'
import { CORRUPTIONS } from './corruptions.ts'
import { cleanSeries, instrumentOf, quoteOf, randomOf } from './series-evidence.ts'

const RUNS = inject('isProof') ? 200 : 30
const SEED = inject('isProof') ? Math.floor(Math.random() * 1e9) : 7_000

const alarmsOf = (evidence: Evidence): Finding[] => alarms(examine(evidence).consistency)
const named = (findings: readonly Finding[]) =>
  findings.map(({ check, verdict, detail }) => `${check} ${verdict} ${detail}`)

test('of a thousand clean series at most ten raise an alarm; a suspension is told, which is no false one', () => {
  const raised: string[] = []
  let suspensions = 0
  for (let i = 0; i < 1_000; i++) {
    const { board, evidence, has } = cleanSeries(randomOf(SEED + i))
    const found = alarmsOf(evidence)
    const untrue = found.filter(({ check }) => !(check === 'missing_sessions' && has.suspension))
    suspensions += found.length > untrue.length ? 1 : 0
    if (untrue.length > 0) raised.push(`seed ${SEED + i} ${board.key}: ${named(untrue).join(', ')}`)
  }
  expect(suspensions).toBeGreaterThan(0)
  expect(raised.slice(0, 11)).toHaveLength(raised.length)
})

test('every bundled series, real and made up, passes every check, whether or not it is taken for adjusted', async () => {
  for (const sample of listSamples()) {
    const bars = await loadSampleBars(sample)
    for (const kind of ['none', 'forward'] as const) {
      const found = alarmsOf({ ...evidenceOf(sample.key, bars, sample.currency), adjustment: { kind, source: 'a' } })
      expect([sample.key, kind, ...named(found)]).toEqual([sample.key, kind])
    }
  }
})

test('a real series with a split is clean where the split was taken out, and fails where it was left in', async () => {
  for (const { key, currency } of listSamples()) {
    const sample = listSamples().find((one) => one.key === key)
    if (sample === undefined || instrumentOf(key).kind === 'index') continue
    const bars = await loadSampleBars(sample)
    const at = bars.length - 40
    const scaled = (factor: number) => (bar: Bar, i: number) => {
      if (i >= at) return bar
      const { open, high, low, close, volume } = bar
      return {
        ...{ ...bar, open: open * factor, high: high * factor, low: low * factor, close: close * factor },
        volume: volume / factor,
      }
    }
    for (const factor of [2, 10, 0.1]) {
      const left = bars.map(scaled(factor))
      expect([key, factor, examine(evidenceOf(key, left, currency)).consistency.isBlocked]).toEqual([key, factor, true])
      // What the raw prices were, taken back to today's scale and rounded as sources round.
      const out = left.map(scaled(1 / factor)).map((bar) => ({ ...bar, close: Number(bar.close.toFixed(6)) }))
      expect([key, factor, ...named(alarmsOf(evidenceOf(key, out, currency)))]).toEqual([key, factor])
    }
  }
})

function evidenceOf(key: string, bars: readonly Bar[], currency: string): Evidence {
  const instrument = instrumentOf(key)
  const [before, last] = bars.slice(-2) as [Bar, Bar]
  const end = sessionEnd(instrument.market, last.date)
  return {
    ...{ instrument, bars, barsSource: 'a', quoteSource: 'b', isSample: false, now: end + 3_600_000, dividends: null },
    quote: quoteOf(last, before, { quotedAt: end, currency }),
    adjustment: { kind: 'forward', source: 'a' },
  }
}

for (const [name, { seenBy, corrupt, of = (evidence: Evidence) => evidence }] of Object.entries(CORRUPTIONS)) {
  test(`${name}: seen in every series by ${seenBy.join(' or ')}`, () => {
    let tried = 0
    for (let seed = SEED; tried < RUNS && seed < SEED + RUNS * 20; seed++) {
      const random = randomOf(seed)
      const evidence = corrupt(of(cleanSeries(random).evidence), random)
      if (evidence === null) continue
      tried += 1
      const checks = alarmsOf(evidence).map(({ check }) => check)
      expect([seed, evidence.instrument.key, checks.some((check) => seenBy.includes(check)), ...checks]).toContain(true)
    }
    expect(tried).toBe(RUNS)
  })
}

test('what was tried of old: each stops the advice, or is repaired with both values told', () => {
  const { evidence } = cleanOf('600519')
  const { bars, quote } = evidence
  if (quote === null) throw new Error('a series without a quote')
  const changed = (at: number, change: Partial<Bar>) => bars.map((bar, i) => (i === at ? { ...bar, ...change } : bar))
  const at = bars.length - 60
  const bar = bars[at] as Bar
  const tick = examine({ ...evidence, bars: changed(at, { high: bar.high * 10 }) })
  expect(tick.consistency.isBlocked).toBe(false)
  const body = Math.max(bar.open, bar.close)
  expect(tick.bars[at]?.high).toBe(body)
  expect(alarms(tick.consistency)).toMatchObject([
    { check: 'bad_tick', verdict: 'warn', detail: 'clipped', date: bar.date, expected: body, found: bar.high * 10 },
  ])
  const wild = examine({ ...evidence, bars: changed(at, { close: 1e300, high: 1e300 }) })
  expect(wild.consistency).toMatchObject({ isBlocked: true, withheld: ['averages', 'range', 'levels'] })
  const far = examine({ ...evidence, quote: { ...quote, price: quote.prevClose * 1.34, high: quote.prevClose * 1.34 } })
  expect(far.consistency.isBlocked).toBe(true)
  expect(far.consistency.withheld).toContain('price')
  // An open beyond the limit is as impossible as a close; the price itself is sound.
  const gap = examine({ ...evidence, quote: { ...quote, open: quote.prevClose * 1.3, high: quote.prevClose * 1.3 } })
  expect(gap.quote).toMatchObject({ price: quote.price, open: null, high: null })
  expect(named(alarms(gap.consistency))).toContain('quote_limit warn clipped')
})

function cleanOf(key: string) {
  for (let seed = 1; ; seed++) {
    const clean = cleanSeries(randomOf(seed), { quoted: true, key })
    const { quoteSource, quote, bars } = clean.evidence
    const isWhole = quoteSource === 'yahoo' && quote?.quotedAt != null && bars.length > 300
    if (isWhole && alarmsOf(clean.evidence).length === 0) return clean
  }
}

test('what nobody can tell is said as such: no quote, one source, no calendar', () => {
  const { evidence } = cleanOf('600519')
  const unable = (changes: Partial<Evidence>) =>
    examine({ ...evidence, ...changes }).consistency.findings.flatMap(({ check, verdict, detail }) =>
      verdict === 'not_possible' ? [`${check} ${detail}`] : [],
    )
  expect(unable({ quote: null })).toEqual(
    expect.arrayContaining(['previous_close no_quote', 'same_day_close no_quote', 'second_source no_quote']),
  )
  expect(unable({ quoteSource: evidence.barsSource })).toContain('second_source same_source')
  expect(unable({})).not.toContain('second_source same_source')
  const old = evidence.bars.map((bar, i) => ({
    ...bar,
    date: `2019-0${1 + (Math.floor(i / 28) % 9)}-${10 + (i % 28)}`,
  }))
  expect(unable({ bars: old.slice(0, 3), quote: null, isSample: true })).toContain('missing_sessions no_calendar')
  const every = new Set(examine(evidence).consistency.findings.map(({ check }) => check))
  expect([...every].sort()).toEqual([...CHECKS].sort())
})

test('an index of volatility may double in a day and has no volume; nothing else without a limit may without turnover', () => {
  const { evidence } = cleanOf('AAPL')
  const at = evidence.bars.length - 30
  const doubled = evidence.bars.map((bar, i): Bar => {
    const factor = i < at ? 0.5 : 1
    const { open, high, low, close } = bar
    return {
      ...bar,
      open: open * factor,
      high: high * factor,
      low: low * factor,
      close: close * factor,
      volume: 0,
      amount: null,
    }
  })
  const quote = evidence.quote && { ...evidence.quote, volume: null, amount: null }
  const vix = { ...evidence, instrument: instrumentOf('VIX'), bars: doubled, quote }
  expect(named(alarmsOf(vix))).toEqual([])
  expect(named(alarmsOf({ ...evidence, bars: doubled, quote }))).toEqual(['corporate_action fail jump'])
})

test('limits by board, date and name', () => {
  const of = (key: string, { date = '2026-03-20', previousClose = 1000, name = null as string | null } = {}) =>
    limitShare({ instrument: instrumentOf(key), date, previousClose, isAdjusted: false, name })
  expect(['600519', '000001', '900901'].map((key) => of(key))).toEqual([0.1, 0.1, 0.1])
  expect([of('300750'), of('300750', { date: '2020-08-21' }), of('688981'), of('920002')]).toEqual([0.2, 0.1, 0.2, 0.3])
  expect([
    of('510300'),
    of('588000'),
    of('159915', { name: '创业板ETF' }),
    of('159919', { name: '沪深300ETF' }),
  ]).toEqual([0.1, 0.2, 0.2, 0.1])
  expect([of('HK00700'), of('AAPL'), of('005930.KS'), of('2330.TW')]).toEqual([null, null, 0.3, 0.1])
  const tokyo = [90, 150, 999, 1000, 2999, 4999, 29_999].map((previousClose) => {
    return Math.round((of('7203.T', { previousClose }) ?? 0) * previousClose)
  })
  expect(tokyo).toEqual([30, 50, 150, 300, 500, 700, 5000])
})

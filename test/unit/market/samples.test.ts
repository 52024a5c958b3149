import { expect, test } from 'vitest'
import { isCalendarKnown, isTradingDay, previousTradingDay } from '../../../src/market/calendar.ts'
import { createMarketData } from '../../../src/market/providers/index.ts'
import { listSamples, loadSampleBars, provenanceOf } from '../../../src/market/providers/sample.ts'
import { instrument } from './upstream.ts'

test('the sample covers three markets with enough sessions, and each series says what it is', () => {
  const samples = listSamples()
  const markets = samples.map(({ key }) => instrument(key).market)
  expect(samples.length).toBeGreaterThanOrEqual(12)
  expect([...new Set(markets)].sort()).toEqual(['cn', 'hk', 'us'])
  expect(samples.map(({ key }) => key)).toEqual(expect.arrayContaining(['600519', 'AAPL', 'HK00700']))
  for (const { key, endsOn, provenance } of samples) {
    const historical = provenance.kind === 'historical'
    expect([key, provenance.label]).toEqual([key, historical ? `historical sample, ends ${endsOn}` : 'synthetic'])
    expect([key, provenance.source !== null]).toEqual([key, historical])
    expect(provenanceOf(key)).toEqual({ kind: provenance.kind, label: provenance.label, endsOn })
  }
  expect(provenanceOf('601318')).toBeNull()
})

test('every bundled bar is possible, on a session of its market, without a session missing', async () => {
  for (const sample of listSamples()) {
    const bars = await loadSampleBars(sample)
    const { market } = instrument(sample.key)
    expect([sample.key, bars.length >= 250, bars.length]).toEqual([sample.key, true, sample.sessions])
    expect([bars[0]?.date, bars.at(-1)?.date]).toEqual([sample.startsOn, sample.endsOn])
    for (const [i, { date, open, high, low, close, volume, amount }] of bars.entries()) {
      const possible = low > 0 && high >= Math.max(open, close) && low <= Math.min(open, close) && volume >= 0
      expect([sample.key, date, possible, amount === null || amount > 0]).toEqual([sample.key, date, true, true])
      const previous = bars[i - 1]?.date
      if (previous === undefined || !isCalendarKnown(market, date) || !isCalendarKnown(market, previous)) continue
      expect([sample.key, date, isTradingDay(market, date), previousTradingDay(market, date)]).toEqual([
        sample.key,
        date,
        true,
        previous,
      ])
    }
  }
})

test('the sample source serves a series up to a date and refuses what it does not have', async () => {
  const data = await createMarketData({ providers: ['sample'] })
  const bars = await data.bars(instrument('SH000001'), { count: 2, endDate: '2024-09-13' })
  expect(bars).toMatchObject({
    ok: true,
    provider: 'sample',
    provenance: { label: 'historical sample, ends 2024-09-19' },
  })
  expect(bars.ok && bars.value.map(({ date, close }) => [date, close])).toEqual([
    ['2024-09-12', 2717.12],
    ['2024-09-13', 2704.09],
  ])
  expect(await data.quote(instrument('SH000001'))).toMatchObject({
    ok: true,
    value: { price: 2736.02, prevClose: 2717.28, name: '上证指数', currency: 'CNY' },
  })
  expect(await data.bars(instrument('AAPL'), { count: 5, endDate: '2020-01-01' })).toMatchObject({
    ok: false,
    runs: [{ provider: 'sample', errorType: 'empty' }],
  })
  expect(await data.quote(instrument('IBM'))).toMatchObject({ ok: false, runs: [{ errorType: 'unsupported' }] })
})

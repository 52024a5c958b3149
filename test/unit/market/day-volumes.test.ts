// The volume ratio of a session that runs, from the wires of the sources to a whole report.

import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { UpstreamError } from '../../../src/lib/http-client.ts'
import type { Bar, Fetched } from '../../../src/market/bars.ts'
import { addDays, instantAt, isTradingDay, sessionHours } from '../../../src/market/calendar.ts'
import { sameTimeVolume, type VolumePart } from '../../../src/market/day-volumes.ts'
import type { Market } from '../../../src/market/instruments.ts'
import { eastMoneyProvider } from '../../../src/market/providers/eastmoney.ts'
import { yahooProvider } from '../../../src/market/providers/yahoo.ts'
import type { AnalysisWorld } from '../analysis/alone.ts'
import { BARS, failedFetch, fetchedValue, QUOTE, reportWith } from '../analysis/company-reports.ts'
import { instrument, json, upstream } from './upstream.ts'

const ZONES: Partial<Record<Market, string>> = { cn: 'Asia/Shanghai', us: 'America/New_York', hk: 'Asia/Hong_Kong' }
const clock = (market: Market, date: string, hour: number, minute: number, second = 0): number =>
  instantAt(date, hour * 3600 + minute * 60 + second, ZONES[market] ?? 'UTC')
const minuteOf = (hour: number, minute: number): number => hour * 60 + minute

/** A day's parts of five minutes; the volume of each is a function of the minute at which it ends. */
function partsOf(market: Market, date: string, volume: (until: number) => number): VolumePart[] {
  return sessionHours(market, date).flatMap(([open, close]) =>
    Array.from({ length: (close - open) / 5 }, (_, i) => open + 5 * (i + 1)).map((until) => {
      return { date, until, volume: volume(until) }
    }),
  )
}

function sessionsUpTo(market: Market, last: string, count: number): string[] {
  const dates: string[] = []
  for (let date = last; dates.length < count; date = addDays(date, -1))
    if (isTradingDay(market, date)) dates.unshift(date)
  return dates
}

const sum = (parts: readonly VolumePart[], date: string, until = 1440): number =>
  parts.filter((part) => part.date === date && part.until <= until).reduce((total, { volume }) => total + volume, 0)

/** Days of which each has its own volumes, heavy in the morning, and the daily bars that belong to them. */
function days(market: Market, last: string, count = 9) {
  const dates = sessionsUpTo(market, last, count)
  const parts = dates.flatMap((date, i) =>
    partsOf(market, date, (until) => 1000 * (i + 1) + (until < 660 ? 7000 : until)),
  )
  const bars = dates.map((date): Bar => {
    return { date, open: 10, high: 10, low: 10, close: 10, volume: sum(parts, date), amount: null }
  })
  return { dates, parts, bars: bars.slice(0, -1) }
}

const TODAY = '2026-03-20'
const CN = days('cn', TODAY)
const ask = (now: number, changes: Partial<Parameters<typeof sameTimeVolume>[1]> & { parts?: VolumePart[] } = {}) => {
  const { parts = CN.parts, ...rest } = changes
  const quotedVolume = sum(parts, TODAY, 24 * 60) / 2
  return sameTimeVolume(parts, { market: 'cn', date: TODAY, now, bars: CN.bars, quotedVolume, ...rest })
}

test('at half past ten the volume so far is divided by the mean of what five earlier sessions had traded by half past ten', () => {
  const until = minuteOf(10, 30)
  const before = CN.dates.slice(-6, -1)
  const mean = before.reduce((total, date) => total + sum(CN.parts, date, until), 0) / 5
  const expected = { isKnown: true, until, ratio: sum(CN.parts, TODAY, until) / mean }
  // The part that has begun is not counted, whether or not the source tells it already.
  for (const [minute, second] of [
    [30, 0],
    [31, 5],
    [34, 59],
  ] as const) {
    expect(ask(clock('cn', TODAY, 10, minute, second))).toEqual(expected)
  }
  // What comes later, today or on the days before, changes nothing.
  const later = CN.parts.map((part) => (part.until > until && part.date === TODAY ? { ...part, volume: 9e9 } : part))
  expect(ask(clock('cn', TODAY, 10, 32), { parts: later, quotedVolume: sum(CN.parts, TODAY, until) })).toEqual(expected)
  // Whole days would have told another story.
  const daily = sum(CN.parts, TODAY, until) / (CN.bars.slice(-5).reduce((total, { volume }) => total + volume, 0) / 5)
  expect(expected.ratio / daily).toBeGreaterThan(2)
})

test('before the first five minutes there is none, in the lunch break it stands at the end of the morning', () => {
  expect(ask(clock('cn', TODAY, 9, 34, 59))).toEqual({ isKnown: false, reason: 'too_early' })
  expect(ask(clock('cn', TODAY, 9, 35), { quotedVolume: 2 * sum(CN.parts, TODAY, minuteOf(9, 35)) })).toMatchObject({
    isKnown: true,
    until: minuteOf(9, 35),
  })
  const morning = CN.parts.filter((part) => part.date !== TODAY || part.until <= minuteOf(11, 30))
  for (const [hour, minute] of [
    [11, 30],
    [12, 59],
    [13, 4],
  ] as const) {
    expect(ask(clock('cn', TODAY, hour, minute), { parts: morning, quotedVolume: sum(morning, TODAY) })).toMatchObject({
      isKnown: true,
      until: 690,
    })
  }
})

test('parts that are too old, of too few sessions or of other volumes make no ratio', () => {
  const now = clock('cn', TODAY, 10, 32)
  const quotedVolume = sum(CN.parts, TODAY, minuteOf(10, 30))
  const without = (isOut: (part: VolumePart) => boolean) =>
    ask(now, { quotedVolume, parts: CN.parts.filter((part) => !isOut(part)) })
  const scaled = (factor: number, isScaled: (part: VolumePart) => boolean) =>
    ask(now, {
      quotedVolume,
      parts: CN.parts.map((part) => (isScaled(part) ? { ...part, volume: part.volume * factor } : part)),
    })
  const none = (reason: string) => ({ isKnown: false, reason })
  expect(without(() => false)).toMatchObject({ isKnown: true })
  // Twenty minutes late is what sources promise; half a morning is not.
  expect(without(({ date, until }) => date === TODAY && until > minuteOf(10, 10))).toMatchObject({
    until: minuteOf(10, 10),
  })
  expect(without(({ date, until }) => date === TODAY && until > minuteOf(9, 55))).toEqual(none('stale'))
  expect(without(({ date }) => date === TODAY)).toEqual(none('too_early'))
  const [, , , , third = ''] = CN.dates
  expect(without(({ date }) => date === third)).toEqual(none('too_few_sessions'))
  expect(ask(now, { quotedVolume, bars: CN.bars.slice(-4) })).toEqual(none('too_few_sessions'))
  // Lots for shares: of all days, of one, and of today beside the quote.
  expect(scaled(0.01, () => true)).toEqual(none('other_volumes'))
  expect(scaled(0.01, ({ date }) => date === third)).toEqual(none('other_volumes'))
  expect(scaled(100, ({ date }) => date === TODAY)).toEqual(none('other_volumes'))
  expect(scaled(0.01, ({ date }) => date === TODAY)).toEqual(none('other_volumes'))
  // A day of which half is missing is not that day.
  expect(without(({ date, until }) => date === third && until > minuteOf(10, 0))).toEqual(none('other_volumes'))
})

test('a half day is compared while it runs, and left out for an older session once it was over by that time', () => {
  // The Friday after Thanksgiving ends at 13:00.
  const [today, halfDay] = ['2026-12-01', '2026-11-27']
  const us = days('us', today)
  const bars = us.bars
  const at = (hour: number) => {
    const told = sameTimeVolume(us.parts, {
      ...{ market: 'us', date: today, now: clock('us', today, hour, 2), bars },
      quotedVolume: sum(us.parts, today, minuteOf(hour, 0)),
    })
    return told.isKnown ? told.ratio : told.reason
  }
  const expected = (hour: number, dates: readonly string[]) =>
    sum(us.parts, today, minuteOf(hour, 0)) /
    (dates.reduce((total, date) => total + sum(us.parts, date, minuteOf(hour, 0)), 0) / 5)
  expect(us.dates).toContain(halfDay)
  expect(at(11)).toBeCloseTo(expected(11, us.dates.slice(-6, -1)), 10)
  const whole = us.dates.slice(0, -1).filter((date) => date !== halfDay)
  expect(at(15)).toBeCloseTo(expected(15, whole.slice(-5)), 10)
})

test('a day that begins late has no sessions with the same hours', () => {
  const kr = days('kr', '2025-11-13')
  const told = sameTimeVolume(kr.parts, {
    ...{ market: 'kr', date: '2025-11-13', now: Date.parse('2025-11-13T11:02:00+09:00'), bars: kr.bars },
    quotedVolume: sum(kr.parts, '2025-11-13', minuteOf(11, 0)),
  })
  expect(told).toEqual({ isKnown: false, reason: 'too_few_sessions' })
})

const NOW = clock('cn', TODAY, 10, 31, 20)
const reasonOf = (work: Promise<unknown> | undefined) =>
  (work ?? Promise.resolve()).then(
    () => 'answered',
    (error: UpstreamError) => error.reason,
  )

function eastMoney(klines: readonly string[], code = '600519') {
  const { fetch, asked } = upstream({
    'kline/get': json({ rc: 0, data: { code, market: 1, name: '贵州茅台', klines } }),
  })
  const urls = { quoteUrl: 'http://q.test', historyUrl: 'http://h.test', datacenterUrl: 'http://d.test' }
  const provider = eastMoneyProvider({ ...urls, clock: () => NOW, pace: async () => {}, fetch })
  return { provider, asked }
}

test('EastMoney tells parts of five minutes in lots, with the minute at which they end', async () => {
  const { provider, asked } = eastMoney(['2026-03-19 15:00,812', '2026-03-20 09:35,12345', '2026-03-20 10:35,17'])
  expect(await provider.dayVolumes?.(instrument('600519'), {})).toEqual([
    { date: '2026-03-19', until: 900, volume: 81_200 },
    { date: '2026-03-20', until: 575, volume: 1_234_500 },
    { date: '2026-03-20', until: 635, volume: 1700 },
  ])
  expect(asked).toEqual([
    'http://h.test/api/qt/stock/kline/get?secid=1.600519&klt=5&fqt=1&end=20500101&lmt=600&fields1=f1&fields2=f51,f56',
  ])
  const wrong: [string[], string][] = [
    [[], 'empty'],
    [['2026-03-19 15:00,812'], 'empty'],
    [['2026-03-20 09:35,5', '2026-03-20 09:35,5'], 'bad_dates'],
    [['2026-03-20 09:40,5', '2026-03-20 09:35,5'], 'bad_dates'],
    [['2026-03-21 09:35,5'], 'bad_dates'],
    [['2026-03-20,5'], 'bad_dates'],
    [['2026-03-20 25:99,5'], 'bad_dates'],
    [['2026-03-20 09:35,-'], 'malformed'],
    [['2026-03-20 09:35,-5'], 'malformed'],
  ]
  for (const [klines, reason] of wrong) {
    expect(await reasonOf(eastMoney(klines).provider.dayVolumes?.(instrument('600519'), {})), klines.join()).toBe(
      reason,
    )
  }
  expect(
    await reasonOf(eastMoney(['2026-03-20 09:35,5'], '000858').provider.dayVolumes?.(instrument('600519'), {})),
  ).toBe('wrong_symbol')
  expect(provider.supports(instrument('AAPL'), 'intraday_volume')).toBe(false)
  expect(provider.supports(instrument('HK00700'), 'intraday_volume')).toBe(true)
})

test('Yahoo tells parts by the moment at which they begin, with nulls, and the last trade beside them', async () => {
  const date = '2026-03-20'
  const at = (hour: number, minute: number, second = 0) => clock('us', date, hour, minute, second) / 1000
  const volume = [900, null, 0, 40, 0]
  const timestamp = [at(9, 30), at(9, 35), at(9, 40), at(10, 25), at(10, 27, 13)]
  const answer = (columns: { timestamp?: number[]; volume?: (number | null)[] }) => {
    const { timestamp: times, volume: volumes } = { timestamp, volume, ...columns }
    const { fetch, asked } = upstream({
      '/chart/AAPL?': json({
        chart: {
          result: [{ meta: { symbol: 'AAPL' }, timestamp: times, indicators: { quote: [{ volume: volumes }] } }],
        },
      }),
    })
    const now = clock('us', date, 10, 28)
    return {
      asked,
      provider: yahooProvider({ url: 'http://y.test', cookieUrl: 'http://c.test', clock: () => now, fetch }),
    }
  }
  const { provider, asked } = answer({})
  expect(await provider.dayVolumes?.(instrument('AAPL'), {})).toEqual([
    { date, until: 575, volume: 900 },
    { date, until: 585, volume: 0 },
    { date, until: 630, volume: 40 },
  ])
  expect(asked).toEqual(['http://y.test/v8/finance/chart/AAPL?range=1mo&interval=5m&events=div'])
  expect(await reasonOf(answer({ volume: [1, 2] }).provider.dayVolumes?.(instrument('AAPL'), {}))).toBe('malformed')
  expect(await reasonOf(answer({ timestamp: [], volume: [] }).provider.dayVolumes?.(instrument('AAPL'), {}))).toBe(
    'empty',
  )
  expect(provider.supports(instrument('600519'), 'intraday_volume')).toBe(false)
  expect(provider.supports(instrument('7203.T'), 'intraday_volume')).toBe(true)
  expect(provider.supports(instrument('SPX'), 'intraday_volume')).toBe(false)
})

// Whole reports. The bars of the tests are of one volume, spread evenly over 48 parts.
const PRICES = BARS.slice(0, -1)
const PARTS = [...PRICES.slice(-8).map(({ date }) => date), TODAY].flatMap((date) =>
  partsOf('cn', date, () => 3_000_000 / 48),
)
const TRADED = (3_000_000 / 48) * 12

const told = (value: VolumePart[]): Fetched<VolumePart[]> => {
  return { ok: true, value, provider: 'eastmoney', provenance: null, runs: [] }
}

function liveReport(
  factor: number,
  changes: Partial<AnalysisWorld> = {},
  language: ReportLanguage = 'zh',
): Promise<AnalysisReport> {
  const known = PARTS.filter(({ date, until }) => date < TODAY || until <= 635)
  const parts = known.map((part) => (part.date === TODAY ? { ...part, volume: part.volume * factor } : part))
  const price = QUOTE.prevClose * 1.01
  const move = { price, change: price - QUOTE.prevClose, changePct: 1 }
  return reportWith(
    null,
    {
      clock: () => NOW,
      dailyBars: async () => fetchedValue(PRICES),
      quote: async () =>
        fetchedValue({
          ...QUOTE,
          ...move,
          prevClose: PRICES.at(-1)?.close ?? 0,
          quotedAt: NOW,
          volume: TRADED * factor * 1.1,
        }),
      dayVolumes: async () => told(parts),
      ...changes,
    },
    { language },
  )
}

type Enhanced = {
  realtime: Record<string, unknown>
  trend_analysis: { score_parts: { key: string; points: number }[] }
  volume_change_ratio: number | null
}
const enhancedOf = ({ details }: AnalysisReport): Enhanced | undefined =>
  details?.context_snapshot?.enhanced_context as Enhanced | undefined
const realtimeOf = (report: AnalysisReport) => enhancedOf(report)?.realtime
const volumePart = (report: AnalysisReport) =>
  enhancedOf(report)?.trend_analysis.score_parts.find(({ key }) => key === 'volume')

test('a report of a session that runs tells the ratio of the same time, what it compares, and scores it as one', async () => {
  const heavy = await liveReport(2)
  expect(realtimeOf(heavy)).toMatchObject({ volume_ratio: 2 })
  expect(realtimeOf(heavy)?.volume_ratio_desc).toBe(
    '截至 10:30，对比此前五个交易日同一时刻为止的平均成交量，来源 eastmoney',
  )
  expect(renderMarkdown(heavy)).toContain(`| 量比 | 2.00（${realtimeOf(heavy)?.volume_ratio_desc}） |`)
  expect(heavy.details?.raw_result?.volume_analysis).toContain('截至 10:30')
  expect(volumePart(heavy)).toMatchObject({ points: 13, reason: '放量上涨（量比 2.00）' })
  expect(volumePart(await liveReport(1))).toMatchObject({ points: 7 })
  expect(volumePart(await liveReport(0.5))).toMatchObject({ points: 3 })
  for (const language of ['en', 'ko'] as const) {
    const text = renderMarkdown(await liveReport(1.25, {}, language))
    expect(text).toMatch(
      language === 'en' ? /1\.25 \(up to 10:30, by the mean of five earlier sessions/ : /1\.25 ?\(10:30까지/,
    )
  }
})

test('where nobody tells volumes within the day, or they cannot be used, the report says why and has no ratio', async () => {
  const { beside } = textsOf('zh')
  const broken = async () => {
    throw new Error('broken')
  }
  for (const dayVolumes of [null, async () => failedFetch('http_429'), broken]) {
    const report = await liveReport(1, { dayVolumes })
    expect(realtimeOf(report)).toMatchObject({ volume_ratio: null, volume_ratio_desc: beside.noLiveRatio })
  }
  const scaled = await liveReport(1, {
    dayVolumes: async () => told(PARTS.map((part) => ({ ...part, volume: part.volume / 100 }))),
  })
  expect(realtimeOf(scaled)).toMatchObject({
    volume_ratio: null,
    volume_ratio_desc: `没有量比：${beside.liveRatioReason.other_volumes}`,
  })
  expect(volumePart(scaled)).toMatchObject({ points: 7 })
})

test('volumes within the day are asked for only while a session runs in which the listing is traded', async () => {
  let asked = 0
  const dayVolumes = async () => {
    asked += 1
    return told(PARTS)
  }
  await liveReport(1, { dayVolumes, clock: () => clock('cn', TODAY, 16, 0) })
  await liveReport(1, { dayVolumes, quote: async () => failedFetch('http_429') })
  const idle = { ...QUOTE, quotedAt: NOW, volume: 0, high: null }
  await liveReport(1, { dayVolumes, quote: async () => fetchedValue(idle) })
  expect(asked).toBe(0)
  await liveReport(1, { dayVolumes })
  expect(asked).toBe(1)
})

test('a part of a day is not compared with the whole day before', async () => {
  expect(enhancedOf(await liveReport(1))?.volume_change_ratio).toBeNull()
  const over = {
    clock: () => clock('cn', TODAY, 16, 0),
    dailyBars: async () => fetchedValue(BARS),
    quote: async () => failedFetch('http_429'),
  }
  expect(enhancedOf(await liveReport(1, over))?.volume_change_ratio).toBe(1)
})

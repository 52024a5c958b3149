// Makes the bundled sample series and the holiday tables from what published packages ship. Run it by
// hand (`node scripts/derive-samples.mjs`) and commit what it writes; the packages are fetched into a
// temporary folder and never become dependencies. The same versions give the same bytes.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deriveCalendars, renderCalendars, tradingDays } from './derive-calendars.mjs'
import { fetchPackages } from './fetch-packages.mjs'
import { renderNotice, renderSampleIndex, renderSeries } from './render-samples.mjs'
import { syntheticBars } from './synthetic-series.mjs'

// The packages read local dates; so does nothing else here.
process.env.TZ = 'UTC'

const PACKAGES = {
  hqchart: { version: '1.1.15808', licence: 'Apache-2.0' },
  'vega-datasets': { version: '3.2.1', licence: 'BSD-3-Clause' },
  'chinese-days': { version: '1.5.7', licence: 'MIT' },
  'nyse-holidays': { version: '1.2.0', licence: 'MIT' },
  '@holiday-jp/holiday_jp': { version: '2.5.1', licence: 'MIT' },
  dayjs: { version: '1.11.13', licence: 'MIT' },
}

const SESSIONS = 320
const SYNTHETIC_END = '2025-12-31'
const MARKET_DIR = join(import.meta.dirname, '..', 'src', 'market')

// hqchart counts the volume of indices in lots of 100 shares.
const HQCHART = [
  { key: '600000', file: '600000.sh', sharesPerUnit: 1 },
  { key: '000001', file: '000001.sz', sharesPerUnit: 1 },
  { key: '000151', file: '000151.sz', sharesPerUnit: 1 },
  { key: 'SH000001', file: '000001.sh', sharesPerUnit: 100 },
  { key: 'SZ399001', file: '399001.sz', sharesPerUnit: 100 },
  { key: 'SH000300', file: '000300.sh', sharesPerUnit: 100 },
]

const SYNTHETIC = [
  { key: '600519', market: 'cn', from: 1480, to: 1402, volatility: 0.24, volume: 3_200_000, limit: 0.1 },
  { key: '300750', market: 'cn', from: 188, to: 262, volatility: 0.38, volume: 28_000_000, limit: 0.2 },
  { key: 'HK00700', market: 'hk', from: 378, to: 521, volatility: 0.32, volume: 18_000_000 },
  { key: 'HK09988', market: 'hk', from: 82, to: 131, volatility: 0.42, volume: 70_000_000 },
  { key: 'HK00005', market: 'hk', from: 68, to: 97, volatility: 0.2, volume: 16_000_000 },
  { key: 'HK00388', market: 'hk', from: 246, to: 382, volatility: 0.33, volume: 6_000_000 },
  { key: 'AAPL', market: 'us', from: 221, to: 248, volatility: 0.29, volume: 52_000_000 },
  { key: 'MSFT', market: 'us', from: 419, to: 474, volatility: 0.24, volume: 21_000_000 },
  { key: 'NVDA', market: 'us', from: 117, to: 171, volatility: 0.48, volume: 210_000_000 },
  { key: 'TSLA', market: 'us', from: 231, to: 384, volatility: 0.6, volume: 95_000_000 },
]

const dashed = (digits) => `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`
const cents = (price) => Number(price.toFixed(2))

/** Rows are date, previous close, open, high, low, close, volume, amount. */
function hqchartBars(modules, { file, sharesPerUnit }) {
  const folder = join(modules, 'hqchart/src/jscommon/umychart.testdata/DayKLine')
  const { data } = JSON.parse(readFileSync(join(folder, `${file}.day.kline.json`), 'utf8'))
  return data.map(([date, , open, high, low, close, volume, amount]) => ({
    date: dashed(String(date)),
    ...{ open: cents(open), high: cents(high), low: cents(low), close: cents(close) },
    volume: Math.round(volume * sharesPerUnit),
    amount: Math.round(amount),
  }))
}

function sp500Bars(modules) {
  const [, ...lines] = readFileSync(join(modules, 'vega-datasets/data/sp500-2000.csv'), 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [date, open, high, low, close, , volume] = line.split(',')
    const [o, h, l, c] = [open, high, low, close].map((price) => cents(Number(price)))
    return { date, open: o, high: h, low: l, close: c, volume: Number(volume), amount: null }
  })
}

function historicalSamples(modules) {
  const of = (key, currency, name, bars) => {
    const recent = bars.slice(-SESSIONS)
    const endsOn = recent.at(-1).date
    const source = { package: name, ...PACKAGES[name] }
    const provenance = { kind: 'historical', label: `historical sample, ends ${endsOn}`, source }
    return { key, currency, endsOn, provenance, bars: recent }
  }
  return [
    ...HQCHART.map((entry) => of(entry.key, 'CNY', 'hqchart', hqchartBars(modules, entry))),
    of('SPX', 'USD', 'vega-datasets', sp500Bars(modules)),
  ]
}

function syntheticSamples(calendars) {
  const currencies = { cn: 'CNY', hk: 'HKD', us: 'USD' }
  return SYNTHETIC.map((spec) => {
    const bars = syntheticBars(spec, tradingDays(calendars[spec.market], SYNTHETIC_END, SESSIONS))
    const provenance = { kind: 'synthetic', label: 'synthetic', source: null }
    return { key: spec.key, currency: currencies[spec.market], endsOn: SYNTHETIC_END, provenance, bars }
  })
}

function checkBars({ key, bars }) {
  if (bars.length !== SESSIONS) throw new Error(`${key}: ${bars.length} bars`)
  for (const [i, { date, open, high, low, close, volume }] of bars.entries()) {
    const whole = [open, high, low, close].every((price) => price > 0) && Number.isSafeInteger(volume) && volume >= 0
    const ordered = high >= Math.max(open, close) && low <= Math.min(open, close)
    if (!whole || !ordered || (i > 0 && date <= bars[i - 1].date)) throw new Error(`${key}: bad bar of ${date}`)
  }
}

/** The holiday table must agree with the days on which Shanghai really traded. */
function checkCalendar(calendar, bars) {
  const real = bars.filter(({ date }) => date >= '2024-01-01').map(({ date }) => date)
  const derived = tradingDays(calendar, real.at(-1), real.length)
  const wrong = derived.find((date, i) => date !== real[i])
  if (wrong) throw new Error(`the mainland calendar and the Shanghai index differ at ${wrong}`)
}

function main() {
  const folder = mkdtempSync(join(tmpdir(), 'derive-samples-'))
  try {
    const modules = fetchPackages(folder, PACKAGES)
    const load = createRequire(join(folder, 'loader.cjs'))
    const calendars = deriveCalendars({
      chineseDays: load('chinese-days'),
      nyseHolidays: load('nyse-holidays'),
      japaneseHolidays: load('@holiday-jp/holiday_jp'),
    })
    const samples = [...historicalSamples(modules), ...syntheticSamples(calendars)]
    for (const sample of samples) checkBars(sample)
    checkCalendar(calendars.cn, samples.find(({ key }) => key === 'SH000001').bars)
    const write = (path, text) => {
      writeFileSync(join(MARKET_DIR, path), text)
      console.log(`${path} ${Buffer.byteLength(text)} bytes`)
    }
    mkdirSync(join(MARKET_DIR, 'sample-data'), { recursive: true })
    write('holidays.generated.ts', renderCalendars(calendars))
    write('sample-data/index.generated.ts', renderSampleIndex(samples))
    write('sample-data/series.generated.ts', renderSeries(samples))
    write('sample-data/NOTICE.md', renderNotice(PACKAGES, modules))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

main()

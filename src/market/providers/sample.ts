// The bundled series as a source. Its "latest price" is the series' last close, at the time when that session ended: nothing
// in it is current.

import { packagedNames } from '../../kits/market-names/index.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { Bar, Provenance, Quote } from '../bars.ts'
import { addDays, isTradingDay, localDate, nextTradingDay, sessionEnd } from '../calendar.ts'
import { type CompanyEvents, type Earnings, soundEvents } from '../company-events.ts'
import type { Instrument } from '../instruments.ts'
import { SAMPLES } from '../sample-data/index.generated.ts'
import { changeOf, faulty, PRICES_ALONE } from './checks.ts'
import { isPriceNeed, type MarketDataProvider, type PriceProvider } from './provider.ts'

export const SAMPLE_PROVIDER = 'sample'

type SampleData = PriceProvider & Pick<MarketDataProvider, 'companyEvents'>

export function sampleProvider(clock: Clock = systemClock): SampleData {
  return {
    name: SAMPLE_PROVIDER,
    provenance: ({ key }) => provenanceOf(key),
    supports: ({ key }, need) =>
      isPriceNeed(need) ? sampleOf(key) !== null : need === 'company_events' && isMadeUp(key),
    async quote(instrument, { signal }) {
      signal?.throwIfAborted()
      const [previous, last] = (await barsOf(instrument)).slice(-2)
      if (!previous || !last) throw faulty(SAMPLE_PROVIDER, 'empty', instrument.key)
      return quoteOf(instrument, previous, last)
    },
    async dailyBars(instrument, { count, endDate = '9999-12-31', signal }) {
      signal?.throwIfAborted()
      const bars = (await barsOf(instrument)).filter(({ date }) => date <= endDate).slice(-count)
      if (bars.length === 0) throw faulty(SAMPLE_PROVIDER, 'empty', 'no bars')
      return bars
    },
    async companyEvents(instrument, { signal }) {
      signal?.throwIfAborted()
      const last = (await barsOf(instrument)).at(-1)
      if (!last || !isMadeUp(instrument.key)) throw faulty(SAMPLE_PROVIDER, 'empty', instrument.key)
      return madeUpEvents(instrument, last.close, localDate(instrument.market, clock()))
    },
  }
}

async function quoteOf({ key, market }: Instrument, previous: Bar, last: Bar): Promise<Quote> {
  const { open, high, low, volume, amount } = last
  return {
    price: last.close,
    prevClose: previous.close,
    ...changeOf(last.close, previous.close),
    ...{ open, high, low, volume, amount },
    quotedAt: sessionEnd(market, last.date),
    name: (await packagedNames()).byKey(key)?.zh ?? null,
    currency: sampleOf(key)?.currency ?? null,
    ...PRICES_ALONE,
  }
}

const isMadeUp = (key: string): boolean => sampleOf(key)?.provenance.kind === 'synthetic'

const QUARTER_ENDS = ['03-31', '06-30', '09-30', '12-31'] as const

/** Invented dates, by a fixed rule: results a month after each quarter, then a dividend of 0.4 % of the last invented price. */
function madeUpEvents({ key, market }: Instrument, close: number, today: string): CompanyEvents {
  const shift = [...key].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 20
  const year = Number(today.slice(0, 4))
  const periods = [year - 1, year, year + 1].flatMap((one) => QUARTER_ENDS.map((end) => `${one}-${end}`))
  const sessionFrom = (day: string) => (isTradingDay(market, day) ? day : nextTradingDay(market, day))
  const currency = sampleOf(key)?.currency ?? null
  const earnings = periods.map((period): Earnings => {
    const day = sessionFrom(addDays(period, 25 + shift))
    if (day <= today) return { from: day, to: day, certainty: 'published', period }
    const isSoon = day <= addDays(today, 45)
    return { from: day, to: isSoon ? day : addDays(day, 4), certainty: isSoon ? 'scheduled' : 'estimate', period }
  })
  const dividends = periods.map((period) => {
    const exDate = sessionFrom(addDays(period, 50 + shift))
    const payDate = sessionFrom(addDays(exDate, 14))
    const amount = Math.max(0.01, Number((close * 0.004).toFixed(2)))
    return { exDate, recordDate: exDate, payDate, announcedOn: null, amount, currency }
  })
  return { ...soundEvents({ earnings, dividends }, market, today), leftOut: 0 }
}

async function barsOf({ key }: Instrument): Promise<Bar[]> {
  const sample = sampleOf(key)
  if (!sample) throw faulty(SAMPLE_PROVIDER, 'unknown_symbol', key)
  return loadSampleBars(sample)
}

// The bundled series, for trying the service without a market data source. They are either dated history or invented,
// and every figure from them is shown with that notice.

export type Sample = {
  /** The instrument's key. */
  key: string
  currency: string
  startsOn: string
  endsOn: string
  sessions: number
  provenance: SampleProvenance
}

export type SampleProvenance = {
  kind: 'historical' | 'synthetic'
  /** Shown with every figure: `historical sample, ends 2024-09-19` or `synthetic`. */
  label: string
  /** The published package from which a historical series was taken. */
  source: { package: string; version: string; licence: string } | null
}

export function listSamples(): readonly Sample[] {
  return SAMPLES
}

export function sampleOf(key: string): Sample | null {
  return SAMPLES.find((sample) => sample.key === key) ?? null
}

/** The notice that must be shown with every figure of that series. */
export function provenanceOf(key: string): Provenance | null {
  const sample = sampleOf(key)
  if (!sample) return null
  const { endsOn, provenance } = sample
  return { kind: provenance.kind, label: provenance.label, endsOn }
}

/** All bars of a sample. The text of all series is loaded at the first call, not when the Worker starts. */
export async function loadSampleBars(sample: Sample): Promise<Bar[]> {
  const { SERIES } = await import('../sample-data/series.generated.ts')
  const text = SERIES[sample.key]
  if (text === undefined) throw new Error(`the bundled sample ${sample.key} has no series`)
  return text.trim().split('\n').map(parseLine)
}

function parseLine(line: string): Bar {
  const [date = '', ...rest] = line.split(',')
  const [open = 0, high = 0, low = 0, close = 0, volume = 0, amount = null] = rest.map(Number)
  return { date: `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`, open, high, low, close, volume, amount }
}

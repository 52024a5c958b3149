// The bundled series as a source. Its "latest price" is the series' last close, at the time when that session ended: nothing
// in it is current.

import { packagedNames } from '../../kits/market-names/index.ts'
import type { Bar, Provenance } from '../bars.ts'
import { sessionEnd } from '../calendar.ts'
import type { Instrument } from '../instruments.ts'
import { SAMPLES } from '../sample-data/index.generated.ts'
import { changeOf, faulty } from './checks.ts'
import { isPriceNeed, type PriceProvider } from './provider.ts'

export const SAMPLE_PROVIDER = 'sample'

export function sampleProvider(): PriceProvider {
  return {
    name: SAMPLE_PROVIDER,
    provenance: ({ key }) => provenanceOf(key),
    supports: ({ key }, need) => isPriceNeed(need) && sampleOf(key) !== null,
    async quote(instrument, { signal }) {
      signal?.throwIfAborted()
      const [previous, last] = (await barsOf(instrument)).slice(-2)
      if (!previous || !last) throw faulty(SAMPLE_PROVIDER, 'empty', instrument.key)
      return {
        price: last.close,
        prevClose: previous.close,
        ...changeOf(last.close, previous.close),
        open: last.open,
        high: last.high,
        low: last.low,
        volume: last.volume,
        amount: last.amount,
        quotedAt: sessionEnd(instrument.market, last.date),
        name: (await packagedNames()).byKey(instrument.key)?.zh ?? null,
        currency: sampleOf(instrument.key)?.currency ?? null,
        turnoverRatePct: null,
        volumeRatio: null,
        peRatio: null,
        pbRatio: null,
        totalMarketValue: null,
        circulatingMarketValue: null,
      }
    },
    async dailyBars(instrument, { count, endDate = '9999-12-31', signal }) {
      signal?.throwIfAborted()
      const bars = (await barsOf(instrument)).filter(({ date }) => date <= endDate).slice(-count)
      if (bars.length === 0) throw faulty(SAMPLE_PROVIDER, 'empty', 'no bars')
      return bars
    },
  }
}

async function barsOf({ key }: Instrument): Promise<Bar[]> {
  const sample = sampleOf(key)
  if (!sample) throw faulty(SAMPLE_PROVIDER, 'unknown_symbol', key)
  return loadSampleBars(sample)
}

// The bundled series, for trying the service without a market data source. They are either dated history or made up, and
// every figure from them is shown with that notice.

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
  /** What to print beside every figure: `historical sample, ends 2024-09-19` or `synthetic`. */
  label: string
  /** The published package a historical series was taken from. */
  source: { package: string; version: string; licence: string } | null
}

export function listSamples(): readonly Sample[] {
  return SAMPLES
}

export function sampleOf(key: string): Sample | null {
  return SAMPLES.find((sample) => sample.key === key) ?? null
}

/** The notice that must be shown beside every figure of that series. */
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

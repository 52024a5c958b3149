// The bundled series, for trying the service without a market data source. They are either dated history or made up, and
// every figure from them is shown with that notice.

import type { Bar } from './bars.ts'
import type { Provenance } from './provider-run.ts'
import { SAMPLES } from './sample-data/index.generated.ts'

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
  const { SERIES } = await import('./sample-data/series.generated.ts')
  const text = SERIES[sample.key]
  if (text === undefined) throw new Error(`the bundled sample ${sample.key} has no series`)
  return text.trim().split('\n').map(parseLine)
}

function parseLine(line: string): Bar {
  const [date = '', ...rest] = line.split(',')
  const [open = 0, high = 0, low = 0, close = 0, volume = 0, amount = null] = rest.map(Number)
  return { date: `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`, open, high, low, close, volume, amount }
}

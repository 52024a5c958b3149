// The bundled series as a source. Its "latest price" is the series' last close, at the time when that session ended: nothing
// in it is current.

import { packagedNames } from '../../kits/market-names/index.ts'
import type { Bar } from '../bars.ts'
import { sessionEnd } from '../calendar.ts'
import type { Instrument } from '../instruments.ts'
import { loadSampleBars, provenanceOf, sampleOf } from '../samples.ts'
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

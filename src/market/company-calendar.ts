// The event dates of many companies at once, with the result of each request: an empty calendar must never look like
// "no events".

import type { Fetched } from './bars.ts'
import type { CompanyEvents } from './company-events.ts'
import type { Instrument } from './instruments.ts'
import { describeFailures, isUnsupported, type MarketData } from './providers/index.ts'

/** `known`, without a configured source, failed, or not requested in the time of this request. */
export const LISTING_STATES = ['known', 'no_source', 'failed', 'not_asked'] as const

export type ListingEvents = {
  instrument: Instrument
  state: (typeof LISTING_STATES)[number]
  events: CompanyEvents | null
  provider: string | null
  /** Null for a new answer. */
  ageSeconds: number | null
  /** Must be shown next to the dates of a bundled sample. */
  notice: string | null
  /** Why there is none: a reason for each source. */
  reason: string | null
}

const AT_ONCE = 6

type Question = { instruments: readonly Instrument[]; signal: AbortSignal }

export async function eventsOfMany(
  market: Pick<MarketData, 'companyEvents'>,
  { instruments, signal }: Question,
): Promise<ListingEvents[]> {
  const found = new Map<string, ListingEvents>()
  const left = [...instruments]
  const work = async () => {
    for (let one = left.shift(); one !== undefined && !signal.aborted; one = left.shift()) {
      const instrument = one
      try {
        found.set(instrument.key, listingOf(instrument, await market.companyEvents(instrument, { signal })))
      } catch (error) {
        // What has not arrived in time will be requested another time.
        if (!signal.aborted) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return instruments.map((instrument) => found.get(instrument.key) ?? blank(instrument, 'not_asked', null))
}

function listingOf(instrument: Instrument, fetched: Fetched<CompanyEvents>): ListingEvents {
  if (fetched.ok) {
    const { value: events, provider, provenance, runs } = fetched
    const ageSeconds = runs.at(-1)?.staleSeconds ?? null
    return { instrument, state: 'known', events, provider, ageSeconds, notice: provenance?.label ?? null, reason: null }
  }
  if (isUnsupported(fetched)) return blank(instrument, 'no_source', null)
  const tried = fetched.runs.filter(({ errorType }) => errorType !== 'unsupported')
  // Its turn was too late: it will be requested another time.
  if (tried.every(({ errorType }) => errorType === 'crowded')) return blank(instrument, 'not_asked', null)
  return blank(instrument, 'failed', describeFailures(tried))
}

const blank = (instrument: Instrument, state: ListingEvents['state'], reason: string | null): ListingEvents => {
  return { instrument, state, events: null, provider: null, ageSeconds: null, notice: null, reason }
}

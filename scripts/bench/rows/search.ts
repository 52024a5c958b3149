// Text search over 100,000 events against what SQL can do without an index, timed inside the object.

import { rawRequest } from '../requests.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'

const EVENTS = 100_000
/** In one event of all, half way down. */
const NEEDLE = 'Quixotic-4711'
const ABSENT = 'nowhere to be found'

export async function search(stage: Stage): Promise<Measurement[]> {
  const seeded = await ask(stage, `/seed?count=${EVENTS}&query=${NEEDLE}`)
  if (seeded !== EVENTS) throw new Error(`${EVENTS} events were to be stored, found ${String(seeded)}`)
  return [measurement(stage, 'a word of one event', NEEDLE), measurement(stage, 'a text of no event', ABSENT)]
}

function measurement(stage: Stage, what: string, query: string): Measurement {
  return {
    row: 'search',
    what: `${what} among ${EVENTS}, searches`,
    unit: '/s',
    ours: () => timed(stage, 'ours', { query, count: 500 }),
    baseline: () => timed(stage, 'baseline', { query, count: 10 }),
  }
}

type SearchRequest = { query: string; count: number }

async function timed(stage: Stage, side: string, { query, count }: SearchRequest): Promise<Sample> {
  return stage.measured(stage.small.search, async () => {
    const answer = await ask(stage, `/${side}?count=${count}&query=${encodeURIComponent(query)}`)
    const { searches, ms, found } = answer as { searches: number; ms: number; found: number }
    if (found !== (query === NEEDLE ? 1 : 0)) throw new Error(`${side} found ${found} events`)
    return { value: (searches / ms) * 1000, requests: searches, clientCpu: null }
  })
}

async function ask({ client, small }: Stage, path: string): Promise<unknown> {
  const request = rawRequest(small.search, { method: 'GET', path }, null)
  return JSON.parse(await client.call('ask', { port: small.search.port, request }))
}

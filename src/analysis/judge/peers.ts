// The company's multiples beside those of its industry. Own and others' come from one list, so that they are counted in one way; a median,
// because one wild ratio moves a mean.

import type { Peer } from '../../market/company.ts'
import { MOST } from '../../market/consistency/tolerances.ts'
import type { PeersStatus } from '../codes.ts'
import type { Inputs } from '../gather/gather.ts'

export type PeerMultiples = {
  status: PeersStatus
  board: string | null
  /** Other companies that are compared, and how many of them make a loss, which has no ratio of price to earnings. */
  count: number
  losses: number
  own: Multiples
  median: Multiples
  source: string | null
}

type Multiples = { pe: number | null; pb: number | null }

/** A median of fewer says nothing of an industry. */
const LEAST_PEERS = 5
const NONE: Multiples = { pe: null, pb: null }

type Subject = Pick<Inputs, 'company' | 'instrument' | 'provenance'>

export function peerMultiples({ company, instrument, provenance }: Subject): PeerMultiples {
  const { state, value, source } = company.peers
  const without = { board: null, count: 0, losses: 0, own: NONE, median: NONE, source: null }
  if (provenance !== null && instrument.kind === 'stock') return { ...without, status: 'sample' }
  if (value === null) return { ...without, status: state === 'ok' ? 'no_data' : state }
  const own = value.companies.find(({ code }) => code === instrument.code)
  const others = value.companies.filter((peer) => peer !== own)
  const median = { pe: medianOf(others.map(peOf)), pb: medianOf(others.map(pbOf)) }
  const isTold = median.pe !== null || median.pb !== null
  return {
    status: isTold ? 'ok' : 'too_few',
    board: value.board.name,
    count: others.length,
    losses: others.filter(({ peRatio }) => peRatio !== null && peRatio < 0).length,
    own: own === undefined ? NONE : { pe: own.peRatio, pb: own.pbRatio },
    median,
    source,
  }
}

const within = (ratio: number | null, most: number): number | null =>
  ratio !== null && ratio > 0 && ratio <= most ? ratio : null
const peOf = ({ peRatio }: Peer): number | null => within(peRatio, MOST.peRatio)
const pbOf = ({ pbRatio }: Peer): number | null => within(pbRatio, MOST.pbRatio)

function medianOf(ratios: readonly (number | null)[]): number | null {
  const known = ratios.filter((ratio) => ratio !== null).sort((a, b) => a - b)
  if (known.length < LEAST_PEERS) return null
  const [below, above] = [known[Math.floor((known.length - 1) / 2)], known[Math.floor(known.length / 2)]]
  return below === undefined || above === undefined ? null : (below + above) / 2
}

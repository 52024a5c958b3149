// Whether the evaluation itself can be trusted: how often it claims an edge where there is none, and how often it finds one that
// was planted.

import { EvidenceBook, rowsOf } from '../../src/analysis/evidence/rows.ts'
import { STANCES } from '../../src/analysis/evidence/vocabulary.ts'
import { walkOf } from './walks.ts'

export type Trials = {
  panels: number
  series: number
  /** The share of panels in which any row claims an edge. */
  claims: number
  /** The share of advices of each kind. */
  stances: Record<(typeof STANCES)[number], number>
}

export type Trial = {
  panels: number
  /** Series of each panel. */
  width: number
  bars: number
  seed: number
  /** Of the planted edge, in a day, as a share; 0 for none. */
  drift: number
}

/** The drift of a planted edge, and how many series show it together. */
export const PLANTED = { drift: 0.004, width: 20 } as const

export function trialsOf({ panels, width, bars, seed, drift }: Trial): Trials {
  const counts = STANCES.map(() => 0)
  let claims = 0
  for (let panel = 0; panel < panels; panel++) {
    const book = new EvidenceBook(seed)
    for (let i = 0; i < width; i++) {
      const { observations } = book.add(walkOf({ seed: seed * 1_000_003 + panel * width + i, bars, drift }))
      for (const { measure, stance } of observations) {
        if (measure === 0) counts[stance] = (counts[stance] ?? 0) + 1
      }
    }
    if (rowsOf(book).some(({ verdict }) => verdict === 'edge')) claims += 1
  }
  const all = counts.reduce((sum, count) => sum + count, 0)
  const share = (at: number) => (counts[at] ?? 0) / Math.max(1, all)
  return {
    panels,
    series: panels * width,
    claims: claims / Math.max(1, panels),
    stances: { buy: share(0), hold: share(1), sell: share(2) },
  }
}

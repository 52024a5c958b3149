// Volumes must be in shares, not in lots, and have one scale throughout. Turnover divided by the price gives the number
// of shares.

import type { Bar } from '../bars.ts'
import { sessionEnd } from '../calendar.ts'
import { isSane } from './bar-checks.ts'
import { quoteDay } from './date-checks.ts'
import { median } from './moves.ts'
import { LEAST, MOST, TOLERANCE } from './tolerances.ts'
import { type Checked, type Evidence, type Finding, finding, notPossible, pass, VOLUME } from './types.ts'

const RECENT = 20
const LOTS = { from: 60, to: 160 }

export function volumeUnits(evidence: Evidence): Checked {
  const { bars, instrument } = evidence
  const known = bars.filter(({ volume }) => volume > 0)
  if (known.length === 0 && !evidence.quote?.volume) return notPossible('volume_units', 'no_volume')
  // The volume of an index is that of its members, which sources count differently: it has no relation to the points of
  // the index.
  const compared =
    instrument.kind === 'index'
      ? []
      : [
          barAmounts(known),
          quoteAmount(evidence),
          turnoverRate(evidence),
          sameDay(evidence),
          runningDay(evidence),
          lostOf(evidence),
        ]
  const asked = [...compared, jumpOf(known)]
  const found = asked.filter((one) => typeof one === 'object')
  const worst = found.find(({ verdict }) => verdict === 'fail') ?? found[0]
  if (worst !== undefined) return { findings: [worst] }
  // A wrong scale of all volumes is only visible compared with turnover, or with another source. Without either the
  // volumes are shown unchanged, so the finding names them: a reader must know that they could not be verified.
  const isCompared = asked.slice(0, -1).some((one) => one === 'same')
  return isCompared ? pass('volume_units') : notPossible('volume_units', 'not_told', VOLUME)
}

type Answer = 'same' | 'unknown' | Finding

function judged(ratio: number, least: number, date: string | null): Answer {
  const far = Math.max(ratio, 1 / ratio)
  if (far <= least) return 'same'
  const detail = far >= LOTS.from && far <= LOTS.to ? 'lots' : 'amount'
  return finding('volume_units', 'fail', { touches: VOLUME, detail, date, expected: 1, found: ratio })
}

function barAmounts(known: readonly Bar[]): Answer {
  const told = known.slice(-RECENT).flatMap((bar) => {
    const middle = (bar.high + bar.low) / 2
    return bar.amount === null || bar.amount <= 0 || !isSane(bar) ? [] : [bar.amount / (bar.volume * middle)]
  })
  return told.length === 0 ? 'unknown' : judged(median(told), LEAST.barAmount, known.at(-1)?.date ?? null)
}

function quoteAmount({ quote }: Evidence): Answer {
  if (!quote?.amount || !quote.volume) return 'unknown'
  const middle = quote.high === null || quote.low === null ? quote.price : (quote.high + quote.low) / 2
  return judged(quote.amount / (quote.volume * middle), LEAST.quoteAmount, null)
}

/**
 * The rate is the turnover divided by the value of the tradable shares; sources define these differently, but a wrong
 * unit is a larger difference.
 */
function turnoverRate({ quote }: Evidence): Answer {
  if (!quote?.turnoverRatePct || !quote.circulatingMarketValue || !quote.volume) return 'unknown'
  const share = (quote.volume * quote.price) / quote.circulatingMarketValue
  const found = judged(quote.turnoverRatePct / 100 / share, LEAST.turnoverRate, null)
  // It is unknown which of the three has another unit.
  return typeof found === 'object' ? { ...found, touches: [...VOLUME, 'valuation'] } : found
}

/** Quote and bar of one completed day. */
function sameDay(evidence: Evidence): Answer {
  const { quote, bars, instrument, now, isSample } = evidence
  const day = isSample ? bars.at(-1)?.date : quoteDay(evidence)
  const bar = bars.findLast(({ date }) => date === day)
  if (bar === undefined || !quote?.volume) return 'unknown'
  if (!isSample && now < sessionEnd(instrument.market, bar.date)) return 'unknown'
  if (bar.volume <= 0) {
    // Bars that never have a volume have not lost any.
    if (bars.slice(-RECENT).every(({ volume }) => volume <= 0)) return 'unknown'
    const told = { date: bar.date, expected: quote.volume, found: bar.volume }
    return finding('volume_units', 'fail', { touches: VOLUME, detail: 'volume_lost', ...told })
  }
  return judged(quote.volume / bar.volume, LEAST.sameDayVolume, bar.date)
}

/** The volume of a day without a bar so far: it may be small, but not many times the usual. */
function runningDay(evidence: Evidence): Answer {
  const { quote, bars } = evidence
  const day = quoteDay(evidence)
  const before = bars.filter(({ date, volume }) => volume > 0 && (day === null || date < day)).slice(-RECENT)
  const usual = median(before.map(({ volume }) => volume))
  const ratio = usual > 0 ? (quote?.volume ?? 0) / usual : 0
  return ratio >= LEAST.volumeJump ? judged(ratio, LEAST.volumeJump * 0.99, day) : 'unknown'
}

/** Sessions whose price moved without a volume, in a series with volumes: these were lost. */
function lostOf({ bars }: Evidence): Answer {
  const from = Math.max(1, bars.length - RECENT)
  const lost = bars.slice(from).filter((bar, i) => bar.volume <= 0 && isMoved(bar, bars[from + i - 1]))
  if (lost.length === 0 || bars.slice(-3 * RECENT).filter(({ volume }) => volume > 0).length < RECENT) return 'unknown'
  const verdict = lost.length > MOST.repaired ? 'fail' : 'warn'
  const told = { date: lost.at(-1)?.date ?? null, count: lost.length }
  return finding('volume_units', verdict, { touches: VOLUME, detail: 'no_trades', ...told })
}

const isMoved = (bar: Bar, before: Bar | undefined): boolean =>
  bar.high / bar.low - 1 > TOLERANCE.orderShare ||
  (before !== undefined && Math.abs(bar.close / before.close - 1) > TOLERANCE.quoteShare)

const WING = 5

/** A day, or all days from one on, whose volume is far from the median before. */
function jumpOf(known: readonly Bar[]): Answer {
  const volumes = known.map(({ volume }) => volume)
  for (let i = known.length - 1; i >= RECENT; i--) {
    const usual = median(volumes.slice(i - RECENT, i))
    const after = volumes.slice(i, i + WING)
    const ratio = (volumes[i] ?? usual) / usual
    const lasting = median(after) / usual
    const isFar = (value: number) => Math.max(value, 1 / value) >= LEAST.volumeJump
    if (!isFar(ratio)) continue
    const told = { date: known[i]?.date ?? null, expected: usual, found: volumes[i] ?? null }
    const isScale = after.length === WING && isFar(lasting)
    return finding('volume_units', isScale ? 'fail' : 'warn', { touches: VOLUME, detail: 'volume_jump', ...told })
  }
  return 'same'
}

// The past results of the method where they apply to this report, even if they are bad. They change no advice.

import type { GuardCode } from '../codes.ts'
import { FIRST_JUDGED, regimesOf } from '../evidence/replay.ts'
import { type EvidenceRow, HORIZON, LEAST_SIZE, METHOD_VERSION, REGIMES, type Regime } from '../evidence/vocabulary.ts'
import { fill, textsOf } from '../texts/book.ts'
import type { Facts } from './facts.ts'

type Json = Record<string, unknown>

const MEASURE = 'sessions_20'

/** Fields of the raw result. Without advice there are none. */
export function evidenceMembers(facts: Facts): Json {
  const row = rowOf(facts)
  return {
    confidence_probability: row?.confidence_probability ?? null,
    confidence_brier_skill: row?.brier_skill ?? null,
    confidence_least_size: LEAST_SIZE,
    evidence: facts.consistency.isBlocked
      ? null
      : { method_version: METHOD_VERSION, text: evidenceText(facts, row), row },
  }
}

/** Advice that follows from missing data, which no replayed day has. */
const NOT_REPLAYED: readonly (GuardCode | null)[] = ['insufficient_bars', 'not_traded', 'outdated_bars']

const isReplayed = ({ decision, bars }: Facts): boolean =>
  bars.length > FIRST_JUDGED && !NOT_REPLAYED.includes(decision.guard)

/** The row of the listing's own regime if it has enough cases, else that of its market. */
function rowOf(facts: Facts): EvidenceRow | null {
  const { decision, evidenceRows, bars, consistency } = facts
  if (consistency.isBlocked || evidenceRows === null || !isReplayed(facts)) return null
  const regime: Regime = REGIMES[regimesOf(bars).at(-1) ?? REGIMES.indexOf('unknown')] ?? 'unknown'
  const find = (wanted: Regime | 'all') =>
    evidenceRows.find((row) => row.measure === MEASURE && row.group === decision.type && row.regime === wanted) ?? null
  const own = find(regime)
  return own !== null && own.effective_size >= LEAST_SIZE ? own : find('all')
}

function evidenceText(facts: Facts, row: EvidenceRow | null): string {
  const { language, decision, provenance } = facts
  const texts = textsOf(language).evidence
  if (row === null) return isReplayed(facts) ? texts.none : texts.notReplayed
  const market = texts.market[row.market]
  const sentences = [
    fill(texts.cases, {
      group: texts.group[decision.type],
      market: provenance === null ? market : fill(texts.samplesOf, { market }),
      regime: texts.regime[row.regime],
      count: row.count,
      effective: Math.round(row.effective_size),
      sessions: HORIZON[MEASURE],
      mean: figure(row.mean_return_pct),
      random: figure(row.random_entry_pct),
    }),
    verdictText(texts, row),
    ...probabilityText(texts, row),
  ]
  return sentences.join(texts.join)
}

type Words = ReturnType<typeof textsOf>['evidence']

function verdictText(texts: Words, row: EvidenceRow): string {
  if (row.verdict === 'no_claim') return texts.noClaim
  const { excess_pct: excess, excess_low_pct: low, excess_high_pct: high } = row
  if (row.verdict === 'too_few' || excess === null || low === null || high === null) {
    return fill(texts.tooFew, { least: LEAST_SIZE })
  }
  const values = { excess: figure(excess), low: figure(low), high: figure(high) }
  return fill(row.verdict === 'edge' ? texts.edge : texts.noEdge, values)
}

function probabilityText(texts: Words, { confidence_probability, base_rate, brier_skill }: EvidenceRow): string[] {
  if (confidence_probability === null || base_rate === null || brier_skill === null) return []
  const share = (value: number) => (value * 100).toFixed(0)
  const values = { probability: share(confidence_probability), base: share(base_rate), skill: brier_skill.toFixed(3) }
  return [fill(texts.probability, values)]
}

/** Percent and points with their sign; zero has none. */
const figure = (value: number): string => (value > 0 ? `+${value.toFixed(2)}` : (value + 0).toFixed(2))

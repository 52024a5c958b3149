// The ledger entry of an advice: everything that is needed to score it later, and the reason if it cannot be scored.

import { z } from 'zod'
import type { NewAnalysis } from '../../db/analyses.ts'
import type { Bar } from '../../market/bars.ts'
import { advisedSession, isHit, returnsAfter, wilson } from '../judge/accuracy.ts'
import { Action } from '../schemas.ts'
import { type LedgerContent, parsedJson, type Unscorable } from './ledger-content.ts'
import { METHOD_VERSION } from './vocabulary.ts'

const Level = z.object({ key: z.string(), price: z.number() })

const StoredReport = z.object({
  details: z.object({
    raw_result: z.object({
      confidence_probability: z.number().nullable().catch(null),
      dashboard: z
        .object({ battle_plan: z.object({ levels: z.array(Level).catch([]) }).nullish() })
        .nullish()
        .catch(null),
    }),
  }),
})

const Phase = z.object({ effective_daily_bar_date: z.string().nullable() })

/** Null for a market review, which is not advice. */
export function ledgerEntryOf(analysis: NewAnalysis) {
  if (analysis.reportType === 'market_review') return null
  const content = contentOf(analysis)
  return {
    owner: analysis.owner,
    queryId: analysis.queryId,
    content: JSON.stringify(content),
    unscorable: content.unscorable,
  }
}

/** The members always have this order, because the text is hashed. */
function contentOf(analysis: NewAnalysis): LedgerContent {
  const kept = StoredReport.safeParse(parsedJson(analysis.report)).data ?? null
  const raw = kept?.details.raw_result
  const levels = raw?.dashboard?.battle_plan?.levels ?? []
  const level = (key: string) => levels.find((each) => each.key === key)?.price ?? null
  const lastOver = Phase.safeParse(parsedJson(analysis.marketPhaseSummary)).data?.effective_daily_bar_date ?? null
  const isSample = analysis.dataNotice !== null
  const session = isSample ? lastOver : advisedSession(analysis.key, analysis.createdAt, lastOver)
  return {
    query_id: analysis.queryId,
    key: analysis.key,
    created_at: analysis.createdAt,
    method_version: METHOD_VERSION,
    session_date: session,
    action: analysis.action,
    score: analysis.sentimentScore,
    price: analysis.currentPrice,
    stop_loss: level('stop_loss'),
    take_profit: level('take_profit'),
    confidence_probability: raw?.confidence_probability ?? null,
    unscorable: unscorableOf(analysis, { session, isRead: kept !== null }),
  }
}

type Read = { session: string | null; isRead: boolean }

function unscorableOf(analysis: NewAnalysis, { session, isRead }: Read): Unscorable | null {
  if (analysis.dataNotice !== null) return 'sample'
  if (!isRead) return 'unreadable'
  if (analysis.action === null) return 'no_advice'
  if (analysis.currentPrice === null) return 'no_price'
  return session === null ? 'no_session' : null
}

// The outcomes of the advice in the ledger. The ledger itself is never changed: an outcome is computed on request from
// its row and the bars after it, so a later correction of the bars also corrects the score.

export const OUTCOMES = ['scored', 'pending', 'no_bars', 'unscorable'] as const

/**
 * Why an advice that can be scored is not scored now: its bars are not stored, failed a check, lack its session, or are
 * too recent.
 */
export const NOT_SCORED = ['no_bars', 'bad_bars', 'no_session_bar', 'too_young'] as const
export type NotScored = (typeof NOT_SCORED)[number]

export type Outcome = {
  state: (typeof OUTCOMES)[number]
  reason: Unscorable | NotScored | null
  return_5_pct: number | null
  return_10_pct: number | null
  return_20_pct: number | null
  right: boolean | null
}

/** An advice is scored after this many sessions. */
const LEDGER_HORIZON = 20

const without = (state: Outcome['state'], reason: Outcome['reason']): Outcome => {
  return { state, reason, return_5_pct: null, return_10_pct: null, return_20_pct: null, right: null }
}

/** Null advice means that the row's text cannot be read. */
export function outcomeOf(advice: LedgerContent | null, bars: readonly Bar[] | 'no_bars' | 'bad_bars'): Outcome {
  if (advice === null) return without('unscorable', 'unreadable')
  if (advice.unscorable !== null) return without('unscorable', advice.unscorable)
  const action = Action.safeParse(advice.action)
  // Older rows contain the session before the one that was running.
  const date = advisedSession(advice.key, advice.created_at, advice.session_date)
  // A scorable row of the ledger has both.
  if (!action.success || date === null) return without('unscorable', date === null ? 'no_session' : 'no_advice')
  if (typeof bars === 'string') return without('no_bars', bars)
  if (!bars.some((bar) => bar.date === date)) {
    return (bars.at(-1)?.date ?? '') < date ? without('pending', 'too_young') : without('no_bars', 'no_session_bar')
  }
  const { 5: five, 10: ten, 20: twenty } = returnsAfter({ action: action.data, date, bars })
  const returns = { return_5_pct: rounded(five), return_10_pct: rounded(ten), return_20_pct: rounded(twenty) }
  if (twenty === null) return { state: 'pending', reason: 'too_young', ...returns, right: null }
  return { state: 'scored', reason: null, ...returns, right: isHit(action.data, twenty) }
}

type AdviceOutcome = { advice: LedgerContent | null; outcome: Outcome }

/** All states and reasons are counted, so that unscored advice stays visible. */
export function scoresOf(rows: readonly AdviceOutcome[]) {
  const scored = rows.filter(({ outcome }) => outcome.state === 'scored')
  const actions = [...new Set(scored.map(({ advice }) => advice?.action ?? ''))].sort()
  const counted = <T extends string>(names: readonly T[], nameOf: (outcome: Outcome) => string | null) =>
    names.map((name): [T, number] => [name, rows.filter(({ outcome }) => nameOf(outcome) === name).length])
  return {
    horizon_sessions: LEDGER_HORIZON,
    states: counted(OUTCOMES, ({ state }) => state).map(([state, count]) => ({ state, count })),
    not_scored: counted(NOT_SCORED, ({ reason }) => reason).map(([reason, count]) => ({ reason, count })),
    actions: actions.map((action) => {
      const some = scored.filter(({ advice }) => advice?.action === action)
      const right = some.filter(({ outcome }) => outcome.right === true).length
      const interval = wilson(right, some.length)
      const sum = some.reduce((total, { outcome }) => total + (outcome.return_20_pct ?? 0), 0)
      return {
        ...{ action, count: some.length, right },
        right_low: rounded(interval?.low ?? null),
        right_high: rounded(interval?.high ?? null),
        mean_return_pct: rounded(sum / some.length),
      }
    }),
  }
}

/** Four decimals; the zero added keeps a minus zero out of JSON. */
const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value * 1e4) / 1e4 + 0)

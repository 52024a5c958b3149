// What the ledger keeps of an advice: all that is needed to score it later, and why it cannot be scored where it cannot.

import { z } from 'zod'
import type { NewAnalysis } from '../../db/analyses.ts'
import { METHOD_VERSION } from './vocabulary.ts'

export const UNSCORABLE = ['sample', 'no_advice', 'no_price', 'no_session', 'unreadable'] as const
export type Unscorable = (typeof UNSCORABLE)[number]

export const LedgerContent = z.object({
  query_id: z.string(),
  key: z.string().describe('The listing'),
  created_at: z.string(),
  method_version: z.string().describe('Of the method that gave it'),
  session_date: z.string().nullable().describe('The session that the advice was made on'),
  action: z.string().nullable(),
  score: z.number().nullable().describe('From 0 to 100'),
  price: z.number().nullable().describe('When the advice was given'),
  stop_loss: z.number().nullable(),
  take_profit: z.number().nullable(),
  confidence_probability: z.number().nullable().describe('What the report stated'),
  unscorable: z.enum(UNSCORABLE).nullable().describe('Why it can never be measured'),
})
export type LedgerContent = z.infer<typeof LedgerContent>

const Level = z.object({ key: z.string(), price: z.number() })

const Kept = z.object({
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

/** Null of a market review, which is no advice. */
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

/** Its members always stand in this order: the text is what is hashed. */
function contentOf(analysis: NewAnalysis): LedgerContent {
  const kept = Kept.safeParse(parsed(analysis.report)).data ?? null
  const raw = kept?.details.raw_result
  const levels = raw?.dashboard?.battle_plan?.levels ?? []
  const level = (key: string) => levels.find((each) => each.key === key)?.price ?? null
  const session = Phase.safeParse(parsed(analysis.marketPhaseSummary)).data?.effective_daily_bar_date ?? null
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

function parsed(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json)
  } catch {
    // An unreadable report is counted as one.
    return null
  }
}

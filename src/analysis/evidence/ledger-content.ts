// The text of a ledger row, and the check that its columns agree with it.

import { z } from 'zod'

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

/** The columns must have the values in the text, because rows are found and counted by the columns. */
export function adviceIn({
  content,
  queryId,
  unscorable,
}: {
  content: string
  queryId: string
  unscorable: string | null
}) {
  const advice = LedgerContent.safeParse(parsedJson(content)).data ?? null
  const isTrue = advice !== null && advice.query_id === queryId && advice.unscorable === unscorable
  return { advice, isTrue }
}

export function parsedJson(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json)
  } catch {
    // An unreadable report counts as such a row.
    return null
  }
}

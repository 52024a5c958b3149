// Signals: the advice of reports and of the owner, and whether it is still valid.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { bringUpToDate } from '../../../alerts/signals.ts'
import { Action } from '../../../analysis/schemas.ts'
import { feedbackOf, findSignal, listSignals, type Signal, saveFeedback, setSignalStatus } from '../../../db/signals.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { valueError } from '../../../http/validation.ts'
import { isoMicros, isoMicrosOf } from '../../../lib/clock.ts'
import { laxBool, laxInt } from '../../../lib/lax.ts'
import { heldListings } from '../../../portfolio/book.ts'
import { keyOf } from '../history-record.ts'
import * as wire from './signal-schemas.ts'
import { pageTexts } from './texts.ts'

const app = router(analysisEnvelope)

export const reading = {
  scope: 'analysis',
  bodyLimit: 'standard',
  tag: 'Signals',
  method: 'get',
  limit: 'reads',
} as const
const changing = { ...reading, limit: 'writes' } as const
export const signalParams = z.object({ signal_id: z.string().describe('The number of the signal') })
export const missing = { 404: { description: 'No such signal' } }

export const NO_FILTER = {
  ...{ market: null, key: null, keys: null, action: null, marketPhase: null, decisionProfile: null, sourceType: null },
  ...{ sourceReportId: null, status: null, createdFrom: null, createdTo: null },
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/decision-signals',
    summary: 'Signals: one for each report that advised something, and those that were entered',
    query: z.object({
      market: z.enum(wire.MARKETS).optional().describe('Only of this market'),
      stock_code: z.string().max(100).optional().describe('Only of this listing, in any spelling'),
      action: Action.optional().describe('Only with this advice'),
      market_phase: wire.Phase.optional().describe('Only from this part of a session'),
      decision_profile: z
        .enum([...wire.PROFILES, 'unknown'])
        .optional()
        .describe('Only of this profile'),
      source_type: z.enum(wire.SOURCES).optional().describe('Only from this source'),
      source_report_id: laxInt({ min: 1 }).optional().describe('Only of this report'),
      status: z.enum(wire.STATUSES).optional().describe('Only in this state'),
      created_from: z.string().optional().describe('Not older than this time, ISO 8601'),
      created_to: z.string().optional().describe('Not younger than this time, ISO 8601'),
      holding_only: laxBool().describe('Only of what your portfolio holds now').default(false),
      account_id: laxInt({ min: 1 }).optional().describe('Only of what this account holds now'),
      ...wire.pageQuery,
    }),
    replies: { 200: { description: 'A page of them', schema: wire.SignalPage } },
  },
  async (c, { query }) => {
    const { owner } = c.get('principal')
    await bringUpToDate(c.env.DB, owner, Date.now())
    const filter = {
      owner,
      market: query.market ?? null,
      key: await keyOf(c.env, query.stock_code),
      keys: await heldKeys(c, query),
      action: query.action ?? null,
      marketPhase: query.market_phase ?? null,
      decisionProfile: query.decision_profile ?? null,
      sourceType: query.source_type ?? null,
      sourceReportId: query.source_report_id ?? null,
      status: query.status ?? null,
      createdFrom: instantOf('created_from', query.created_from),
      createdTo: instantOf('created_to', query.created_to),
    }
    const { page, page_size } = query
    const found = await listSignals(c.env.DB, filter, { limit: page_size, offset: (page - 1) * page_size })
    return c.json({ items: found.items.map(wire.signalItem), total: found.total, page, page_size })
  },
)

/** Null: all listings. */
async function heldKeys(
  c: Context<AppEnv>,
  { holding_only, account_id }: { holding_only: boolean; account_id?: number | undefined },
): Promise<string[] | null> {
  if (!holding_only && account_id === undefined) return null
  return [...(await heldListings(c.env.DB, c.get('principal').owner, account_id ?? null))]
}

function instantOf(name: string, text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  const at = isoMicrosOf(text)
  if (at === null) throw valueError(['query', name], 'a time like 2026-08-14T09:30:00Z is wanted', text)
  return at
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/decision-signals/latest/{stock_code}',
    summary: 'The newest signals of a listing that still hold',
    params: z.object({ stock_code: z.string().max(100).describe('The listing, in any spelling') }),
    query: z.object({
      market: z.enum(wire.MARKETS).optional().describe('Only of this market'),
      limit: laxInt({ min: 1, max: 100 }).describe('How many').default(1),
    }),
    replies: { 200: { description: 'The newest first; none of a listing that nobody knows', schema: wire.SignalPage } },
  },
  async (c, { params, query: { market, limit } }) => {
    const { owner } = c.get('principal')
    await bringUpToDate(c.env.DB, owner, Date.now())
    const key = await keyOf(c.env, params.stock_code)
    const filter = { ...NO_FILTER, owner, key, market: market ?? null, status: 'active' }
    const { total, items } = await listSignals(c.env.DB, filter, { limit, offset: 0 })
    return c.json({ items: items.map(wire.signalItem), total, page: 1, page_size: limit })
  },
)

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/decision-signals/{signal_id}',
    summary: 'One signal',
    params: signalParams,
    replies: { 200: { description: 'The signal', schema: wire.SignalItem }, ...missing },
  },
  async (c, { params }) => {
    await bringUpToDate(c.env.DB, c.get('principal').owner, Date.now())
    return c.json(wire.signalItem(await signalOf(c, params.signal_id)))
  },
)

export async function signalOf(c: Context<AppEnv>, id: string): Promise<Signal> {
  const isNumber = /^[1-9]\d{0,14}$/.test(id)
  const signal = isNumber ? await findSignal(c.env.DB, c.get('principal').owner, Number(id)) : null
  if (signal === null) throw new AppError('not_found', pageTexts(callerLanguage(c)).signals.missing)
  return signal
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/decision-signals/{signal_id}/feedback',
    summary: 'What the owner said of a signal',
    params: signalParams,
    replies: { 200: { description: 'All null where nothing was said', schema: wire.FeedbackItem }, ...missing },
  },
  async (c, { params }) => c.json(await feedbackItem(c, await signalOf(c, params.signal_id))),
)

async function feedbackItem(c: Context<AppEnv>, { id, owner }: Signal) {
  const given = await feedbackOf(c.env.DB, owner, id)
  return wire.FeedbackItem.parse({
    signal_id: id,
    feedback_value: given?.feedbackValue ?? null,
    reason_code: given?.reasonCode ?? null,
    note: given?.note ?? null,
    source: given?.source ?? null,
    created_at: given?.createdAt ?? null,
    updated_at: given?.updatedAt ?? null,
  })
}

endpoint(
  app,
  {
    ...changing,
    method: 'put',
    path: '/api/v1/decision-signals/{signal_id}/feedback',
    summary: 'Say whether a signal was useful',
    params: signalParams,
    body: {
      required: true,
      schema: z
        .object({
          feedback_value: z.enum(['useful', 'not_useful']).describe('What it was'),
          reason_code: z.string().max(64).nullish().describe('Why, in a word'),
          note: z.string().max(1_000).nullish().describe('Why'),
          source: z.enum(['web', 'api']).describe('Where it is given').default('api'),
        })
        .openapi('DecisionSignalFeedbackInput'),
    },
    replies: { 200: { description: 'As it is stored', schema: wire.FeedbackItem }, ...missing },
  },
  async (c, { params, body }) => {
    const signal = await signalOf(c, params.signal_id)
    await saveFeedback(
      c.env.DB,
      { owner: signal.owner, id: signal.id, now: isoMicros(Date.now()) },
      {
        feedbackValue: body.feedback_value,
        reasonCode: body.reason_code ?? null,
        note: body.note ?? null,
        source: body.source,
      },
    )
    return c.json(await feedbackItem(c, signal))
  },
)

const MOST_METADATA = 8_192

endpoint(
  app,
  {
    ...changing,
    method: 'patch',
    path: '/api/v1/decision-signals/{signal_id}/status',
    summary: 'Close, invalidate or archive a signal',
    params: signalParams,
    body: {
      required: true,
      schema: z
        .object({
          status: z.enum(wire.STATUSES).describe('What is over does not become `active` again'),
          metadata: z.record(z.string(), z.unknown()).nullish().describe('Takes the place of what was there'),
        })
        .openapi('DecisionSignalStatusInput'),
    },
    replies: {
      200: { description: 'The signal as it is now', schema: wire.SignalItem },
      400: { description: 'It is over' },
      ...missing,
    },
  },
  async (c, { params, body }) => {
    const { owner } = c.get('principal')
    await bringUpToDate(c.env.DB, owner, Date.now())
    const before = await signalOf(c, params.signal_id)
    const texts = pageTexts(callerLanguage(c)).signals
    if (JSON.stringify(body.metadata ?? null).length > MOST_METADATA) throw new AppError('bad_request', texts.tooLarge)
    const isSame = before.status === body.status && (body.metadata ?? null) === null
    const change = {
      ...{ owner, id: before.id, status: body.status, now: isoMicros(Date.now()) },
      words: body.metadata ? JSON.stringify({ ...JSON.parse(before.words), metadata: body.metadata }) : null,
    }
    if (!isSame && !(await setSignalStatus(c.env.DB, change))) throw new AppError('bad_request', texts.isOver)
    return c.json(wire.signalItem(await signalOf(c, params.signal_id)))
  },
)

export { app as signals }

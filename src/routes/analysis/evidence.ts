// What the method was worth when it was replayed over stored bars.

import { z } from '@hono/zod-openapi'
import { EvidenceRow } from '../../analysis/evidence/row-schema.ts'
import { GROUPS, LEAST_SIZE, MEASURES, METHOD_VERSION, VERDICTS } from '../../analysis/evidence/vocabulary.ts'
import { EVIDENCE_DATA, evidenceRows, evidenceRun } from '../../db/evidence.ts'
import { takeTurn } from '../../db/upkeep.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../http/validation.ts'

const app = router(analysisEnvelope)

const EvidenceResponse = z
  .object({
    data: z.enum(EVIDENCE_DATA).describe('Bars of markets, or the packaged samples'),
    method_version: z.string().nullable().describe('Null while nothing was computed'),
    computed_at: z.string().nullable().describe('When it was computed'),
    from: z.string().nullable().describe('The first session that an advice was measured on'),
    to: z.string().nullable().describe('The last session that an advice was measured on'),
    series: z.int().describe('Listings whose bars were replayed'),
    bars: z.int().describe('Bars that were replayed'),
    days: z.int().describe('Days that were judged'),
    left_out: z.int().describe('Listings whose bars failed a check'),
    least_size: z.int().describe('Fewer independent observations than this show nothing'),
    total: z.int().describe('Rows that match'),
    limit: z.int(),
    offset: z.int().describe('Of those that match, how many are left out at the beginning'),
    rows: z.array(z.object(EvidenceRow.shape).openapi('EvidenceRow')).describe('In the order of the table'),
  })
  .openapi('EvidenceResponse')

const DAY_MS = 86_400_000

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/analysis/evidence',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Analysis history',
    summary: 'What the method was worth when it was replayed day by day over stored bars, beside its baselines',
    query: z.object({
      data: z.enum(EVIDENCE_DATA).default('market').describe('Bars of markets, or the packaged samples'),
      measure: z.enum(MEASURES).optional().describe('How long something was held'),
      group: z.enum(GROUPS).optional(),
      market: z.enum(['all', 'cn', 'hk', 'us', 'jp', 'kr', 'tw']).optional(),
      regime: z
        .enum(['all', 'bull', 'bear', 'sideways', 'unknown'])
        .optional()
        .describe("By the listing's own 250-day average"),
      verdict: z.enum(VERDICTS).optional().describe('What a row shows'),
      limit: laxInt({ min: 1, max: 500 }).default(100),
      offset: laxInt({ min: 0, max: 100_000 }).default(0).describe('How many of the matching rows are left out'),
    }),
    replies: { 200: { description: 'The rows that match', schema: EvidenceResponse } },
  },
  async (c, { query }) => {
    const { data, limit, offset } = query
    const run = await runOf(c.env, data)
    const { total, rows } = await evidenceRows(c.env.DB, {
      data,
      measure: query.measure ?? null,
      part: query.group ?? null,
      market: query.market ?? null,
      regime: query.regime ?? null,
      verdict: query.verdict ?? null,
      limit,
      offset,
    })
    return c.json({
      data,
      method_version: run?.methodVersion ?? null,
      computed_at: run?.computedAt ?? null,
      from: run?.from ?? null,
      to: run?.to ?? null,
      series: run?.series ?? 0,
      bars: run?.bars ?? 0,
      days: run?.days ?? 0,
      left_out: run?.leftOut ?? 0,
      least_size: LEAST_SIZE,
      total,
      limit,
      offset,
      rows: rows.map((body) => EvidenceRow.parse(JSON.parse(body))),
    })
  },
)

/** The stored run; the first caller of a service whose cron has not run yet makes it. */
async function runOf(env: Env, data: (typeof EVIDENCE_DATA)[number]) {
  const run = await evidenceRun(env.DB, data)
  if (run?.methodVersion === METHOD_VERSION) return run
  const now = Date.now()
  if (!(await takeTurn(env.DB, { name: 'evidence', now, everyMs: DAY_MS }))) return run
  const { refreshEvidence } = await import('../../schedule/evidence.ts')
  await refreshEvidence(env.DB, now)
  return evidenceRun(env.DB, data)
}

export { app as evidence }

// How the method performed in a replay over stored bars.

import { z } from '@hono/zod-openapi'
import { NOT_SCORED, OUTCOMES, type Outcome, outcomeOf, scoresOf } from '../../analysis/evidence/ledger.ts'
import { adviceIn, LedgerContent, UNSCORABLE } from '../../analysis/evidence/ledger-content.ts'
import { eligible } from '../../analysis/evidence/observations.ts'
import {
  EvidenceRow,
  GROUPS,
  LEAST_SIZE,
  MEASURES,
  METHOD_VERSION,
  VERDICTS,
} from '../../analysis/evidence/vocabulary.ts'
import {
  EVIDENCE_DATA,
  evidenceRows,
  evidenceRun,
  keptBars,
  type LedgerRow,
  ledgerCounts,
  ledgerRows,
  reportsWithoutEntry,
} from '../../db/evidence.ts'
import { takeTurn } from '../../db/upkeep.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { brokenAt, FIRST_HASH } from '../../lib/crypto.ts'
import { laxInt } from '../../lib/lax.ts'
import { BarList } from '../../market/providers/answer-cache.ts'

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

/** The stored run; if the cron has not run yet, the first request computes it. */
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

// The owner's ledger of advice, with a check that it is complete.

const evidenceLedger = router(analysisEnvelope)

const Percent = z.number().nullable()

const LedgerOutcome = z
  .object({
    state: z.enum(OUTCOMES).describe('Whether its time is over and it could be measured'),
    reason: z
      .enum([...UNSCORABLE, ...NOT_SCORED])
      .nullable()
      .describe('Why it is not scored'),
    return_5_pct: Percent.describe("From the close of its session, in percent, by today's bars"),
    return_10_pct: Percent.describe('The same, ten sessions later'),
    return_20_pct: Percent.describe('The same, twenty sessions later'),
    right: z.boolean().nullable().describe('Whether the price went as advised; null while it is not scored'),
  })
  .openapi('LedgerOutcome')

const LedgerScores = z
  .object({
    horizon_sessions: z.int().describe('After so many sessions an advice is scored'),
    states: z
      .array(
        z
          .object({ state: z.enum(OUTCOMES).describe('Of an outcome'), count: z.int().describe('Advices in it') })
          .openapi('LedgerState'),
      )
      .describe('All rows of the page by their state'),
    not_scored: z
      .array(
        z
          .object({
            reason: z.enum(NOT_SCORED).describe('What is missing'),
            count: z.int().describe('Advices that lack it'),
          })
          .openapi('LedgerNotScored'),
      )
      .describe('Why scorable advices have no score yet'),
    actions: z
      .array(
        z
          .object({
            action: z.string().describe('What was advised'),
            count: z.int().describe('Scored advices'),
            right: z.int().describe('Those of them that came out as advised'),
            right_low: Percent.describe('The share of them, lower end of the 95 % interval (Wilson)'),
            right_high: Percent.describe('Upper end of it'),
            mean_return_pct: Percent.describe('Mean return after the horizon, before costs'),
          })
          .openapi('LedgerActionScore'),
      )
      .describe('Scored advices by what was advised'),
  })
  .openapi('LedgerScores')

const LedgerResponse = z
  .object({
    total: z.int().describe('Advices in the ledger'),
    scorable: z.int().describe('Those of them that can be measured once their time is over'),
    unscorable: z
      .array(
        z
          .object({ reason: z.enum(UNSCORABLE), count: z.int().describe('How many there are') })
          .openapi('LedgerUnscorable'),
      )
      .describe('Those that never can, by their reason'),
    is_whole: z
      .boolean()
      .describe(
        'Whether every hash of this page fits, what stands beside each text is as it says, and no report lacks its row',
      ),
    broken_at: z.int().nullable().describe('The place of the first row of the page that does not fit'),
    reports_without_row: z
      .int()
      .describe(
        'Reports that are kept, from the time of the first row on, and that no row tells of: rows were taken away',
      ),
    next_after: z.int().nullable().describe('The `after_place` of the next page; null on the last one'),
    scores: LedgerScores,
    rows: z
      .array(
        z
          .object({
            place: z.int().describe('From 1, without a gap'),
            content: z.string().describe('The text that is hashed'),
            advice: z
              .object(LedgerContent.shape)
              .openapi('LedgerAdvice')
              .nullable()
              .describe('Null where the text is none that the service writes: somebody changed it'),
            outcome: LedgerOutcome,
            previous_hash: z.string().describe('Of the row before; 64 zeros of the first'),
            hash: z.string().describe('SHA-256 of the previous hash, a line feed and the content, in hexadecimal'),
          })
          .openapi('LedgerRow'),
      )
      .describe('Oldest first'),
  })
  .openapi('LedgerResponse')

endpoint(
  evidenceLedger,
  {
    method: 'get',
    path: '/api/v1/analysis/evidence/ledger',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Analysis history',
    summary: "The owner's ledger of advice: only ever added to, each row bound to the one before by its hash",
    query: z.object({
      after_place: laxInt({ min: 0, max: 1_000_000_000 }).default(0).describe('Rows behind this place'),
      limit: laxInt({ min: 1, max: 1000 }).default(100),
    }),
    replies: { 200: { description: 'A page of it', schema: LedgerResponse } },
  },
  async (c, { query: { after_place: after, limit } }) => {
    const { owner } = c.get('principal')
    // Includes the row before the page, because the first row must contain its hash.
    const read = await ledgerRows(c.env.DB, { owner, after: Math.max(0, after - 1), limit: limit + 2 })
    const before = after === 0 ? null : (read.find(({ place }) => place === after) ?? null)
    const behind = read.filter(({ place }) => place > after)
    const rows = behind.slice(0, limit)
    const start = { place: after + 1, hash: before?.hash ?? FIRST_HASH }
    const broken = await brokenAt(rows, start, (row) => adviceIn(row).isTrue)
    const scored = await withOutcomes(c.env.DB, rows)
    const counts = await ledgerCounts(c.env.DB, owner)
    const lacking = await reportsWithoutEntry(c.env.DB, owner)
    const total = counts.reduce((sum, { count }) => sum + count, 0)
    return c.json({
      total,
      scorable: counts.find(({ unscorable }) => unscorable === null)?.count ?? 0,
      unscorable: counts.flatMap(({ unscorable, count }) => {
        const reason = UNSCORABLE.find((known) => known === unscorable)
        return reason === undefined ? [] : [{ reason, count }]
      }),
      is_whole: broken === null && lacking === 0,
      broken_at: broken,
      reports_without_row: lacking,
      next_after: behind.length > limit ? (rows.at(-1)?.place ?? null) : null,
      scores: scoresOf(scored),
      rows: scored.map(toModel),
    })
  },
)

type ScoredRow = LedgerRow & { advice: LedgerContent | null; outcome: Outcome }

/** One listing after another: the bars of many at once would exceed the memory. */
async function withOutcomes(db: D1Database, rows: readonly LedgerRow[]): Promise<ScoredRow[]> {
  const advices = rows.map((row) => ({ ...row, advice: adviceIn(row).advice }))
  const outcomes = new Map<number, Outcome>()
  for (const key of new Set(advices.flatMap(({ advice }) => (advice === null ? [] : [advice.key])))) {
    const some = advices.filter(({ advice }) => advice?.key === key)
    const bars = some.some(({ advice }) => advice?.unscorable === null) ? await barsOf(db, key) : 'no_bars'
    for (const { place, advice } of some) outcomes.set(place, outcomeOf(advice, bars))
  }
  return advices.map((row) => ({ ...row, outcome: outcomes.get(row.place) ?? outcomeOf(row.advice, 'no_bars') }))
}

/** The stored bars of a listing, if they pass the checks of a report. */
async function barsOf(db: D1Database, key: string) {
  const body = await keptBars(db, key)
  if (body === null) return 'no_bars'
  const read = BarList.safeParse(JSON.parse(body))
  if (!read.success) return 'bad_bars'
  const found = eligible(read.data, { name: key, isSample: false, now: Date.now() })
  return found.ok ? found.series.bars : 'bad_bars'
}

const toModel = ({ place, content, previousHash, hash, advice, outcome }: ScoredRow) => ({
  place,
  content,
  advice,
  outcome,
  previous_hash: previousHash,
  hash,
})

export { evidenceLedger }

// The owner's ledger of advice, and whether it is whole.

import { z } from '@hono/zod-openapi'
import { LedgerContent, UNSCORABLE } from '../../analysis/evidence/ledger.ts'
import { type LedgerRow, ledgerCounts, ledgerRows } from '../../db/ledger.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../http/validation.ts'
import { brokenAt, FIRST_HASH } from '../../lib/hash-chain.ts'

const app = router(analysisEnvelope)

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
    is_whole: z.boolean().describe('Whether every hash of this page fits'),
    broken_at: z.int().nullable().describe('The place of the first row that does not'),
    next_after: z.int().nullable().describe('The `after_place` of the next page; null on the last one'),
    rows: z
      .array(
        z
          .object({
            place: z.int().describe('From 1, without a gap'),
            content: z.string().describe('The text that is hashed'),
            advice: z.object(LedgerContent.shape).openapi('LedgerAdvice'),
            previous_hash: z.string().describe('Of the row before; 64 zeros of the first'),
            hash: z.string().describe('SHA-256 of the previous hash, a line feed and the content, in hexadecimal'),
          })
          .openapi('LedgerRow'),
      )
      .describe('Oldest first'),
  })
  .openapi('LedgerResponse')

endpoint(
  app,
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
    // With the row before the page, whose hash the first one must name.
    const read = await ledgerRows(c.env.DB, { owner, after: Math.max(0, after - 1), limit: limit + 2 })
    const before = after === 0 ? null : (read.find(({ place }) => place === after) ?? null)
    const behind = read.filter(({ place }) => place > after)
    const rows = behind.slice(0, limit)
    const broken = await brokenAt(rows, { place: after + 1, hash: before?.hash ?? FIRST_HASH })
    const counts = await ledgerCounts(c.env.DB, owner)
    const total = counts.reduce((sum, { count }) => sum + count, 0)
    return c.json({
      total,
      scorable: counts.find(({ unscorable }) => unscorable === null)?.count ?? 0,
      unscorable: counts.flatMap(({ unscorable, count }) => {
        const reason = UNSCORABLE.find((known) => known === unscorable)
        return reason === undefined ? [] : [{ reason, count }]
      }),
      is_whole: broken === null,
      broken_at: broken,
      next_after: behind.length > limit ? (rows.at(-1)?.place ?? null) : null,
      rows: rows.map(toModel),
    })
  },
)

const toModel = ({ place, content, previousHash, hash }: LedgerRow) => ({
  place,
  content,
  advice: LedgerContent.parse(JSON.parse(content)),
  previous_hash: previousHash,
  hash,
})

export { app as evidenceLedger }

// The analysis of a holding. It is the same as any other analysis: neither quantity nor cost is used.

import { z } from '@hono/zod-openapi'
import { stockNameStore } from '../../../db/stock-names.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { idempotencyHeaders } from '../../../http/idempotency.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { currentNames } from '../../../kits/market-names/index.ts'
import { laxBool, laxInt } from '../../../lib/lax.ts'
import { readEntry } from '../../../market/readings.ts'
import { analyzeHolding } from '../analyze.ts'
import { AnalyzeRequest, DuplicateTaskErrorResponse, TaskAccepted } from '../schemas.ts'
import { BASE, missing, refused, writes } from './shapes.ts'
import { textsOf } from './texts.ts'
import { replayedAccounts } from './valued.ts'

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    limit: 'analyses',
    path: `${BASE}/positions/{symbol}/analysis`,
    summary: 'Analyse a stock that you hold; your quantity and cost are not part of it',
    params: z.object({ symbol: z.string().max(100).describe('The code, in any spelling') }),
    headers: idempotencyHeaders,
    body: {
      required: false,
      schema: z
        .object({
          account_id: laxInt({ min: 1 }).nullish().describe('The account that holds it, where several do'),
          analysis_phase: AnalyzeRequest.shape.analysis_phase,
          force: laxBool().describe('Fetches everything anew').default(false),
          report_language: AnalyzeRequest.shape.report_language,
        })
        .openapi('PortfolioPositionAnalysisRequest'),
    },
    replies: {
      202: { description: 'Queued', schema: TaskAccepted },
      ...refused,
      ...missing,
      409: { description: 'The stock is being analysed already', schema: DuplicateTaskErrorResponse },
    },
  },
  async (c, { params: { symbol }, body }) => {
    const names = await currentNames(stockNameStore(c.env.DB))
    const target = readEntry(symbol, names)?.resolved ?? null
    const accountId = body?.account_id ?? undefined
    const { replayed } = await replayedAccounts(c, accountId === undefined ? {} : { account_id: accountId })
    const holders = replayed.filter(({ ledger }) => {
      return [...ledger.positions.values()].some(
        ({ holding, quantity }) => holding.symbol === target?.instrument.key && quantity.n > 0n,
      )
    })
    if (target === null || holders.length === 0) throw new AppError('not_found', textsOf(c).noPosition(symbol))
    if (holders.length > 1) {
      const ids = holders.map(({ account }) => account.id).join(', ')
      throw new AppError('bad_request', textsOf(c).severalAccounts(symbol, ids), { word: 'ambiguous_position_account' })
    }
    return analyzeHolding(c, target, {
      analysis_phase: body?.analysis_phase ?? 'auto',
      force_refresh: body?.force ?? false,
      report_language: body?.report_language ?? null,
    })
  },
)

export { app as positionAnalysis }

// Reports without a score among those that have one: in lists, in the ledger of advice, and for the report after them.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { type NewAnalysis, newestOfListing, pastAdvice, saveAnalysis } from '../../src/db/analyses.ts'

const row = (owner: string, queryId: string, changes: Partial<NewAnalysis>): NewAnalysis => ({
  ...{ owner, queryId, key: '600519', stockCode: '600519', stockName: null, reportType: 'full', reportLanguage: 'zh' },
  ...{ region: null, analysisPhase: 'auto', originalQuery: null, selectionSource: null, skills: null },
  ...{ trendPrediction: 'x', analysisSummary: 'x', sentimentScore: 71, operationAdvice: 'x', action: 'buy' },
  ...{ actionLabel: 'x', currentPrice: 1, changePct: 0, volumeRatio: null, turnoverRate: null, modelUsed: null },
  ...{ marketPhaseSummary: null, dataNotice: null, dataChecks: null, createdAt: '2026-03-20T08:00:00.000000Z' },
  ...{ report: '{}', contextSnapshot: null, diagnostics: null },
  ...changes,
})

test('a report without a score is no advice to be measured, and none that the next report is compared with', async () => {
  const owner = crypto.randomUUID()
  const [sound, failed] = [crypto.randomUUID(), crypto.randomUUID()]
  await saveAnalysis(env.DB, row(owner, sound, {}))
  await saveAnalysis(env.DB, row(owner, failed, { sentimentScore: null, action: null, dataChecks: '⚠ x' }))
  const stored = await newestOfListing(env.DB, owner, '600519')
  expect(stored).toMatchObject({ queryId: sound, dataChecks: null })
  const advices = await pastAdvice(env.DB, { owner, key: '600519', from: null, limit: 10 })
  expect(advices.map(({ sentimentScore }) => sentimentScore)).toEqual([71])
})

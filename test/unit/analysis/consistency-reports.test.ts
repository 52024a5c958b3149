// Whatever is wrong with the figures of a source: nothing in the report made of them, in its renderings, its row or its messages is
// further from the truth than a rounding without a mark at the same place.

import { expect, inject, test } from 'vitest'
import type { CompanyQuestions } from '../../../src/analysis/gather/company.ts'
import { hasScore } from '../../../src/analysis/report/consistency.ts'
import type { Bar, Fetched } from '../../../src/market/bars.ts'
import type { Evidence } from '../../../src/market/consistency/types.ts'
import { CORRUPTIONS, type Corruption } from '../market/corruptions.ts'
import { type Clean, cleanSeries, randomOf } from '../market/series-evidence.ts'
import { ALONE, analyze, DEADLINES } from './alone.ts'
import { type ReportRecord, unmarked } from './quoted-figures.ts'

const IS_PROOF = inject('isProof')
const RUNS = IS_PROOF ? 200 : 3
const SEED = IS_PROOF ? Math.floor(Math.random() * 1e9) : 20_261_122

const got = <T>(value: T, provider: string): Fetched<T> => ({ ok: true, value, provider, provenance: null, runs: [] })
const NOTHING = { ok: false as const, runs: [] }

/** Dividends, so that a yield is quoted too. */
function companyOf(now: number): CompanyQuestions {
  const exDate = new Date(now - 90 * 86_400_000).toISOString().slice(0, 10)
  const paid = { exDate, recordDate: null, announcedOn: null, cashPerShare: 0.5, currency: 'CNY' }
  const unknown = async () => NOTHING
  return {
    fundamentals: async () => got({ report: null, valuation: null, dividends: [paid] }, 'eastmoney'),
    ...{ flow: unknown, boards: unknown, rankings: unknown, peers: unknown },
  }
}

/** A sound index on the sessions of a sound series, so that beta and strength are quoted too. */
function indexBeside({ bars }: Pick<Evidence, 'bars'>): Bar[] {
  return bars.map(({ date }, i) => {
    const level = 3_000 * (1 + 0.02 * Math.sin(i / 7) + 0.004 * Math.sin(i * 2.3))
    return { date, open: level, high: level * 1.002, low: level * 0.998, close: level, volume: 1e8, amount: null }
  })
}

async function reportOf(evidence: Evidence, index: Bar[]): Promise<ReportRecord> {
  const { instrument, bars, quote, quoteSource, now } = evidence
  const result = await analyze(
    {
      instrument,
      names: { zh: '某股' },
      request: { reportType: 'full', language: 'zh', analysisPhase: 'auto', skills: ['bull_trend', 'box_oscillation'] },
      configuredLanguage: 'zh',
      queryId: 'e'.repeat(32),
    },
    {
      ...ALONE,
      company: companyOf(now),
      indexBars: async () => got(index, 'eastmoney'),
      dailyBars: async () => (bars.length === 0 ? NOTHING : got([...bars], 'tencent')),
      quote: async () => (quote === null ? NOTHING : got(quote, quoteSource ?? 'tencent')),
      onStage: () => undefined,
      clock: () => now,
      signal: new AbortController().signal,
      deadlines: DEADLINES,
    },
  )
  if (!result.ok) throw new Error(result.message)
  return result
}

type Case = { clean: Clean; evidence: Evidence }

/** Series that can have the corruption, each with and without it. */
function casesOf({ corrupt, of = (evidence) => evidence }: Corruption, first: number): Case[] {
  const cases: Case[] = []
  for (let seed = first; cases.length < RUNS && seed < first + RUNS * 20; seed++) {
    const random = randomOf(seed)
    const made = cleanSeries(random)
    const clean = { ...made, evidence: of(made.evidence) }
    const evidence = corrupt(clean.evidence, random)
    if (evidence !== null) cases.push({ clean, evidence })
  }
  return cases
}

for (const [name, corruption] of Object.entries(CORRUPTIONS)) {
  test(`${name}: no figure further from the truth without a mark at its place`, { timeout: 600_000 }, async () => {
    const cases = casesOf(corruption, SEED)
    expect(cases).toHaveLength(RUNS)
    const count = { withheld: 0, warned: 0 }
    for (const [i, { clean, evidence }] of cases.entries()) {
      const index = indexBeside(clean.evidence)
      const made = await reportOf(evidence, index)
      const found = unmarked(await reportOf(clean.evidence, index), made)
      expect([`${name}, seed ${SEED}, case ${i}, ${clean.board.key}`, ...found.slice(0, 5)]).toHaveLength(1)
      if (!hasScore(made.report)) count.withheld += 1
      else if (made.report.meta.data_checks !== null) count.warned += 1
    }
    // biome-ignore lint/suspicious/noConsole: a proof prints what it counted
    if (IS_PROOF) console.info(`${name}: ${cases.length} series, ${count.withheld} withheld, ${count.warned} marked`)
  })
}

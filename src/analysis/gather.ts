// What stands beside the prices: the company, the news, the report before. All of it may fail, and a report is made all the
// same; only being stopped ends the run here.

import { errorFields, log } from '../lib/log.ts'
import type { NewsFound } from '../news/search.ts'
import type { AnalysisDeps, AnalysisResult, EnteredStage } from './analyze.ts'
import { type Company, companyRuns, gatherCompany, withoutCompany } from './company.ts'
import { within } from './deadline.ts'
import type { Gathering, MarketView, Prices } from './market-view.ts'

export type Entering = (stage: EnteredStage) => Promise<AnalysisResult | null>

type Context = Pick<Gathering, 'company' | 'news' | 'previous' | 'mood'>
type Gathered = { ok: true; value: Context } | { ok: false; stopped: AnalysisResult }

type Way = { deps: AnalysisDeps; enter: Entering }

export async function gatherContext(prices: Prices, view: MarketView, { deps, enter }: Way): Promise<Gathered> {
  const stopped = await enter('trend')
  if (stopped !== null) return { ok: false, stopped }
  // Both begin now: neither waits for the other.
  const [company, news] = [companyOf(prices, view, deps), newsOf(deps)]
  const before = Promise.all([orNull('previous', () => deps.previous()), orNull('mood', () => deps.mood())])
  const known = await company
  await deps.onRuns(companyRuns(known))
  const halted = await enter(deps.news?.isConfigured ? 'news' : 'news_skipped')
  const [found, [previous, mood]] = await Promise.all([news, before])
  if (halted !== null) return { ok: false, stopped: halted }
  await deps.onRuns(found?.runs ?? [])
  return { ok: true, value: { company: known, news: found, previous, mood } }
}

/** A sample is of another day, or of no day: what is known of the company today does not belong to it. */
async function companyOf({ input }: Prices, { provenance }: MarketView, deps: AnalysisDeps): Promise<Company> {
  const { kind } = input.instrument
  if (provenance !== null && kind === 'stock') return withoutCompany('sample and market figures are not mixed')
  const bounds = { timeoutMs: deps.deadlines.companyMs, signal: deps.signal }
  return gatherCompany(deps.company, input.instrument, bounds)
}

async function newsOf({ news, signal, deadlines }: AnalysisDeps): Promise<NewsFound | null> {
  if (news === null) return null
  const bounded = await orNull('news', () =>
    within({ timeoutMs: deadlines.newsMs, signal }, (stop) => news.search(stop)),
  )
  if (bounded?.ok) return bounded.value
  // What could not be searched in time found nothing; whether a search is configured is known in any case.
  const count = news.isConfigured ? 0 : null
  return { count, items: [], isPooled: false, social: null, ageSeconds: null, maxAgeDays: 0, runs: [] }
}

/** None of these is worth losing a report for. */
async function orNull<T>(what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    log.error('analysis.context_failed', { what, ...errorFields(error) })
    return null
  }
}

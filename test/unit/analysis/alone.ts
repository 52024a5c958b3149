import type { AnalysisDeps } from '../../../src/analysis/analyze.ts'

/** An analysis with nobody to ask but the sources of bars and quote. */
export const ALONE: Pick<AnalysisDeps, 'company' | 'news' | 'previous' | 'mood' | 'narrator' | 'onRuns' | 'onModel'> = {
  company: null,
  news: null,
  previous: async () => null,
  mood: async () => null,
  narrator: null,
  onRuns: () => {},
  onModel: () => {},
}

export const DEADLINES = { dailyBarsMs: 1000, quoteMs: 1000, companyMs: 1000, newsMs: 1000, modelMs: 1000 }

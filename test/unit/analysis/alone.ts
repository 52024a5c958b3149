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

const PATIENT_MS = 60_000
export const DEADLINES = {
  dailyBarsMs: PATIENT_MS,
  quoteMs: PATIENT_MS,
  companyMs: PATIENT_MS,
  newsMs: PATIENT_MS,
  modelMs: PATIENT_MS,
}

import type { AnalysisCtx } from '../../../src/analysis/ctx.ts'
import type { Deps } from '../../../src/analysis/gather/input.ts'
import { knownName, type Names } from '../../../src/analysis/gather/stock-name.ts'
import { type AnalysisResult, analyze as run } from '../../../src/analysis/run/analyze.ts'
import type { ReportLanguage } from '../../../src/analysis/schemas.ts'
import type { RunJob, TaskRequest } from '../../../src/analysis/task.ts'
import type { Instrument } from '../../../src/market/instruments.ts'

export type Subject = {
  instrument: Instrument
  names: Names
  request: Pick<TaskRequest, 'reportType' | 'analysisPhase' | 'skills'> & { language: ReportLanguage | null }
  configuredLanguage: ReportLanguage
  queryId: string
}

/** An analysis's dependencies, and how it is told of. */
export type AnalysisWorld = Deps &
  Pick<AnalysisCtx, 'clock' | 'signal'> & {
    onStage: (progress: number, message: string, stage: string) => void
  }

export function analyze({ instrument, names, request, configuredLanguage, queryId }: Subject, world: AnalysisWorld) {
  const language = request.language ?? configuredLanguage
  const { onStage, clock, signal, ...deps } = world
  const name = knownName(names, null, { language, instrument }) ?? instrument.key
  const ctx: AnalysisCtx = {
    language,
    clock,
    signal,
    stage: async ({ progress, text, key = '', subject = name }) => onStage(progress, `${subject}：${text}`, key),
    tried: async () => {},
    asked: async () => {},
  }
  const input = { ...jobOf(instrument, { ...request, language }), queryId, instrument, names }
  return run(input, deps, ctx) satisfies Promise<AnalysisResult>
}

export function jobOf({ key }: Instrument, request: Subject['request'] & { language: ReportLanguage }): RunJob {
  return {
    ...{ owner: 'ann', queryId: '', taskId: null, attempt: 1 },
    request: {
      ...{ kind: 'analysis', key, stockCode: key, stockName: null, reportLanguage: null, originalQuery: null },
      ...{ selectionSource: null, forceRefresh: false, notify: false, region: null, priority: 'interactive' },
      ...{ batch: null, channels: null, reading: null, ...request },
    },
  }
}

/** An analysis with nobody to ask but the sources of bars and quote. */
export const ALONE: Pick<
  Deps,
  'otherQuote' | 'dayVolumes' | 'indexBars' | 'company' | 'news' | 'previous' | 'mood' | 'evidenceRows' | 'narrator'
> = {
  otherQuote: null,
  dayVolumes: null,
  indexBars: null,
  company: null,
  news: null,
  previous: async () => null,
  mood: async () => null,
  evidenceRows: async () => null,
  narrator: null,
}

const PATIENT_MS = 60_000
export const DEADLINES = {
  dailyBarsMs: PATIENT_MS,
  quoteMs: PATIENT_MS,
  companyMs: PATIENT_MS,
  newsMs: PATIENT_MS,
  modelMs: PATIENT_MS,
}

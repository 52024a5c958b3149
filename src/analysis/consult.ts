// Builds the dependencies of the tools of a talk: the owner's reports, the sources, the database.

import { findAnalysis, listAnalyses, newestOfListing, type StoredAnalysis } from '../db/analyses.ts'
import { systemClock } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { recordText } from './chat/check-answer.ts'
import { type ChatWorld, callTool, type ToolFindings } from './chat/tools.ts'
import { depsOf, evidenceRowsOf, inputOf } from './compose.ts'
import { type AnalysisCtx, RunEnded, withTimeout } from './ctx.ts'
import { gather } from './gather/gather.ts'
import { judge } from './judge/judge.ts'
import { reportOf } from './report/record.ts'
import { renderMarkdown } from './report/render/markdown.ts'
import { ReportLanguage } from './schemas.ts'
import type { RunJob } from './task.ts'

export type Consultation = {
  owner: string
  language: string
  tool: string
  /** JSON. */
  args: string
  /** The stocks of the talk. */
  codes: string[]
}

/** `record` is for the check of answers; empty when nothing was found. */
export type Consulted = { text: string; isError: boolean; record: string }

const PATIENCE_MS = 60_000

export async function consult(env: Env, { owner, language, ...call }: Consultation): Promise<Consulted> {
  const world = (signal: AbortSignal) => worldOf(env, { owner, language: ReportLanguage.parse(language) }, signal)
  const never = new AbortController().signal
  const bounded = await withTimeout({ timeoutMs: PATIENCE_MS, signal: never }, (signal) =>
    callTool(call, world(signal)),
  )
  if (!bounded.ok) return told(`Nothing came within ${PATIENCE_MS / 1000} seconds.`)
  return told(bounded.value)
}

function told(found: ToolFindings | string): Consulted {
  if (typeof found === 'string') return { text: found, isError: true, record: '' }
  const { text, ...record } = found
  return { text, isError: false, record: recordText(record) }
}

type Asker = { owner: string; language: ReportLanguage }

function worldOf(env: Env, { owner, language }: Asker, signal: AbortSignal): ChatWorld {
  const judged = new Map<string, ReturnType<ChatWorld['facts']>>()
  return {
    language,
    facts: (key) => {
      const known = judged.get(key) ?? factsOf(env, { job: jobOf(owner, key, language), signal })
      judged.set(key, known)
      return known
    },
    report: async (key, id) => {
      const stored = id === null ? await newestOfListing(env.DB, owner, key) : await findAnalysis(env.DB, owner, id)
      return stored === null || stored.key !== key ? null : toldReport(stored)
    },
    reports: async (key, limit) => {
      const { items } = await listAnalyses(env.DB, {
        ...{ owner, key, limit, offset: 0 },
        ...{ reportType: null, from: null, until: null },
      })
      return items
    },
    news: async (key) => {
      const job = jobOf(owner, key, language)
      const deps = await depsOf(env, await inputOf(env, job), ctxOf(language, signal))
      return deps.news?.isConfigured ? deps.news.search(signal) : null
    },
    evidence: (instrument, isSample) => evidenceRowsOf(env, instrument, isSample),
  }
}

function toldReport(stored: StoredAnalysis) {
  const report = reportOf(stored)
  if (report === null) return null
  const { id, queryId, createdAt } = stored
  return { id, queryId, createdAt, markdown: renderMarkdown(report) }
}

/** The first steps of a report, without news and model. */
async function factsOf(
  env: Env,
  { job, signal }: { job: RunJob; signal: AbortSignal },
): ReturnType<ChatWorld['facts']> {
  const language = job.request.language
  const ctx = ctxOf(language, signal)
  try {
    const input = await inputOf(env, job)
    const deps = await depsOf(env, input, ctx)
    const inputs = await gather(input, { ...deps, news: null, indexBars: null, narrator: null }, ctx)
    return { ...inputs, ...judge(inputs) }
  } catch (error) {
    if (!(error instanceof RunEnded)) throw error
    log.warn('talk.no_prices', { reason: error.reason, ...errorFields(error) })
    return `No source told prices of ${job.request.key} (${error.reason}).`
  }
}

const ctxOf = (language: ReportLanguage, signal: AbortSignal): AnalysisCtx => ({
  language,
  clock: systemClock,
  signal,
  stage: async () => {},
  tried: async () => {},
  asked: async () => {},
})

function jobOf(owner: string, key: string, language: ReportLanguage): RunJob {
  return {
    owner,
    queryId: '',
    taskId: null,
    attempt: 1,
    request: {
      ...{ kind: 'analysis', key, stockCode: key, stockName: null, reportType: 'simple', analysisPhase: 'auto' },
      ...{ language, reportLanguage: language, skills: null, originalQuery: null, reading: null },
      ...{ selectionSource: null, forceRefresh: false, notify: false, region: null, priority: 'interactive' },
      ...{ batch: null, channels: null },
    },
  }
}

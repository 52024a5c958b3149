// The common part of a queued analysis and a synchronous call: progress is reported while it runs, and the report is
// saved.

import type { NewAnalysis } from '../../db/analyses.ts'
import { errorFields, log } from '../../lib/log.ts'
import { STAGE_PROGRESS } from '../codes.ts'
import type { AnalysisCtx, Ctx } from '../ctx.ts'
import { type RunHooks, savedStep, stepTeller } from '../flow/live.ts'
import type { AnalysisInput, Deps } from '../gather/input.ts'
import type { Report } from '../report/build.ts'
import { recordOf, savedMark } from '../report/record.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { stageMessage } from '../texts/format.ts'
import { analyze, nameOf } from './analyze.ts'

export type RunResult = ({ ok: true; saved: boolean } & Report) | { ok: false; message: string }

/** Makes the report and saves it. */
export async function runAnalysis(
  input: AnalysisInput,
  deps: Deps,
  { ctx, hooks, save }: { ctx: AnalysisCtx; hooks: RunHooks; save: Save },
): Promise<RunResult> {
  const { owner, request } = input
  const { language } = request
  const texts = textsOf(language).task
  const result = await analyze(input, deps, ctx)
  if (!result.ok) return { ok: false, message: result.message }
  const name = result.stockName ?? request.stockCode
  await hooks.onStage(STAGE_PROGRESS.saving, stageMessage('saving', { name, language }), texts.saving)
  // A stopped run must not save a report that nobody waits for.
  if (hooks.signal.aborted) return { ok: false, message: texts.notSaved }
  const { diagnostics } = result
  const saved = await savePatiently(save, recordOf({ owner, request, report: result.report, diagnostics }))
  if (saved) await hooks.onSteps([savedStep(input, ctx.clock())])
  return { ...result, saved, diagnostics: { ...diagnostics, history_runs: [savedMark(saved)] } }
}

/** The context of a run in the report's language; the task's own texts use the language of the request. */
export function analysisCtx(
  input: AnalysisInput,
  { language, clock }: { language: ReportLanguage; clock: Ctx['clock'] },
  hooks: RunHooks,
): AnalysisCtx {
  const steps = stepTeller(input, hooks)
  const { stageName } = textsOf(input.request.language).analysis
  const name = nameOf(input, language)
  return {
    language,
    clock,
    signal: hooks.signal,
    tried: steps.providers,
    asked: steps.model,
    async stage({ progress, text, key, subject = name }) {
      await hooks.onStage(progress, `${subject}：${text}`, key === undefined ? text : stageName[key])
      await turn(input)
    },
  }
}

// An isolate has one thread. Among many runs in it one is always ready to continue, and as long as one is, the runtime
// does not process incoming data: on a busy machine sockets are not served until they are closed. So runs take turns,
// each after a timer of its own, because the event loop processes incoming data before it fires a timer.

/** A run whose request was cancelled while it waited does not release its turn. */
const LONGEST_WAIT_MS = 100
const LEAST_PAUSE_MS = 5
const PAUSE_SPREAD_MS = 20

let last: object | null = null
let takenAt: number | null = null

/** Returns at once when no other run has had a turn since `who` had one. */
export async function turn(who: object): Promise<void> {
  if (last === who) return
  // Each waiting request retries by itself: a promise must not be resolved from another request.
  while (takenAt !== null && Math.abs(Date.now() - takenAt) < LONGEST_WAIT_MS) {
    await pause(LEAST_PAUSE_MS + Math.random() * PAUSE_SPREAD_MS)
  }
  takenAt = Date.now()
  await pause(0)
  last = who
  takenAt = null
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs))
}

export type Save = (analysis: NewAnalysis) => Promise<unknown>

const SAVE_DELAYS_MS = [200, 1_000]

/** Retries; false when the database does not accept the report. */
export async function savePatiently(
  save: Save,
  analysis: NewAnalysis,
  event = 'analysis.save_failed',
): Promise<boolean> {
  for (const delayMs of [...SAVE_DELAYS_MS, null]) {
    try {
      await save(analysis)
      return true
    } catch (error) {
      log.warn(event, { queryId: analysis.queryId, ...errorFields(error) })
      if (delayMs !== null) await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
  return false
}

// What a queued analysis and a synchronous call have in common: progress is reported while it runs, and the report is saved.

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
  // Whoever was stopped must not leave a report behind that nobody waits for.
  if (hooks.signal.aborted) return { ok: false, message: texts.notSaved }
  const { diagnostics } = result
  const saved = await savePatiently(save, recordOf({ owner, request, report: result.report, diagnostics }))
  if (saved) await hooks.onSteps([savedStep(input, ctx.clock())])
  return { ...result, saved, diagnostics: { ...diagnostics, history_runs: [savedMark(saved)] } }
}

/** The ctx of a run in the report's language; the task's own language is that of the request. */
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

// An isolate has one thread. Of many runs in it there is always one that can go on, and as long as one can, the runtime does
// not look at what has come in from outside: on a busy machine sockets go unserved until they are closed. So runs take
// turns, each after a timer of its own, because the runtime comes round before it fires one.

/** One whose request was cut off while it waited does not come back for its turn. */
const LONGEST_WAIT_MS = 100
const LEAST_PAUSE_MS = 5
const PAUSE_SPREAD_MS = 20

let last: object | null = null
let takenAt: number | null = null

/** Returns at once when nobody else has had a turn since `who` had one. */
export async function turn(who: object): Promise<void> {
  if (last === who) return
  // Each waiting request tries again by itself: nothing is handed from one request to another.
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

/** Tries again if need be; false when the database does not take the report. */
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

// What every step of a run is given beside its material: the report's language, the time, the way to be stopped, and the way to
// say how far it is.

import type { Clock } from '../lib/clock.ts'
import type { ProviderRun } from '../market/provider-run.ts'
import { type RunStage, STAGE_PROGRESS, type StageKey } from './codes.ts'
import type { ModelRun } from './diagnostics.ts'
import type { ReportLanguage } from './schemas.ts'
import { fill, textsOf } from './texts/book.ts'

export type Ctx = {
  language: ReportLanguage
  clock: Clock
  signal: AbortSignal
  stage(stage: Stage): Promise<void>
  /** Attempts at sources, as they come in. */
  tried(runs: readonly ProviderRun[]): Promise<void>
}

export type AnalysisCtx = Ctx & {
  /** Null while a model is asked, then each of its calls. */
  asked(run: ModelRun | null): Promise<void>
}

export type Stage = {
  progress: number
  /** What is going on; the subject stands before it. */
  text: string
  /** What an analysis calls the stage; a market review's is called by its text. */
  key?: RunStage
  /** Where it is not the run's own. */
  subject?: string
}

type EnteredStage = Exclude<StageKey, 'queued' | 'started' | 'saving' | 'done'>

/** The stage that a message counts as: what a model does is one stage to whoever waits. */
const STAGE_OF: Partial<Record<EnteredStage, RunStage>> = {
  news_skipped: 'news',
  model_wait: 'model',
  parsing: 'model',
  repairing: 'model',
}

const stageOf = (key: EnteredStage): RunStage => STAGE_OF[key] ?? (key as RunStage)

/** Reports a stage, unless the run was stopped before it; false when it is stopped. */
export async function announce(ctx: Ctx, key: EnteredStage, values: Record<string, number> = {}): Promise<boolean> {
  if (ctx.signal.aborted) return false
  const text = fill(textsOf(ctx.language).analysis.stage[key], values)
  await ctx.stage({ progress: STAGE_PROGRESS[key], text, key: stageOf(key) })
  return !ctx.signal.aborted
}

/** Reports a stage of an analysis; one that is stopped ends there. */
export async function enter(ctx: Ctx, key: EnteredStage): Promise<void> {
  if (!(await announce(ctx, key))) throw new RunEnded('cancelled', { stage: stageOf(key) })
}

/** The end of an analysis before its report. It is thrown by the steps and caught where they are run. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded'
  readonly reason: 'no_data' | 'deadline' | 'cancelled'
  readonly stage: RunStage
  readonly runs: ProviderRun[]

  constructor(reason: RunEnded['reason'], { stage, runs = [] }: { stage: RunStage; runs?: ProviderRun[] }) {
    super(reason)
    this.reason = reason
    this.stage = stage
    this.runs = runs
  }
}

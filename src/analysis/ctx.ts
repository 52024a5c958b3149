// What every step of a run gets besides its input: the report's language, the clock, the signal that stops it, and the
// callback that reports its progress.

import type { Clock } from '../lib/clock.ts'
import type { ProviderRun } from '../market/bars.ts'
import { type RunStage, STAGE_PROGRESS, type StageKey } from './codes.ts'
import type { ModelRun } from './diagnostics.ts'
import type { ReportLanguage } from './schemas.ts'
import { fill, textsOf } from './texts/book.ts'

export type Ctx = {
  language: ReportLanguage
  clock: Clock
  signal: AbortSignal
  stage(stage: Stage): Promise<void>
  /** Attempts at sources, as they finish. */
  tried(runs: readonly ProviderRun[]): Promise<void>
}

export type AnalysisCtx = Ctx & {
  /** Null when a model is asked, then each of its calls. */
  asked(run: ModelRun | null): Promise<void>
}

export type Stage = {
  progress: number
  /** What is happening; the subject is put before it. */
  text: string
  /** The name of the stage in an analysis; a market review has only the text. */
  key?: RunStage
  /** Set when it is not the subject of the run. */
  subject?: string
}

type EnteredStage = Exclude<StageKey, 'queued' | 'started' | 'saving' | 'done'>

/** The stage that a step counts as: all work of a model is one stage for the caller. */
const STAGE_OF: Partial<Record<EnteredStage, RunStage>> = {
  news_skipped: 'news',
  model_wait: 'model',
  parsing: 'model',
  repairing: 'model',
}

const stageOf = (key: EnteredStage): RunStage => STAGE_OF[key] ?? (key as RunStage)

/** Reports a stage unless the run was stopped before; false when it is stopped. */
export async function announce(ctx: Ctx, key: EnteredStage, values: Record<string, number> = {}): Promise<boolean> {
  if (ctx.signal.aborted) return false
  const text = fill(textsOf(ctx.language).analysis.stage[key], values)
  await ctx.stage({ progress: STAGE_PROGRESS[key], text, key: stageOf(key) })
  return !ctx.signal.aborted
}

/** Reports a stage of an analysis; throws when the run was stopped. */
export async function enter(ctx: Ctx, key: EnteredStage): Promise<void> {
  if (!(await announce(ctx, key))) throw new RunEnded('cancelled', { stage: stageOf(key) })
}

/** The end of an analysis without a report. The steps throw it, and the caller of the steps catches it. */
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

/** The result of work with a time limit. */
export type Bounded<T> = { ok: true; value: T } | { ok: false; reason: 'deadline' | 'cancelled' }

export type Bound = { timeoutMs: number; signal: AbortSignal }

/**
 * Runs work with a deadline and the caller's signal. The work gets its own signal; if it ignores that, it is abandoned.
 * An error of the work itself is thrown.
 */
export async function withTimeout<T>(
  { timeoutMs, signal }: Bound,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Bounded<T>> {
  if (signal.aborted) return { ok: false, reason: 'cancelled' }
  const controller = new AbortController()
  const ended = Promise.withResolvers<Bounded<T>>()
  const end = (reason: 'deadline' | 'cancelled') => {
    ended.resolve({ ok: false, reason })
    controller.abort(new Error(reason))
  }
  const cancel = () => end('cancelled')
  const timer = setTimeout(() => end('deadline'), timeoutMs)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const done = work(controller.signal).then(
      (value): Bounded<T> => ({ ok: true, value }),
      (error): Promise<Bounded<T>> => {
        // After an abort the work may fail with any error; only errors before that count.
        if (controller.signal.aborted) return ended.promise
        throw error
      },
    )
    return await Promise.race([ended.promise, done])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

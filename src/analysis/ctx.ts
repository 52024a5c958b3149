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

/** What a bounded piece of work came to. */
export type Bounded<T> = { ok: true; value: T } | { ok: false; reason: 'deadline' | 'cancelled' }

export type Bound = { timeoutMs: number; signal: AbortSignal }

/**
 * Runs work that may not outlast its deadline or the caller's signal. The work is told through its own signal; one that does
 * not listen is left behind. An error of the work itself is thrown on.
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
        // Work that was told to end may say so in any words; only what it fails with by itself counts.
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

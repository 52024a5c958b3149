// A model asked for one answer: once, and once more when the answer is not in shape. Every try is a run of its own, with its times
// and what became of it, also one that was made again because the model was busy.

import { isoMicros } from '../../lib/clock.ts'
import { errorFields, log } from '../../lib/log.ts'
import type { NarratorFault } from '../codes.ts'
import type { Ctx } from '../ctx.ts'
import { type Bounded, within } from '../ctx.ts'
import type { ModelRun } from '../diagnostics.ts'
import { type Narrator, NarratorError, type NarratorReply } from '../narrator.ts'
import { type ParsedAnswer, repairPrompt } from './model-answer.ts'

/** How a model is asked. */
export type Narration = {
  narrator: Narrator
  /** For all tries together. */
  timeoutMs: number
  onText: (characters: number) => void
  onRepair: () => Promise<unknown>
}

export type Question<Answer> = {
  system: string
  prompt: string
  /** JSON Schema of the answer. */
  schema: Record<string, unknown>
  parse: (output: unknown) => ParsedAnswer<Answer>
}

/** Null: there is no usable answer; the last run says why. */
export type Answered<Answer> = { answered: { answer: Answer; model: string } | null; runs: ModelRun[] }

export async function askModel<Answer>(
  question: Question<Answer>,
  narration: Narration,
  ctx: Pick<Ctx, 'clock' | 'signal'>,
): Promise<Answered<Answer>> {
  const endsAt = ctx.clock() + narration.timeoutMs
  const runs: ModelRun[] = []
  let { prompt } = question
  for (const type of ['analysis', 'repair'] as const) {
    const timeoutMs = endsAt - ctx.clock()
    const told = await call({ question: { ...question, prompt }, narration, ctx }, { type, timeoutMs })
    runs.push(...told.runs)
    const run = told.runs.at(-1)
    if (told.answer !== null) return { answered: { answer: told.answer, model: run?.model ?? 'model' }, runs }
    // A second try helps an answer out of shape; what kept an answer from coming would keep the next one too.
    if (run === undefined || (run.error_type !== 'bad_json' && run.error_type !== 'cut_off')) break
    if (type === 'analysis') await narration.onRepair()
    const problems = run.error_type === 'cut_off' ? ['it was cut off: write less'] : run.problems
    prompt = repairPrompt(question.prompt, problems)
  }
  return { answered: null, runs }
}

type Call<Answer> = { question: Question<Answer>; narration: Narration; ctx: Pick<Ctx, 'clock' | 'signal'> }
type Limits = { type: ModelRun['call_type']; timeoutMs: number }

async function call<Answer>(
  { ctx, narration, question: { system, prompt, schema, parse } }: Call<Answer>,
  { type, timeoutMs }: Limits,
): Promise<{ runs: ModelRun[]; answer: Answer | null }> {
  const runs: ModelRun[] = []
  let startedAt = ctx.clock()
  let asked = narration.narrator.model ?? null
  const end = (outcome: Partial<ModelRun>) => {
    const now = ctx.clock()
    runs.push({
      ...NO_RUN,
      call_type: type,
      duration_ms: now - startedAt,
      created_at: isoMicros(startedAt),
      ...outcome,
    })
    startedAt = now
  }
  const onRetry = ({ fault, model }: NarratorError) => end({ model, error_type: fault })
  // The wait before a try is no part of it.
  const onTry = (model: string) => {
    startedAt = ctx.clock()
    asked = model
  }
  const request = { system, prompt, schema, onText: narration.onText, onRetry, onTry }
  const bound = { timeoutMs: Math.max(1, timeoutMs), signal: ctx.signal }
  const outcome = await settled(within(bound, (signal) => narration.narrator.complete({ ...request, signal })))
  if (!outcome.ok) {
    end({ model: outcome.model ?? asked, error_type: outcome.fault })
    return { runs, answer: null }
  }
  const { model, provider, tokens, isCutOff, output } = outcome.reply
  const parsed = parse(output)
  const failure = { error_type: isCutOff ? 'cut_off' : 'bad_json', problems: parsed.ok ? [] : parsed.problems } as const
  end({ model, provider, tokens, ...(parsed.ok ? { success: true } : failure) })
  return { runs, answer: parsed.ok ? parsed.answer : null }
}

const NO_RUN = {
  ...{ provider: null, model: null, success: false, tokens: null, fallback_model: null, error_type: null },
  problems: [],
}

type Outcome = { ok: true; reply: NarratorReply } | { ok: false; fault: NarratorFault; model: string | null }

async function settled(work: Promise<Bounded<NarratorReply>>): Promise<Outcome> {
  try {
    const bounded = await work
    return bounded.ok ? { ok: true, reply: bounded.value } : { ok: false, fault: 'timeout', model: null }
  } catch (error) {
    if (error instanceof NarratorError) {
      log.warn('analysis.model_failed', { fault: error.fault, model: error.model })
      return { ok: false, fault: error.fault, model: error.model }
    }
    log.error('analysis.model_broke', errorFields(error))
    return { ok: false, fault: 'network', model: null }
  }
}

// The model's part of a report: asked once, asked again when its answer is not in shape, checked sentence by sentence. What
// comes out stands in a box of its own; every other field of the report is made by code.

import { isoMicros } from '../../lib/clock.ts'
import { errorFields, log } from '../../lib/log.ts'
import type { NarratorFault } from '../codes.ts'
import type { Ctx } from '../ctx.ts'
import { type Bounded, within } from '../deadline.ts'
import type { ModelRun } from '../diagnostics.ts'
import type { Judged } from '../judge/judge.ts'
import { type Narrator, NarratorError, type NarratorReply } from '../narrator.ts'
import type { Action } from '../schemas.ts'
import { knownOf } from './claims/known-of.ts'
import { evidencePack, newsLines, type WordedByCode } from './evidence-pack.ts'
import { answerSchema, type ModelAnswer, parseAnswer, repairPrompt, systemPrompt, userPrompt } from './model-answer.ts'
import { type ModelBox, modelBox } from './model-box.ts'
import { withoutRecap } from './sentences.ts'

export type ModelWords = {
  /** Null: there is no usable answer. */
  box: ModelBox | null
  model: string | null
  action: Action | null
  runs: ModelRun[]
  /** Sentences left out because they told of a close that has not been. */
  recaps: number
}

/** How a model is asked. */
export type Narration = {
  narrator: Narrator
  /** For both tries together. */
  timeoutMs: number
  onText: (characters: number) => void
  onRepair: () => Promise<unknown>
}

export async function modelNarrative(facts: WordedByCode, narration: Narration, ctx: Ctx): Promise<ModelWords> {
  const pack = evidencePack(facts)
  const news = newsLines(facts)
  const strategies = facts.skillFindings.map(({ name, description }) => `${name}: ${description}`)
  const prompt = userPrompt({ pack, news, strategies })
  const runs: ModelRun[] = []
  const answered = await tryTwice({ ctx, narration, prompt, runs })
  if (answered === null) return { box: null, model: null, action: null, runs, recaps: 0 }
  const { action, ...written } = answered.answer
  const { texts, recaps } = openTexts(written, facts)
  const author = { model: answered.model, action, advised: facts.decision.action, language: facts.language }
  return { box: modelBox(texts, knownOf(facts), author), model: answered.model, action, runs, recaps }
}

type Attempts = { ctx: Ctx; narration: Narration; prompt: string; runs: ModelRun[] }

async function tryTwice({
  ctx,
  narration,
  prompt,
  runs,
}: Attempts): Promise<{ answer: ModelAnswer; model: string } | null> {
  const endsAt = ctx.clock() + narration.timeoutMs
  let asked = prompt
  for (const type of ['analysis', 'repair'] as const) {
    const { run, answer } = await call({ ctx, narration, prompt: asked }, { type, timeoutMs: endsAt - ctx.clock() })
    runs.push(run)
    if (answer !== null) return { answer, model: run.model ?? 'model' }
    // A second try helps an answer out of shape; what kept an answer from coming would keep the next one too.
    if (run.error_type !== 'bad_json' && run.error_type !== 'cut_off') return null
    if (type === 'analysis') await narration.onRepair()
    asked = repairPrompt(prompt, run.error_type === 'cut_off' ? ['it was cut off: write less'] : run.problems)
  }
  return null
}

type Call = Omit<Attempts, 'runs'>

async function call(
  { ctx, narration, prompt }: Call,
  { type, timeoutMs }: { type: ModelRun['call_type']; timeoutMs: number },
): Promise<{ run: ModelRun; answer: ModelAnswer | null }> {
  const startedAt = ctx.clock()
  const request = { system: systemPrompt(ctx.language), prompt, schema: answerSchema(), onText: narration.onText }
  const bound = { timeoutMs: Math.max(1, timeoutMs), signal: ctx.signal }
  const outcome = await settled(within(bound, (signal) => narration.narrator.complete({ ...request, signal })))
  const run: ModelRun = {
    provider: null,
    model: null,
    call_type: type,
    success: false,
    tokens: null,
    duration_ms: ctx.clock() - startedAt,
    fallback_model: null,
    error_type: null,
    problems: [],
    created_at: isoMicros(startedAt),
  }
  if (!outcome.ok) return { run: { ...run, model: outcome.model, error_type: outcome.fault }, answer: null }
  const { model, provider, tokens, isCutOff, output } = outcome.reply
  const told = { ...run, model, provider, tokens }
  const parsed = parseAnswer(output)
  if (parsed.ok) return { run: { ...told, success: true }, answer: parsed.answer }
  const error_type = isCutOff ? 'cut_off' : 'bad_json'
  return { run: { ...told, error_type, problems: parsed.problems }, answer: null }
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

/** Every text of the answer, the conclusion first; without sentences that tell of a close while the session runs. */
function openTexts(written: Omit<ModelAnswer, 'action'>, { phase }: Judged): { texts: string[]; recaps: number } {
  const told = Object.values(written).flatMap((value) => value ?? [])
  const open = told.map((text) => withoutRecap(text, phase))
  return {
    texts: open.map(({ text }) => text).filter((text) => text !== ''),
    recaps: open.reduce((sum, { struck }) => sum + struck, 0),
  }
}

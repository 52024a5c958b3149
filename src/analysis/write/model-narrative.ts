// The model's part of a report: asked once, asked again when its answer is not in shape, checked figure by figure. What
// comes out is words for the places that code has filled already; where nothing usable comes, code's words stay.

import { isoMicros } from '../../lib/clock.ts'
import { errorFields, log } from '../../lib/log.ts'
import type { NarratorFault } from '../codes.ts'
import type { Ctx } from '../ctx.ts'
import { type Bounded, within } from '../deadline.ts'
import type { ModelRun } from '../diagnostics.ts'
import type { Judged } from '../judge/judge.ts'
import { type Narrator, NarratorError, type NarratorReply } from '../narrator.ts'
import type { Action } from '../schemas.ts'
import { evidencePack, knownFigures, newsLines, type WordedByCode } from './evidence-pack.ts'
import { addCounts, checkFigures, type FigureCounts, type KnownFigures, NO_FIGURES } from './figures.ts'
import { answerSchema, type ModelAnswer, parseAnswer, repairPrompt, systemPrompt, userPrompt } from './model-answer.ts'
import { withoutRecap } from './sentences.ts'

type Clean<Text> = Text extends string[] ? string[] : string | null

/** What is left of an answer's words; null where nothing is. */
export type ModelTexts = { [Key in Exclude<keyof ModelAnswer, 'action'>]: Clean<ModelAnswer[Key]> }

export type ModelWords = {
  /** Null: code's words stand. */
  texts: ModelTexts | null
  model: string | null
  action: Action | null
  runs: ModelRun[]
  figures: FigureCounts
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
  if (answered === null) return { texts: null, model: null, action: null, runs, figures: NO_FIGURES, recaps: 0 }
  const known = knownFigures(pack, news, facts)
  const { action, ...written } = answered.answer
  return { ...checkedTexts(written, known, facts), model: answered.model, action, runs }
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

type Checked = Pick<ModelWords, 'figures' | 'recaps'> & { texts: ModelTexts }

/** Every text of the answer with its figures looked up. What is left empty becomes null or is left out of its list. */
function checkedTexts(written: Omit<ModelAnswer, 'action'>, known: KnownFigures, { phase }: Judged): Checked {
  let figures = NO_FIGURES
  let recaps = 0
  const clean = (text: string): string => {
    const open = withoutRecap(text, phase)
    recaps += open.struck
    const checked = checkFigures(open.text, known)
    figures = addCounts(figures, checked.counts)
    return checked.text
  }
  const entries = Object.entries(written).map(([key, value]) => {
    if (value === null) return [key, null]
    return Array.isArray(value) ? [key, value.map(clean).filter((text) => text !== '')] : [key, clean(value) || null]
  })
  return { texts: Object.fromEntries(entries) as ModelTexts, figures, recaps }
}

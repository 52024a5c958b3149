// The model's part of a report: asked once, asked again when its answer is not in shape, checked figure by figure. What
// comes out is words for the places that code has filled already; where nothing usable comes, code's words stay.

import { type Clock, isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import type { AnalysisFacts } from '../reports/build.ts'
import type { Action } from '../reports/report.ts'
import { type Bounded, within } from './deadline.ts'
import { evidencePack, knownFigures, newsLines } from './evidence-pack.ts'
import { addCounts, checkFigures, type FigureCounts, type KnownFigures, NO_FIGURES } from './figures.ts'
import { answerSchema, type ModelAnswer, parseAnswer } from './model-answer.ts'
import { repairPrompt, systemPrompt, userPrompt } from './model-prompt.ts'
import { type Narrator, NarratorError, type NarratorFault, type NarratorReply } from './narrator.ts'
import { withoutRecap } from './phase-wording.ts'

/** One call, as the diagnostics keep it. */
export type ModelRun = {
  provider: string | null
  model: string | null
  call_type: 'analysis' | 'repair'
  success: boolean
  tokens: number | null
  duration_ms: number
  fallback_model: null
  error_type: NarratorFault | null
  problems: string[]
  created_at: string
}

type Clean<Text> = Text extends string[] ? string[] : string | null

/** What is left of an answer's words; null where nothing is. */
export type ModelTexts = { [Key in Exclude<keyof ModelAnswer, 'action'>]: Clean<ModelAnswer[Key]> }

export type Told = {
  /** Null: code's words stand. */
  texts: ModelTexts | null
  model: string | null
  action: Action | null
  runs: ModelRun[]
  figures: FigureCounts
  /** Sentences left out because they told of a close that has not been. */
  recaps: number
}

export type NarrateWorld = {
  narrator: Narrator
  clock: Clock
  signal: AbortSignal
  /** For both tries together. */
  timeoutMs: number
  onText: (characters: number) => void
  onRepair: () => Promise<void> | void
}

export async function modelNarrative(facts: AnalysisFacts, world: NarrateWorld): Promise<Told> {
  const pack = evidencePack(facts)
  const news = newsLines(facts)
  const strategies = facts.skillFindings.map(({ name, description }) => `${name}: ${description}`)
  const prompt = userPrompt({ pack, news, strategies })
  const runs: ModelRun[] = []
  const answered = await tryTwice({ facts, world, prompt, runs })
  if (answered === null) return { texts: null, model: null, action: null, runs, figures: NO_FIGURES, recaps: 0 }
  const known = knownFigures(pack, news, facts)
  const { action, ...written } = answered.answer
  return { ...checkedTexts(written, known, facts), model: answered.model, action, runs }
}

type Attempts = { facts: AnalysisFacts; world: NarrateWorld; prompt: string; runs: ModelRun[] }

async function tryTwice({
  facts,
  world,
  prompt,
  runs,
}: Attempts): Promise<{ answer: ModelAnswer; model: string } | null> {
  const endsAt = world.clock() + world.timeoutMs
  let asked = prompt
  for (const type of ['analysis', 'repair'] as const) {
    const { run, answer } = await call({ facts, world, prompt: asked }, { type, timeoutMs: endsAt - world.clock() })
    runs.push(run)
    if (answer !== null) return { answer, model: run.model ?? 'model' }
    // A second try helps an answer out of shape; what kept an answer from coming would keep the next one too.
    if (run.error_type !== 'bad_json' && run.error_type !== 'cut_off') return null
    if (type === 'analysis') await world.onRepair()
    asked = repairPrompt(prompt, run.error_type === 'cut_off' ? ['it was cut off: write less'] : run.problems)
  }
  return null
}

type Call = Omit<Attempts, 'runs'>

async function call(
  { facts, world, prompt }: Call,
  { type, timeoutMs }: { type: ModelRun['call_type']; timeoutMs: number },
): Promise<{ run: ModelRun; answer: ModelAnswer | null }> {
  const startedAt = world.clock()
  const request = { system: systemPrompt(facts.language), prompt, schema: answerSchema(), onText: world.onText }
  const bound = { timeoutMs: Math.max(1, timeoutMs), signal: world.signal }
  const outcome = await settled(within(bound, (signal) => world.narrator.complete({ ...request, signal })))
  const run: ModelRun = {
    provider: null,
    model: null,
    call_type: type,
    success: false,
    tokens: null,
    duration_ms: world.clock() - startedAt,
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

type Checked = Pick<Told, 'figures' | 'recaps'> & { texts: ModelTexts }

/** Every text of the answer with its figures looked up. What is left empty becomes null or is left out of its list. */
function checkedTexts(written: Omit<ModelAnswer, 'action'>, known: KnownFigures, { phase }: AnalysisFacts): Checked {
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

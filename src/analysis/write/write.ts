// The third step: the judgement as text. Code writes all texts; if a model is configured, its text is in a separate box
// and fills no other field.

import { errorFields, log } from '../../lib/log.ts'
import { STAGE_PROGRESS } from '../codes.ts'
import { type AnalysisCtx, announce } from '../ctx.ts'
import type { Deps } from '../gather/input.ts'
import type { Judged } from '../judge/judge.ts'
import type { ReportLanguage, ReportStrategy } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { checksNotice } from '../texts/findings.ts'
import { sampleNotice } from '../texts/format.ts'
import { type Changes, changesSince } from './changes.ts'
import { companyTexts } from './company-texts.ts'
import type { ModelBox } from './model-box.ts'
import { type ModelWords, modelNarrative } from './model-narrative.ts'
import { headline, limitationsOf, type Narrative, narrate } from './narrative.ts'
import { withSeparator } from './sentences.ts'
import { strategyOf } from './strategy.ts'

export type Words = {
  strategy: ReportStrategy | null
  changes: Changes | null
  narrative: Narrative
  /** The model's text; null when no model was asked. */
  told: ModelWords | null
}

export async function write(
  judged: Judged,
  deps: Pick<Deps, 'narrator' | 'deadlines'>,
  ctx: AnalysisCtx,
): Promise<Words> {
  const strategy = strategyOf(judged.levels, judged)
  // No model is asked about figures that failed a check.
  if (judged.consistency.isBlocked) {
    return { strategy: null, changes: null, narrative: withheldNarrative(judged), told: null }
  }
  const changes = changesSince(judged)
  const narrative = narrate({ ...judged, strategy })
  const told = await askModel(deps, { ...judged, narrative, changes }, ctx)
  return { strategy, changes, told, narrative: told === null ? narrative : toldNarrative(narrative, told, judged) }
}

async function askModel(
  { narrator, deadlines }: Pick<Deps, 'narrator' | 'deadlines'>,
  worded: Judged & Pick<Words, 'narrative' | 'changes'>,
  ctx: AnalysisCtx,
): Promise<ModelWords | null> {
  if (narrator === null || !(await announce(ctx, 'model'))) return null
  await ctx.asked(null)
  await announce(ctx, 'model_wait')
  const onRepair = () => announce(ctx, 'repairing')
  const narration = { narrator, timeoutMs: deadlines.modelMs, onText: streaming(worded, ctx), onRepair }
  const told = await modelNarrative(worded, narration, ctx)
  for (const run of told.runs) await ctx.asked(run)
  await announce(ctx, 'parsing')
  return told
}

/** Characters for one step of progress, and the number of steps while an answer arrives. */
const PER_STEP = 80
const STEPS = 24

/** Reports the growth of an answer, each step once. */
function streaming({ displayName, language }: Judged, ctx: AnalysisCtx) {
  let last: number = STAGE_PROGRESS.model_wait
  return (characters: number) => {
    const progress = STAGE_PROGRESS.model_wait + Math.min(Math.floor(characters / PER_STEP), STEPS)
    if (progress <= last) return
    last = progress
    const text = textsOf(language).analysis.stage.model_wait
    // Progress is optional: the answer arrives whether or not the report of it succeeds.
    ctx.stage({ progress, text, key: 'model', subject: displayName }).catch((error: unknown) => {
      log.warn('analysis.progress_lost', errorFields(error))
    })
  }
}

/** The narrative written by code with a note about the model's text, but without that text. */
function toldNarrative(narrative: Narrative, told: ModelWords, judged: Judged): Narrative {
  if (told.box === null) return { ...narrative, summary: failedSummary(narrative, told, judged.language) }
  const summary = besideModel(narrative, told, judged.language)
  return { ...narrative, summary, limitations: [...narrative.limitations, ...notesOf(told.box, judged)] }
}

/** The summary is written by code, but it must not say that there was no model. */
function besideModel({ summary }: Narrative, { model }: ModelWords, language: ReportLanguage): string {
  const { codeMade, modelBeside } = textsOf(language).report
  if (!summary.endsWith(codeMade)) return summary
  return summary.slice(0, -codeMade.length) + fill(modelBeside, { model: model ?? '?' })
}

function failedSummary({ summary }: Narrative, { runs }: ModelWords, language: ReportLanguage): string {
  const fault = runs.at(-1)?.error_type
  if (!fault) return summary
  const phrases = textsOf(language).analysis
  const { codeMade } = textsOf(language).report
  const sentence = fill(phrases.modelFailed, { fault: phrases.modelFault[fault] })
  return summary.endsWith(codeMade)
    ? `${summary.slice(0, -codeMade.length)}${sentence}${codeMade}`
    : `${withSeparator(summary)}${sentence}`
}

function notesOf({ counts, contradiction }: ModelBox, { language }: Judged): string[] {
  const { checked, marked, dropped } = counts
  const note = fill(textsOf(language).analysis.modelCounts, { checked, marked, dropped })
  return [...(marked + dropped > 0 ? [note] : []), ...(contradiction === null ? [] : [contradiction])]
}

/** The text of a report whose figures failed a check: which check, with its figures, and that nothing is recommended. */
function withheldNarrative(input: Judged): Narrative {
  const { language, overview, consistency } = input
  const texts = textsOf(language)
  const { noAdvice, withheldSentence } = texts.consistency
  const guardReason = texts.report.guard.inconsistent_data
  const notice = checksNotice(consistency, language) ?? guardReason
  return {
    ...companyTexts(input),
    ...NOTHING_TOLD,
    oneSentence: withheldSentence,
    summary: summaryOf(input, notice),
    guardReason,
    risks: [guardReason],
    noPosition: noAdvice,
    hasPosition: noAdvice,
    size: noAdvice,
    timing: noAdvice,
    immediate: noAdvice,
    window: noAdvice,
    nextCheck: texts.analysis.nextCheck.next,
    confidenceReason: fill(texts.consistency.quality, { ...countsOf(input), points: plausibilityOf(overview) }),
    limitations: limitationsOf(input),
  }
}

const NOTHING_TOLD = {
  shortTerm: null,
  mediumTerm: null,
  earningsOutlook: null,
  averages: null,
  volume: null,
  momentum: null,
  range: null,
  partReasons: [],
  catalysts: [],
  strongest: null,
  weakest: null,
  entryPlan: null,
  riskControl: null,
  watch: [],
} satisfies Partial<Narrative>

function summaryOf(input: Judged, notice: string): string {
  const { language, provenance, price } = input
  const { analysis, report } = textsOf(language)
  const sample = provenance === null ? '' : withSeparator(sampleNotice(provenance, language))
  const shown = price === null ? '' : headline(input, analysis)
  return `${sample}${withSeparator(notice)}${shown}${report.codeMade}`.trim()
}

function countsOf({ consistency }: Pick<Judged, 'consistency'>) {
  const of = (verdict: string) => consistency.findings.filter((finding) => finding.verdict === verdict).length
  return { passed: of('pass'), warned: of('warn'), failed: of('fail') }
}

const plausibilityOf = ({ data_quality }: Judged['overview']): number => data_quality.plausibility ?? 0

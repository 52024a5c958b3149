import { errorFields, log } from '../lib/log.ts'
import type { AnalysisFacts } from '../reports/build.ts'
import { sampleNotice } from '../reports/labels.ts'
import type { AnalysisDeps } from './analyze.ts'
import type { Entering } from './gather.ts'
import { modelNarrative, type Told } from './model-narrative.ts'
import { STAGE_PROGRESS, stageMessage } from './stages.ts'
import { toldNarrative } from './told-narrative.ts'

/** Characters for one step of progress, and how many steps there are while an answer arrives. */
const PER_STEP = 80
const STEPS = 24

/** The facts with a model's words, where there is a model; with code's own where it fails. */
export async function withModelWords(
  facts: AnalysisFacts,
  deps: AnalysisDeps,
  enter: Entering,
): Promise<AnalysisFacts> {
  const { narrator } = deps
  if (narrator === null || (await enter('model')) !== null) return facts
  await deps.onModel(null)
  await enter('model_wait')
  const told = await modelNarrative(facts, {
    narrator,
    clock: deps.clock,
    signal: deps.signal,
    timeoutMs: deps.deadlines.modelMs,
    onText: streaming(facts, deps),
    onRepair: async () => {
      await enter('repairing')
    },
  })
  for (const run of told.runs) await deps.onModel(run)
  await enter('parsing')
  return spoken(facts, told)
}

/** Reports how an answer grows, each step once. */
function streaming({ displayName, language }: AnalysisFacts, deps: AnalysisDeps) {
  let last = STAGE_PROGRESS.model_wait as number
  return (characters: number) => {
    const progress = STAGE_PROGRESS.model_wait + Math.min(Math.floor(characters / PER_STEP), STEPS)
    if (progress <= last) return
    last = progress
    const message = stageMessage('model_wait', { name: displayName, language })
    // Progress is a courtesy: the answer goes on arriving whether or not it could be told.
    Promise.resolve(deps.onStage(progress, message, 'model')).catch((error: unknown) => {
      log.warn('analysis.progress_lost', errorFields(error))
    })
  }
}

function spoken(facts: AnalysisFacts, told: Told): AnalysisFacts {
  const { language, provenance, decision, diagnostics } = facts
  const notice = provenance && sampleNotice(provenance, language)
  return {
    ...facts,
    told,
    narrative: toldNarrative(facts.narrative, told, { language, sampleNotice: notice, action: decision.action }),
    diagnostics: { ...diagnostics, llm_runs: told.runs.map((run) => ({ ...run })), figure_check: told.figures },
  }
}

// The model's part of a report: asked once, asked again when its answer is not in shape, checked sentence by sentence. What
// comes out stands in a box of its own; every other field of the report is made by code.

import type { Ctx } from '../ctx.ts'
import type { ModelRun } from '../diagnostics.ts'
import type { Judged } from '../judge/judge.ts'
import type { Action } from '../schemas.ts'
import { askModel, type Narration } from './ask-model.ts'
import { keyedFigures } from './claims/keys.ts'
import { knownOf } from './claims/known-of.ts'
import { evidencePack, newsLines, type WordedByCode } from './evidence-pack.ts'
import { answerSchema, type ModelAnswer, parseAnswer, systemPrompt, userPrompt } from './model-answer.ts'
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

export async function modelNarrative(facts: WordedByCode, narration: Narration, ctx: Ctx): Promise<ModelWords> {
  const pack = evidencePack(facts)
  const news = newsLines(facts)
  const strategies = facts.skillFindings.map(({ name, description }) => `${name}: ${description}`)
  const known = knownOf(facts)
  const figures = keyedFigures(known, ctx.language)
  const prompt = userPrompt({ pack, figures, news, strategies })
  const system = systemPrompt(ctx.language)
  const { answered, runs } = await askModel(
    { system, prompt, schema: answerSchema(), parse: parseAnswer },
    narration,
    ctx,
  )
  if (answered === null) return { box: null, model: null, action: null, runs, recaps: 0 }
  const { action, ...written } = answered.answer
  const { texts, recaps } = openTexts(written, facts)
  const author = { model: answered.model, action, advised: facts.decision.action, language: facts.language }
  return { box: modelBox(texts, known, author), model: answered.model, action, runs, recaps }
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

// One analysis, step by step. It stores nothing, and ends in one of two ways: with a report, or with the stage that
// stopped it and the reason.

import { type AnalysisCtx, enter, RunEnded } from '../ctx.ts'
import { gather } from '../gather/gather.ts'
import type { AnalysisInput, Deps } from '../gather/input.ts'
import { knownName } from '../gather/stock-name.ts'
import { judge } from '../judge/judge.ts'
import { type Report, report } from '../report/build.ts'
import type { ReportLanguage } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { write } from '../write/write.ts'

export type AnalysisResult =
  | ({ ok: true } & Report)
  | ({ ok: false; message: string } & Pick<RunEnded, 'reason' | 'stage' | 'runs'>)

/** Analyses one instrument. Throws only unexpected errors. */
export async function analyze(input: AnalysisInput, deps: Deps, ctx: AnalysisCtx): Promise<AnalysisResult> {
  try {
    const inputs = await gather(input, deps, ctx)
    const judged = { ...inputs, ...judge(inputs) }
    const words = await write(judged, deps, ctx)
    await enter(ctx, 'validating')
    return { ok: true, ...report(judged, words) }
  } catch (error) {
    if (!(error instanceof RunEnded)) throw error
    const { reason, stage, runs } = error
    return { ok: false, reason, stage, message: messageOf(error, { input, deps, language: ctx.language }), runs }
  }
}

type Ended = { input: AnalysisInput; deps: Deps; language: ReportLanguage }

function messageOf({ reason, stage, runs }: RunEnded, { input, deps, language }: Ended): string {
  const texts = textsOf(language).analysis
  const reasons = new Set(runs.flatMap(({ errorMessage }) => errorMessage ?? []))
  const text = fill(texts.failure[reason], {
    stage: texts.stageName[stage],
    seconds: deps.deadlines.dailyBarsMs / 1000,
    detail: [...reasons].join('; ') || texts.unknown,
  })
  return `${nameOf(input, language)}：${text}`
}

/** The subject's name until the report has a better one. */
export const nameOf = ({ names, instrument }: AnalysisInput, language: ReportLanguage): string =>
  knownName(names, null, { language, instrument }) ?? instrument.key

// The words of a report whose figures failed a check: which check, with its figures, and that nothing is recommended.

import type { Judged } from '../judge/judge.ts'
import { fill, textsOf } from '../texts/book.ts'
import { checksNotice } from '../texts/findings.ts'
import { sampleNotice } from '../texts/format.ts'
import { companyTexts } from './company-texts.ts'
import { headline, limitationsOf, type Narrative } from './narrative.ts'
import { followed } from './sentences.ts'

export function withheldNarrative(input: Judged): Narrative {
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
  const sample = provenance === null ? '' : followed(sampleNotice(provenance, language))
  const shown = price === null ? '' : headline(input, analysis)
  return `${sample}${followed(notice)}${shown}${report.codeMade}`.trim()
}

export function countsOf({ consistency }: Pick<Judged, 'consistency'>) {
  const of = (verdict: string) => consistency.findings.filter((finding) => finding.verdict === verdict).length
  return { passed: of('pass'), warned: of('warn'), failed: of('fail') }
}

const plausibilityOf = ({ data_quality }: Judged['overview']): number => data_quality.plausibility ?? 0

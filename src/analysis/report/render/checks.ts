// Marks of the checks in a rendering: beside each part of a report stands what a check says of the figures in it.

import type { Touch } from '../../../market/consistency/types.ts'
import type { AnalysisReport } from '../../schemas.ts'
import { fill, textsOf } from '../../texts/book.ts'
import { markFor } from '../../texts/findings.ts'
import type { ReportTexts } from '../../texts/texts.ts'
import { consistencyIn, type StoredConsistency } from '../consistency.ts'

/** Which figures stand under a heading. What follows from all of them is marked by any check. */
const UNDER: Partial<Record<keyof ReportTexts['heading'], readonly Touch[] | 'any'>> = {
  conclusion: 'any',
  changes: 'any',
  score_parts: 'any',
  levels: ['levels', 'averages', 'range'],
  indicators: ['averages', 'range', 'volume'],
  reasons_for: 'any',
  risks: 'any',
  outlook: 'any',
  company: ['price', 'valuation', 'averages', 'volume'],
  strategies: 'any',
  plan: 'any',
}

/** The mark of what stands under a heading; empty where no check speaks of it. */
export function headingMark(report: AnalysisReport, heading: keyof ReportTexts['heading']): string {
  return touchMark(report, UNDER[heading] ?? [])
}

export function touchMark(report: AnalysisReport, touches: readonly Touch[] | 'any'): string {
  const stored = consistencyIn(report)
  if (stored === null) return ''
  return markFor(stored, touches, report.meta.report_language)
}

/** What the checks came to, a line each. */
export function checkLines(report: AnalysisReport): string[] {
  const stored = consistencyIn(report)
  if (stored === null) return []
  const texts = textsOf(report.meta.report_language)
  const { quality, notPossible } = texts.consistency
  const points = report.details?.analysis_context_pack_overview?.data_quality.plausibility ?? 0
  const unable = of(stored, 'not_possible')
  return [
    fill(quality, {
      points,
      passed: of(stored, 'pass').length,
      warned: of(stored, 'warn').length,
      failed: of(stored, 'fail').length,
    }),
    ...[...of(stored, 'fail'), ...of(stored, 'warn')].map(({ text }) => `⚠ ${text}`),
    ...(unable.length === 0
      ? []
      : [fill(notPossible, { checks: unable.map(({ text }) => text).join(texts.report.listComma) })]),
  ]
}

const of = ({ findings }: StoredConsistency, verdict: string) => findings.filter((one) => one.verdict === verdict)

// The findings of the checks in the fields that readers of a report expect. The same object is in the raw result and in
// the context, with the figures that it concerns.

import { z } from 'zod'
import type { Consistency } from '../../market/consistency/examine.ts'
import { CHECKS, type CheckKey, TOUCHES, type Touch } from '../../market/consistency/types.ts'
import type { AnalysisReport, ReportLanguage } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { adjustmentText, alarmFor, findingText, markFor } from '../texts/findings.ts'
import type { ReportTexts } from '../texts/texts.ts'

type Json = Record<string, unknown>

export function wireConsistency(consistency: Consistency, language: ReportLanguage): Json {
  const { findings, adjustment, isBlocked, withheld, marks } = consistency
  return {
    blocked: isBlocked,
    withheld,
    marks,
    adjustment: { ...adjustment, label: adjustmentText(adjustment, language) },
    findings: findings.map((finding) => ({
      ...finding,
      label: textsOf(language).consistency.check[finding.check],
      text: findingText(finding, language),
    })),
  }
}

const Stored = z.object({
  consistency: z.object({
    blocked: z.boolean(),
    adjustment: z.object({ kind: z.string(), label: z.string() }),
    findings: z.array(
      z.object({
        check: z.enum(CHECKS),
        verdict: z.enum(['pass', 'warn', 'fail', 'not_possible']),
        touches: z.array(z.enum(TOUCHES)),
        text: z.string(),
      }),
    ),
  }),
})

export type StoredFinding = { check: CheckKey; verdict: string; touches: Touch[]; text: string }
type StoredConsistency = {
  blocked: boolean
  adjustment: { kind: string; label: string }
  findings: StoredFinding[]
}

/** Null for a report from before there were checks. */
export function consistencyIn({ details }: Pick<AnalysisReport, 'details'>): StoredConsistency | null {
  return Stored.safeParse(details?.raw_result).data?.consistency ?? null
}

/** Whether a report has a score: one whose figures failed a check has none. */
export const hasScore = (report: Pick<AnalysisReport, 'details'>): boolean => consistencyIn(report)?.blocked !== true

// Marks of the checks in a rendering: next to each part of a report, what a check says about its figures.

/** The figures under each heading. A part that depends on all figures is marked by any check. */
const UNDER: Partial<Record<keyof ReportTexts['heading'], readonly Touch[] | 'any'>> = {
  conclusion: 'any',
  changes: 'any',
  score_parts: 'any',
  levels: ['levels', 'averages', 'range'],
  indicators: ['averages', 'range', 'volume'],
  reasons_for: 'any',
  risks: 'any',
  outlook: 'any',
  beside: ['price', 'averages', 'volume'],
  company: ['price', 'valuation', 'averages', 'volume'],
  strategies: 'any',
  plan: 'any',
}

/** The mark of the part under a heading; empty when no check concerns it. */
export function headingMark(report: AnalysisReport, heading: keyof ReportTexts['heading']): string {
  const stored = consistencyIn(report)
  // Unverifiable figures are marked individually, not the whole part.
  return stored === null ? '' : alarmFor(stored, UNDER[heading] ?? [], report.meta.report_language)
}

/** The mark of figures of these groups; for a part that depends on all figures, the mark of any check. */
export function touchMark(report: AnalysisReport, touches: readonly Touch[] | 'any'): string {
  const stored = consistencyIn(report)
  if (stored === null) return ''
  const { report_language: language } = report.meta
  return touches === 'any' ? alarmFor(stored, touches, language) : markFor(stored, touches, language)
}

/** The results of the checks, one line each. */
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

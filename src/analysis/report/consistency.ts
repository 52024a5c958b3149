// The findings of the checks in the members that readers of a report look for. The same object stands in the raw result and in the
// context, beside the figures that it speaks of.

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

/** Null for a report that was made before there were checks. */
export function consistencyIn({ details }: Pick<AnalysisReport, 'details'>): StoredConsistency | null {
  return Stored.safeParse(details?.raw_result).data?.consistency ?? null
}

/** Whether a report has a score: one whose figures failed a check has none. */
export const hasScore = (report: Pick<AnalysisReport, 'details'>): boolean => consistencyIn(report)?.blocked !== true

// Marks of the checks in a rendering: beside each part of a report, what a check says of the figures in it.

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
  beside: ['price', 'averages', 'volume'],
  company: ['price', 'valuation', 'averages', 'volume'],
  strategies: 'any',
  plan: 'any',
}

/** The mark of what stands under a heading; empty where no check speaks of it. */
export function headingMark(report: AnalysisReport, heading: keyof ReportTexts['heading']): string {
  const stored = consistencyIn(report)
  // What nobody can check is marked at its own figure, not under all that stand with it.
  return stored === null ? '' : alarmFor(stored, UNDER[heading] ?? [], report.meta.report_language)
}

/** The mark of figures of these groups; of what follows from all of them, that of any check that speaks. */
export function touchMark(report: AnalysisReport, touches: readonly Touch[] | 'any'): string {
  const stored = consistencyIn(report)
  if (stored === null) return ''
  const { report_language: language } = report.meta
  return touches === 'any' ? alarmFor(stored, touches, language) : markFor(stored, touches, language)
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

// The findings of the checks in the members that readers of a report look for. The same object stands in the raw result and in the
// context, beside the figures that it speaks of.

import { z } from 'zod'
import type { Consistency } from '../../market/consistency/examine.ts'
import { CHECKS, type CheckKey, TOUCHES, type Touch } from '../../market/consistency/types.ts'
import type { AnalysisReport, ReportLanguage } from '../schemas.ts'
import { adjustmentText, findingText } from '../texts/findings.ts'

type Json = Record<string, unknown>

export function wireConsistency(consistency: Consistency, language: ReportLanguage): Json {
  const { findings, adjustment, isBlocked, withheld, marks } = consistency
  return {
    blocked: isBlocked,
    withheld,
    marks,
    adjustment: { ...adjustment, label: adjustmentText(adjustment, language) },
    findings: findings.map((finding) => ({ ...finding, text: findingText(finding, language) })),
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
export type StoredConsistency = {
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

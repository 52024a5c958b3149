// Which fields of a price or of bars a check speaks of. `data_checks` names the checks for a reader; this names the figures, for a
// program that shows some of them only.

import { z } from '@hono/zod-openapi'
import type { ReportLanguage } from '../../analysis/schemas.ts'
import { findingText } from '../../analysis/texts/findings.ts'
import type { Consistency } from '../../market/consistency/examine.ts'
import { CHECKS, type Finding, type Touch } from '../../market/consistency/types.ts'

const VERDICTS = ['fail', 'warn', 'not_possible'] as const
type MarkVerdict = (typeof VERDICTS)[number]

export const FieldCheck = z
  .object({
    check: z.enum(CHECKS).describe('The check that speaks'),
    verdict: z.enum(VERDICTS).describe('`not_possible`: nothing at hand can tell whether the figures are right'),
    fields: z.array(z.string()).describe('The fields of this answer that it speaks of; of bars, those of each bar'),
    date: z.string().nullable().describe('The day of which it speaks; null where it speaks of none'),
    text: z.string().describe('The check with what it found'),
  })
  .openapi('FieldCheck')
export type FieldCheck = z.infer<typeof FieldCheck>

type FieldsOf = Partial<Record<Touch, readonly string[]>>

/** An average or a range of the past stands in no quote. */
export const QUOTE_FIELDS: FieldsOf = {
  price: ['current_price', 'open', 'high', 'low', 'prev_close'],
  change: ['change', 'change_percent'],
  volume: ['volume', 'amount'],
}

/** A change between two bars is made of their prices. */
const BAR_PRICES = ['open', 'high', 'low', 'close', 'change_percent']
export const BAR_FIELDS: FieldsOf = {
  price: BAR_PRICES,
  change: ['change_percent'],
  averages: BAR_PRICES,
  range: BAR_PRICES,
  levels: BAR_PRICES,
  volume: ['volume', 'amount'],
}

type Figures = Readonly<Record<string, unknown>>
type Shown = { fields: FieldsOf; rows: readonly Figures[]; language: ReportLanguage }

/** The worst first. A field that has no figure in any row is not named. */
export function fieldChecks({ findings }: Consistency, { fields, rows, language }: Shown): FieldCheck[] {
  const isTold = (field: string) => rows.some((row) => row[field] !== null && row[field] !== undefined)
  const markOf = (finding: Finding, verdict: MarkVerdict): FieldCheck[] => {
    const touched = new Set(finding.touches.flatMap((touch) => fields[touch] ?? []))
    const named = [...touched].filter(isTold)
    const { check, date } = finding
    return named.length === 0 ? [] : [{ check, verdict, fields: named, date, text: findingText(finding, language) }]
  }
  return VERDICTS.flatMap((verdict) => {
    return findings.filter((one) => one.verdict === verdict).flatMap((finding) => markOf(finding, verdict))
  })
}

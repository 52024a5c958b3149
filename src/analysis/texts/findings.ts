// The findings of the checks as text: a notice for the top of a report, marks next to figures, and how prices were
// adjusted.

import type { Consistency } from '../../market/consistency/examine.ts'
import { type Adjustment, alarms, type CheckKey, type Finding, type Touch } from '../../market/consistency/types.ts'
import type { ReportLanguage } from '../schemas.ts'
import { fill, textsOf } from './book.ts'
import { aside, signedPct } from './format.ts'

const HUGE = 1e9
const DECIMALS = 4

/** A figure exactly as it was found. */
function told(value: number | string | null): string {
  if (typeof value === 'string') return value
  if (value === null || !Number.isFinite(value)) return '–'
  if (Math.abs(value) >= HUGE || (value !== 0 && Math.abs(value) < 10 ** -DECIMALS)) return value.toExponential(2)
  return String(Math.round(value * 10 ** DECIMALS) / 10 ** DECIMALS)
}

const times = (ratio: number): string => told(Math.round(Math.max(ratio, 1 / ratio) * 10) / 10)

function detailOf({ detail, date, expected, found, count }: Finding, language: ReportLanguage): string | null {
  if (detail === null) return null
  const texts = textsOf(language).consistency
  const isPair = typeof expected === 'number' && typeof found === 'number' && expected !== 0
  const share = isPair ? found / expected : null
  return fill(texts.detail[detail], {
    date: date ?? texts.unknownDate,
    expected: told(expected),
    found: told(found),
    count: count ?? 1,
    ratio: share === null || !Number.isFinite(share) || share === 0 ? '–' : times(share),
    change:
      share === null || !Number.isFinite(share)
        ? '–'
        : Math.abs(share) > HUGE
          ? told(share)
          : signedPct((share - 1) * 100),
  })
}

/** A check's name with its finding. */
export function findingText(finding: Finding, language: ReportLanguage): string {
  const name = textsOf(language).consistency.check[finding.check]
  const detail = detailOf(finding, language)
  return detail === null ? name : name + aside(detail, language)
}

/** What a reader must know before any figure; null when no check has a finding. */
export function checksNotice(consistency: Consistency, language: ReportLanguage): string | null {
  const texts = textsOf(language).consistency
  return noticeOf(consistency, consistency.isBlocked ? texts.failed : texts.failedVolume, language)
}

/** The same for prices that are shown alone, where nothing is recommended anyway. */
export const pricesNotice = (consistency: Consistency, language: ReportLanguage): string | null =>
  noticeOf(consistency, textsOf(language).consistency.failedPrices, language)

function noticeOf(consistency: Consistency, failure: string, language: ReportLanguage): string | null {
  const texts = textsOf(language).consistency
  const { clauseJoin } = textsOf(language).report
  const all = alarms(consistency)
  const of = (verdict: Finding['verdict'], template: string) => {
    const found = all.filter((one) => one.verdict === verdict).map((one) => findingText(one, language))
    return found.length === 0 ? [] : [fill(template, { checks: found.join(clauseJoin) })]
  }
  const sentences = [...of('fail', failure), ...of('warn', texts.warned)]
  return sentences.length === 0 ? null : sentences.join(language === 'zh' ? '' : ' ')
}

/** The names of checks as a mark; empty without any. */
export function markOf(checks: readonly CheckKey[], language: ReportLanguage): string {
  return checks.length === 0 ? '' : fill(textsOf(language).consistency.mark, { checks: namesOf(checks, language) })
}

function namesOf(checks: readonly CheckKey[], language: ReportLanguage): string {
  const { check } = textsOf(language).consistency
  return checks.map((key) => check[key]).join(textsOf(language).report.listComma)
}

type Alarmed = { findings: readonly { check: CheckKey; verdict: string; touches: readonly Touch[] }[] }

/** The checks with one of these verdicts about one of these groups of figures. */
function checksOn(
  { findings }: Alarmed,
  { touches, verdicts }: { touches: readonly Touch[] | 'any'; verdicts: readonly string[] },
): CheckKey[] {
  const found = findings.filter(({ verdict, touches: touched }) => {
    return verdicts.includes(verdict) && (touches === 'any' || touched.some((touch) => touches.includes(touch)))
  })
  return [...new Set(found.map(({ check }) => check))]
}

/** The mark of these groups of figures if a check warns or failed. */
export const alarmFor = (consistency: Alarmed, touches: readonly Touch[] | 'any', language: ReportLanguage): string =>
  markOf(checksOn(consistency, { touches, verdicts: ['warn', 'fail'] }), language)

/** The mark next to a single figure, including figures that cannot be verified. Empty when no check concerns it. */
export function markFor(consistency: Alarmed, touches: readonly Touch[], language: ReportLanguage): string {
  const alarm = alarmFor(consistency, touches, language)
  if (alarm !== '') return alarm
  const unable = checksOn(consistency, { touches, verdicts: ['not_possible'] })
  if (unable.length === 0) return ''
  const { unchecked } = textsOf(language).consistency
  return aside(fill(unchecked, { checks: namesOf(unable, language) }), language).trim()
}

/** A text followed by its mark. */
export const withMark = (text: string, mark: string): string => (mark === '' ? text : `${text} ${mark}`)

/** How past prices were adjusted, and by whom. */
export function adjustmentText({ kind, source }: Adjustment, language: ReportLanguage): string {
  const texts = textsOf(language)
  return fill(texts.consistency.adjustment[kind], { source: source ?? texts.analysis.unknown })
}

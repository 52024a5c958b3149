// The checks that warn of a group of figures, or failed it, as a stored report has them.

import type { Report } from '../wire.ts'

export type Figures = 'price' | 'change' | 'averages' | 'range' | 'levels' | 'volume' | 'valuation'

type Alarm = { label: string; text: string; touches: string[] }

export type Checks = { isBlocked: boolean; alarms: Alarm[] }

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** What the checks of a report found; reports from before there were checks have none. */
export function checksOf({ details }: Pick<Report, 'details'>): Checks {
  const raw = details?.raw_result
  const consistency = isObject(raw) ? raw.consistency : null
  if (!isObject(consistency)) return { isBlocked: false, alarms: [] }
  const findings = Array.isArray(consistency.findings) ? consistency.findings : []
  return { isBlocked: consistency.blocked === true, alarms: findings.flatMap(alarmOf) }
}

function alarmOf(finding: unknown): Alarm[] {
  if (!isObject(finding) || (finding.verdict !== 'warn' && finding.verdict !== 'fail')) return []
  const { label, text, touches } = finding
  if (typeof text !== 'string' || !Array.isArray(touches)) return []
  return [{ label: typeof label === 'string' ? label : text, text, touches: touches.map(String) }]
}

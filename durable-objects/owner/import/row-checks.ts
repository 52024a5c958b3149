// Checks a row of an archive: the columns and types of its table, and the values that background jobs for all owners
// read. A row that such a job cannot read would stop it for every owner.

import { z } from 'zod'
import { checkedParameters, isAlertType } from '../../../src/alerts/kinds.ts'
import { Notification } from '../../../src/alerts/rule.ts'
import type { ImportedRow, ImportedTable, TableColumn } from '../../../src/db/imports.ts'
import { isSecretSetting, Settings } from '../../../src/db/settings.ts'
import { SchedulePlan, WhenSchema } from '../../../src/schedule/plan.ts'
import { ScreenInput } from '../../../src/screening/filter.ts'
import { formProblem } from './row-forms.ts'

/** Any JSON value. */
const anything = z.unknown().refine((value) => value !== undefined)
const list = z.array(z.unknown())
const texts = z.array(z.string())
const object = z.record(z.string(), z.unknown())
const sentence = z.string().nullable()
/** Texts of a signal that are shown. */
const words = z.looseObject({
  ...{ reason: sentence, catalystSummary: sentence, watchConditions: sentence, riskSummary: sentence },
  invalidation: sentence,
})

/** Columns that hold JSON as text. */
const JSON_COLUMNS: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  analyses: {
    ...{ report: object, skills: list, market_phase_summary: anything, data_checks: anything },
  },
  analysis_snapshots: { context_snapshot: anything, diagnostics: anything },
  decision_signals: { words },
  schedules: { plan: SchedulePlan },
  schedule_runs: { task_ids: texts, left_out: texts },
  page_screenings: { result: anything },
  saved_screens: { screen: ScreenInput, schedule: WhenSchema, channels: texts, members: texts },
  screen_runs: { counts: object, fresh: list },
  alert_rules: { parameters: object, notification: Notification, status: object },
  alert_triggers: { facts: object },
}

/** What is wrong with the row; null when it is valid. */
export function rowProblem(
  table: ImportedTable,
  columns: readonly TableColumn[],
  { row, owner }: { row: ImportedRow; owner: string },
): string | null {
  for (const [name, value] of Object.entries(row)) {
    const column = columns.find((one) => one.name === name)
    if (column === undefined) return `the table has no column ${JSON.stringify(name.slice(0, 64))}`
    if (value === null ? column.isRequired : !fits(column.type, value)) return `${name} is not ${wordOf(column.type)}`
  }
  const missing = columns.find(({ name, isRequired }) => isRequired && !(name in row) && name !== table.random)
  if (missing !== undefined) return `${missing.name} is missing`
  if ('owner' in row && row.owner !== owner) return 'it is a row of another owner than the archive is of'
  return formProblem(table.name, row) ?? jsonProblem(table.name, row) ?? ruleProblem(table.name, row)
}

function fits(type: string, value: string | number): boolean {
  if (type === 'TEXT') return typeof value === 'string'
  return typeof value === 'number' && (type === 'INTEGER' ? Number.isSafeInteger(value) : Number.isFinite(value))
}

const wordOf = (type: string) => (type === 'TEXT' ? 'a text' : type === 'INTEGER' ? 'a whole number' : 'a number')

function jsonProblem(table: string, row: ImportedRow): string | null {
  for (const [column, shape] of Object.entries(JSON_COLUMNS[table] ?? {})) {
    const text = row[column] ?? null
    if (text === null) continue
    if (!shape.safeParse(parsed(String(text))).success) return `${column} is not what is stored there`
  }
  return null
}

/** Undefined when the text is not JSON, which matches no schema. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function ruleProblem(table: string, row: ImportedRow): string | null {
  if (table === 'alert_rules') {
    const { alert_type: type } = row
    if (typeof type !== 'string' || !isAlertType(type)) return 'alert_type is none'
    return checkedParameters(type, parsed(String(row.parameters)) as Record<string, unknown>).ok
      ? null
      : 'parameters are not those of its kind'
  }
  if (table !== 'settings' || row.value === null || row.value === undefined) return null
  const { field, value } = row
  if (field === 'storedAt') return typeof parsed(String(value)) === 'string' ? null : 'storedAt is no time'
  const shape = (Settings.shape as Readonly<Record<string, z.ZodType>>)[String(field)]
  if (shape === undefined) return `there is no setting ${JSON.stringify(String(field).slice(0, 64))}`
  if (isSecretSetting(String(field), value)) return `the setting ${field} is a secret, which no archive has`
  return shape.safeParse(parsed(String(value))).success ? null : `the setting ${field} has no such value`
}

// An owner's rows for an export: without secrets, in batches, ordered by their keys.

import { OWNED_TABLES, type OwnedTable } from './erasures.ts'
import { isSecretSetting } from './settings.ts'

/** Columns that grant access, or that are encrypted with the keys of this service. */
const SECRET_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  secrets: ['value'],
  provider_tokens: ['token'],
  notification_channels: ['sealed'],
  shares: ['token_hash'],
  feedback: ['password_hash'],
}

/** Short-lived rows without a meaning later. */
const PASSING = new Set(['untold_notices', 'channel_tests', 'screening_owners'])
/** Tables with rows of up to some megabytes. */
const LARGE = new Set(['analyses', 'analysis_snapshots', 'page_screenings', 'delivery_parts'])
const LARGE_ROWS = 8
const ROWS = 200

const LEDGER: OwnedTable = { name: 'advice_ledger', key: 'owner, place', whose: 'owner = ?1' }

/** Parents before their children. */
export const EXPORTED_TABLES: readonly OwnedTable[] = [...OWNED_TABLES, LEDGER]
  .filter(({ name }) => !PASSING.has(name))
  .toReversed()

type Row = Record<string, string | number | null>
export type RowPosition = (string | number)[]

/** The rows after a position, as objects without secrets, and the next position; null at the end. */
export async function exportedRows(
  db: D1Database,
  owner: string,
  { table, after }: { table: OwnedTable; after: RowPosition | null },
): Promise<{ rows: Row[]; next: RowPosition | null }> {
  const { name, key, whose } = table
  const keys = key.split(', ')
  const limit = LARGE.has(name) ? LARGE_ROWS : ROWS
  const marks = keys.map((_, at) => `?${at + 2}`).join(', ')
  const behind = after === null ? '' : `AND (${key}) > (${marks})`
  const { results } = await db
    .prepare(`SELECT * FROM ${name} WHERE ${whose} ${behind} ORDER BY ${key} LIMIT ${limit}`)
    .bind(owner, ...(after ?? []))
    .all<Row>()
  const last = results.at(-1)
  const next = last === undefined || results.length < limit ? null : keys.map((column) => last[column] ?? '')
  return { rows: results.map((row) => withoutSecrets(name, row)), next }
}

function withoutSecrets(table: string, row: Row): Row {
  const hidden = SECRET_COLUMNS[table] ?? []
  const shown = Object.fromEntries(Object.entries(row).filter(([column]) => !hidden.includes(column)))
  return table === 'settings' && isSecretSetting(String(row.field), row.value ?? null)
    ? { ...shown, value: null }
    : shown
}

export type SecretToGive = { kind: 'secret' | 'token' | 'channel' | 'setting' | 'key'; name: string }

/** The names of secrets that the export leaves out and the owner must enter again. */
export async function secretsToGive(db: D1Database, owner: string): Promise<SecretToGive[]> {
  const read = async <T>(query: string) => (await db.prepare(query).bind(owner).all<T>()).results
  const named = await read<SecretToGive>(
    `SELECT 'secret' AS kind, name FROM secrets WHERE owner = ?1
     UNION ALL SELECT 'token', provider FROM provider_tokens WHERE owner = ?1
     UNION ALL SELECT 'channel', id FROM notification_channels WHERE owner = ?1
     UNION ALL SELECT 'key', name FROM api_keys WHERE owner = ?1 AND revoked_at IS NULL`,
  )
  const settings = await read<{ field: string; value: string | null }>(
    'SELECT field, value FROM settings WHERE owner = ?',
  )
  const secret = settings.filter(({ field, value }) => value !== null && isSecretSetting(field, value))
  return [...named, ...secret.map(({ field }): SecretToGive => ({ kind: 'setting', name: field }))]
}

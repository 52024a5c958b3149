// A wrong `SECRETS_KEY` cannot decrypt the stored secrets. Otherwise the user would notice this for one secret after the other while they are
// used; this check reports it at the start, with the remedy.

import { DatabaseSync } from 'node:sqlite'
import { sealKeyId } from '../../src/lib/crypto.ts'
import { databaseFile } from './migrations.ts'

/** The columns with encrypted texts, and their names for the user. */
const PLACES = [
  { table: 'secrets', column: 'value', one: 'secret', many: 'secrets' },
  { table: 'provider_tokens', column: 'token', one: 'token of a git provider', many: 'tokens of git providers' },
  { table: 'settings', column: 'value', one: 'key in the settings', many: 'keys in the settings' },
  { table: 'notification_channels', column: 'sealed', one: 'notification channel', many: 'notification channels' },
] as const

type Variables = Readonly<Record<string, string>>

/** A message about the values that the given keys cannot decrypt; null if they can decrypt everything. */
export async function lockedAway(stateDir: string, vars: Variables): Promise<string | null> {
  const file = databaseFile(stateDir)
  if (file === null) return null
  const roots = [vars.SECRETS_KEY, vars.SECRETS_KEY_PREVIOUS].filter((key) => key !== undefined && key !== '')
  const ids = await Promise.all(roots.map((root) => sealKeyId(root ?? '')))
  const found = countsIn(file, ids)
  if (found.length === 0) return null
  return `SECRETS_KEY is not the key that sealed ${found.join(', ')}: these cannot be read any more. Bring that key back (as the file secrets-key in ${stateDir}, or as SECRETS_KEY; beside a new one as SECRETS_KEY_PREVIOUS), or store them anew. Tool servers that were given to single conversations may be among what is lost.`
}

function countsIn(file: string, ids: readonly string[]): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = new Set(
      db
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        .all()
        .map(({ name }) => name),
    )
    return PLACES.filter(({ table }) => tables.has(table)).flatMap(({ table, column, one, many }) => {
      const known = ids.map((id) => `AND ${column} NOT GLOB 'v1.${id}.*'`).join(' ')
      const query = `SELECT COUNT(*) AS count FROM ${table} WHERE ${column} GLOB 'v1.????????.*' ${known}`
      const count = Number(db.prepare(query).get()?.count)
      return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
    })
  } finally {
    db.close()
  }
}

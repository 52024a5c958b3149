// The D1 migrations, recorded in wrangler's own table, so that wrangler and this code recognise each other's folders.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Miniflare } from 'miniflare'
import { Fault } from './fault.ts'
import type { Migration } from './worker-bundle.ts'

type Database = Awaited<ReturnType<Miniflare['getD1Database']>>

const BOOKS = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`

/**
 * Whether the database of this state folder has them all, from its file: before the runtime is there, and in less time than
 * the runtime takes for its first query. False when the file cannot tell, and then the runtime is asked.
 */
export function isMigrated(stateDir: string, migrations: readonly Migration[]): boolean {
  const applied = appliedIn(stateDir)
  return applied !== null && migrations.every(({ name }) => applied.has(name))
}

/** A folder that a newer release has migrated is not changed, because the newer release might not be able to read data of this one. */
export function requireKnownMigrations(stateDir: string, migrations: readonly Migration[]): void {
  const known = new Set<unknown>(migrations.map(({ name }) => name))
  const unknown = [...(appliedIn(stateDir) ?? [])].filter((name) => !known.has(name))
  if (unknown.length === 0) return
  throw new Fault(
    `The state folder ${stateDir} was used by a newer release, whose changes to the database this one does not know: ${unknown.join(', ')}. Start that release, or this one with another folder: BELLWETHER_STATE=<folder> npm start`,
  )
}

/** The applied migrations; null if there is no database yet, or several and ours is unknown. */
function appliedIn(stateDir: string): Set<unknown> | null {
  const file = databaseFile(stateDir)
  return file === null ? null : namesIn(file)
}

/** The file of the database; null if there is none yet, or several and ours is unknown. */
export function databaseFile(stateDir: string): string | null {
  const folder = join(stateDir, 'v3', 'd1', 'miniflare-D1DatabaseObject')
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name)) : []
  const [file] = files
  return file === undefined || files.length > 1 ? null : join(folder, file)
}

function namesIn(file: string): Set<unknown> {
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(file, { readOnly: true })
    return new Set(
      db
        .prepare('SELECT name FROM d1_migrations')
        .all()
        .map(({ name }) => name),
    )
  } catch (error) {
    // No such table yet, or a file that only the runtime can read: it does so, or reports the error.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR') return new Set()
    throw error
  } finally {
    db?.close()
  }
}

/** Applies the missing migrations, each with its record in one transaction. */
export async function applyMigrations(db: Database, migrations: readonly Migration[]): Promise<void> {
  await db.prepare(BOOKS).run()
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>()
  const applied = new Set(results.map(({ name }) => name))
  for (const { name, statements } of migrations) {
    if (applied.has(name)) continue
    const entry = db.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name)
    await db.batch([...statements.map((statement) => db.prepare(statement)), entry])
  }
}

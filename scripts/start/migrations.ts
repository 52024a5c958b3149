// The D1 migrations, in the books that wrangler keeps too, so that a folder made by either is known to the other.

import type { Miniflare } from 'miniflare'
import type { Migration } from './worker-bundle.ts'

type Database = Awaited<ReturnType<Miniflare['getD1Database']>>

const BOOKS = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`

/** Applies what is missing, each migration and its entry in the books in one transaction. */
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

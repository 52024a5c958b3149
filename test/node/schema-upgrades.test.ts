// From every version of every schema that was ever released, with rows in all of its tables: the rest is applied, no row is
// lost or changed, and the schema is that of a new installation. `test/e2e/first-release.test.ts` asks the endpoints about rows of
// the first release, which is older than every migration that changes a table that was there before.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { expect, test } from 'vitest'
import { MIGRATIONS as CONVERSATION } from '../../durable-objects/conversation/schema.ts'
import { MIGRATIONS as OWNER } from '../../durable-objects/owner/schema.ts'
import { MIGRATIONS as TASK_QUEUE } from '../../durable-objects/task-queue/schema.ts'
import { filesIn, textOf } from '../support/source-tree.ts'

type Migration = { readonly name: string; readonly text: string }
type Row = Record<string, SQLInputValue>
type Filled = { readonly table: string; readonly rows: readonly Row[] }

const numbered = (texts: readonly string[]): Migration[] =>
  texts.map((text, at) => ({ name: `version ${at + 1}`, text }))

const DATABASE = filesIn('migrations')
  .filter((path) => path.endsWith('.sql'))
  .toSorted()
  .map((path) => ({ name: path, text: textOf(path) }))

const SCHEMAS: Readonly<Record<string, readonly Migration[]>> = {
  database: DATABASE,
  conversation: numbered(CONVERSATION),
  owner: numbered(OWNER),
  'task queue': numbered(TASK_QUEUE),
}

function apply(db: DatabaseSync, migrations: readonly Migration[]): void {
  for (const { text } of migrations) db.exec(`BEGIN; ${text}\n; COMMIT`)
}

/** Everything that the schema declares, as SQLite keeps it. A table that was altered has its new columns at the end of the text. */
function shapeOf(db: DatabaseSync): unknown {
  const others = db.prepare("SELECT type, name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY type, name").all()
  const tables = tablesOf(db).map(({ name }) => [name, db.prepare('SELECT * FROM pragma_table_xinfo(?)').all(name)])
  return [others, tables]
}

function tablesOf(db: DatabaseSync): { name: string; sql: string }[] {
  const query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY rowid"
  return db.prepare(query).all() as { name: string; sql: string }[]
}

type Column = { name: string; type: string; hidden: number }

/** Two rows in every table, no value of which is in another place; of a table with one row, that row. */
function fill(db: DatabaseSync): Filled[] {
  let count = 1_000
  return tablesOf(db).map(({ name: table, sql }) => {
    const columns = db.prepare('SELECT name, type, hidden FROM pragma_table_xinfo(?)').all(table) as Column[]
    const isSingle = /CHECK \(id = 1\)/.test(sql)
    for (let row = 0; row < (isSingle ? 1 : 2); row += 1) {
      const values = columns
        .filter(({ hidden }) => hidden === 0)
        .map((column) => {
          count += 1
          if (isSingle && column.name === 'id') return 1
          return referredTo(db, table, column.name, row) ?? sample(column.type, count)
        })
      db.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join()})`).run(...values)
    }
    return { table, rows: db.prepare(`SELECT * FROM ${table}`).all() as Row[] }
  })
}

/** The key of the row that a foreign key is to name; null for any other column. */
function referredTo(db: DatabaseSync, table: string, column: string, row: number): SQLInputValue {
  const query = 'SELECT "table" AS parent, "to" AS key FROM pragma_foreign_key_list(?) WHERE "from" = ?'
  const found = db.prepare(query).get(table, column)
  if (found === undefined) return null
  const parents = db.prepare(`SELECT ${found.key} AS key FROM ${found.parent}`).all()
  return parents[row]?.key ?? null
}

function sample(type: string, count: number): SQLInputValue {
  if (type === 'BLOB') return Buffer.from(`价${count}\0`)
  if (type === 'REAL') return count + 0.25
  return type === 'INTEGER' ? count : `价 ${count} 'x'`
}

function upgraded(migrations: readonly Migration[], version: number): { db: DatabaseSync; filled: Filled[] } {
  const db = new DatabaseSync(':memory:')
  db.exec('PRAGMA foreign_keys = ON')
  apply(db, migrations.slice(0, version))
  const filled = fill(db)
  apply(db, migrations.slice(version))
  return { db, filled }
}

test('from every released version no row is lost or changed, and the schema becomes that of a new installation', () => {
  for (const [schema, migrations] of Object.entries(SCHEMAS)) {
    const fresh = new DatabaseSync(':memory:')
    apply(fresh, migrations)
    let rows = 0
    for (const [at, { name }] of migrations.entries()) {
      const { db, filled } = upgraded(migrations, at + 1)
      const place = `${schema}, from ${name}`
      for (const { table, rows: before } of filled) {
        // Columns that came later are beside these.
        const columns = Object.keys(before[0] ?? {}).map((column) => `"${column}"`)
        expect([place, table, db.prepare(`SELECT ${columns.join()} FROM ${table}`).all()]).toEqual([
          place,
          table,
          before,
        ])
        rows += before.length
      }
      expect([place, shapeOf(db)]).toEqual([place, shapeOf(fresh)])
      expect([place, db.prepare('PRAGMA integrity_check').all()]).toEqual([place, [{ integrity_check: 'ok' }]])
      expect([place, db.prepare('PRAGMA foreign_key_check').all()]).toEqual([place, []])
      db.close()
    }
    expect(rows).toBeGreaterThan(tablesOf(fresh).length)
    fresh.close()
  }
})

test('what a row of an older version lacks is a default that every reader knows', () => {
  const { db } = upgraded(DATABASE, DATABASE.findIndex(({ name }) => name.includes('/0015_')) + 1)
  const read = (table: string, column: string) => db.prepare(`SELECT DISTINCT ${column} AS value FROM ${table}`).all()
  const added = DATABASE.flatMap(({ text }) => [...text.matchAll(/^ALTER TABLE (\w+) ADD COLUMN (\w+)/gm)])
  const defaults = added.map(([, table = '', column = '']) => [`${table}.${column}`, read(table, column)[0]?.value])
  expect(Object.fromEntries(defaults)).toEqual({
    'analyses.data_checks': null,
    'watchlists.note': '',
    'watchlist_stocks.note': '',
    'untold_notices.not_before': 0,
    'conversations.agent_state': null,
  })
  db.close()
})

test('an older release finds all that it knows in a database that a newer one has upgraded: nothing is dropped', () => {
  const drops = /\bDROP\s+(TABLE|COLUMN|TRIGGER)\b|\bRENAME\s+(TO|COLUMN)\b/i
  const dropping = Object.values(SCHEMAS).flatMap((migrations) => migrations.filter(({ text }) => drops.test(text)))
  expect(dropping.map(({ name }) => name)).toEqual([])
  // And a row that it writes, without the columns that it does not know, is taken.
  const added = DATABASE.flatMap(({ text }) => [...text.matchAll(/ADD COLUMN (\w+) (.*);/g)])
  const demanding = added.filter(([, , rule = '']) => /NOT NULL/.test(rule) && !/DEFAULT/.test(rule))
  expect([added.length, demanding]).toEqual([5, []])
})

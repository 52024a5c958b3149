// The database that all isolates share, with its real schema: each call goes over the network of the world, and each batch is one
// transaction.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { CoreWorld } from './world.ts'

const FOLDER = join(import.meta.dirname, '../../../migrations')
const SCHEMA = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'))
const GIVES_ROWS = /^\s*(SELECT|WITH)\b|\bRETURNING\b/i

type Result = { results: Record<string, unknown>[]; success: true; meta: { changes: number; last_row_id: number } }

export class Database {
  readonly #db = new DatabaseSync(':memory:')
  readonly #statements = new Map<string, StatementSync>()
  readonly #tables: string[]
  /** Nobody reaches it. */
  isDown = false
  /** A fault that is put into the statements on purpose. */
  rewrite: ((query: string) => string) | null = null

  constructor() {
    for (const sql of SCHEMA) this.#db.exec(sql)
    const names = (where: string) =>
      this.read<{ name: string }>(`SELECT name FROM sqlite_master WHERE ${where}`).map(({ name }) => name)
    // Between two schedules even that is deleted which nobody may delete.
    for (const name of names("type = 'trigger' AND name LIKE '%_no_delete'")) this.#db.exec(`DROP TRIGGER ${name}`)
    this.#tables = names("type = 'table' AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence')")
  }

  close(): void {
    this.#db.close()
  }

  /** As good as new. */
  wipe(): void {
    this.isDown = false
    // In one transaction: each alone costs ten times as much.
    this.#db.exec('BEGIN')
    for (const table of this.#tables) this.#prepared(`DELETE FROM ${table}`).run()
    this.#db.exec('COMMIT')
  }

  /** What is stored, for who looks from outside. */
  read<Row>(query: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(query).all(...values) as Row[]
  }

  /** As the platform gives it. */
  binding(world: CoreWorld): D1Database {
    const ask = <T>(work: () => T) =>
      world.call('db', () => {
        if (this.isDown) throw new Error('D1_ERROR: the database cannot be reached')
        return work()
      })
    const run = (of: Statement) => this.#run(of)
    const batch = (all: Statement[]) => ask(() => this.#together(all))
    const prepare = (query: string) => new Statement(this.rewrite?.(query) ?? query, [], { ask, run })
    return { prepare, batch } as unknown as D1Database
  }

  #together(statements: readonly Statement[]): Result[] {
    this.#db.exec('BEGIN')
    try {
      const results = statements.map((one) => this.#run(one))
      this.#db.exec('COMMIT')
      return results
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }

  #run({ query, values }: Statement): Result {
    const statement = this.#prepared(query)
    if (!GIVES_ROWS.test(query)) {
      const { changes, lastInsertRowid } = statement.run(...values)
      const meta = { changes: Number(changes), last_row_id: Number(lastInsertRowid) }
      return { results: [], success: true, meta }
    }
    const results = statement.all(...values).map((row) => ({ ...row }))
    return { results, success: true, meta: { changes: results.length, last_row_id: 0 } }
  }

  #prepared(query: string): StatementSync {
    const known = this.#statements.get(query) ?? this.#db.prepare(query)
    this.#statements.set(query, known)
    return known
  }
}

type Deps = { ask: <T>(work: () => T) => Promise<T>; run: (statement: Statement) => Result }

class Statement {
  readonly query: string
  readonly values: readonly SQLInputValue[]
  readonly #deps: Deps

  constructor(query: string, values: readonly SQLInputValue[], deps: Deps) {
    this.query = query
    this.values = values
    this.#deps = deps
  }

  bind(...values: unknown[]): Statement {
    const bound = values.map((value) => {
      if (value === undefined) throw new Error('D1_TYPE_ERROR: undefined cannot be bound')
      return typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
    })
    return new Statement(this.query, bound, this.#deps)
  }

  all(): Promise<Result> {
    return this.#deps.ask(() => this.#deps.run(this))
  }

  run(): Promise<Result> {
    return this.all()
  }

  async first(column?: string): Promise<unknown> {
    const [row] = (await this.all()).results
    return row === undefined ? null : column === undefined ? row : row[column]
  }
}

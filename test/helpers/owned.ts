// Generates rows of owners in every store, finds them again, and provides an environment that fails after some calls.

import { env } from 'cloudflare:workers'

export type Row = Record<string, string | number | null>
type Column = { name: string; type: string; pk: number }
/** One table of any store. */
export type Sql = (query: string, ...values: (string | number | null)[]) => Promise<Row[]>

export const database: Sql = async (query, ...values) => {
  const { results } = await env.DB.prepare(query)
    .bind(...values)
    .all<Row>()
  return results
}

export function sqlOf(storage: DurableObjectStorage): Sql {
  return async (query, ...values) => storage.sql.exec(query, ...values).toArray() as Row[]
}

/** Cached, because a schema does not change while a store is read. */
const known = new WeakMap<Sql, Map<string, Row[]>>()

async function once(sql: Sql, query: string): Promise<Row[]> {
  const answers = known.get(sql) ?? new Map<string, Row[]>()
  known.set(sql, answers)
  const answer = answers.get(query) ?? (await sql(query))
  answers.set(query, answer)
  return answer
}

export async function tablesOf(sql: Sql): Promise<string[]> {
  const query = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'
    AND name <> '_schema' ORDER BY rowid`
  return (await once(sql, query)).map(({ name }) => String(name))
}

export const columnsOf = async (sql: Sql, table: string) =>
  (await once(sql, `SELECT name, type, pk FROM pragma_table_info('${table}')`)) as unknown as Column[]

/** The foreign key column of a table. */
const PARENTS: Readonly<Record<string, [table: string, key: string]>> = {
  watchlist_id: ['watchlists', 'id'],
  analysis_id: ['analyses', 'id'],
  rule_id: ['alert_rules', 'id'],
  delivery_id: ['deliveries', 'id'],
  key_id: ['api_keys', 'id'],
  task_id: ['tasks', 'id'],
}
const FAR = 8_000_000_000_000
let numbers = 5_000_000

/** Three rows of the owner in the table. Every text contains the owner's name, and every time is in the far future. */
export async function fill(sql: Sql, owner: string, table: string): Promise<void> {
  const columns = await columnsOf(sql, table)
  const parents = await parentsOf(sql, owner, { table, columns })
  // A row without its parent row would violate the foreign key.
  if (Object.values(parents).some((found) => found.length === 0)) return
  const values = [0, 1, 2].flatMap((row) =>
    columns.map((column) => {
      const found = parents[column.name]
      return found === undefined ? someValue(owner, column) : ((found[row] ?? found[0])?.v ?? null)
    }),
  )
  const names = columns.map(({ name }) => name).join(', ')
  const marks = `(${columns.map(() => '?').join(', ')})`
  await sql(`INSERT OR IGNORE INTO ${table} (${names}) VALUES ${marks}, ${marks}, ${marks}`, ...values)
}

/** The owner's rows that a column of this name can refer to. */
async function parentsOf(
  sql: Sql,
  owner: string,
  { table, columns }: { table: string; columns: readonly Column[] },
): Promise<Record<string, Row[]>> {
  const tables = await tablesOf(sql)
  const found: Record<string, Row[]> = {}
  for (const { name } of columns) {
    const [parent = '', key = ''] = PARENTS[name] ?? []
    if (parent === table || !tables.includes(parent)) continue
    found[name] = await sql(`SELECT ${key} AS v FROM ${parent} WHERE owner = ?`, owner)
  }
  return found
}

function someValue(owner: string, { name, type }: Column): string | number {
  numbers += 1
  if (name === 'owner') return owner
  if (name === 'body') return JSON.stringify({ owner, n: numbers })
  if (/^(until|deadline|stage_until|next_at|completed_at|not_before)$/.test(name)) return FAR
  if (/^(at|noted_at)$/.test(name)) return Date.now()
  // Sockets that use up the limit would block all other sockets.
  if (name === 'sockets') return 1
  return type === 'TEXT' ? `${owner} ${numbers}` : numbers
}

/** Every row in which any value contains the owner's name, by table. */
export async function rowsNaming(sql: Sql, owner: string): Promise<Record<string, Row[]>> {
  const found: Record<string, Row[]> = {}
  for (const table of await tablesOf(sql)) {
    const texts = (await columnsOf(sql, table)).map(({ name }) => `instr("${name}", ?1) > 0`)
    const rows = await sql(`SELECT * FROM "${table}" WHERE ${texts.join(' OR ')}`, owner)
    if (rows.length > 0) found[table] = rows
  }
  return found
}

/** An environment whose calls fail after this number of calls, as if the process had crashed. */
export function mortal(lives: number): Env {
  let left = lives
  const spend = () => {
    left -= 1
    if (left < 0) throw new Error('the process died')
  }
  const calls = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          spend()
          return value.apply(target, given)
        }
      },
    })
  const { DB, FILES, CONVERSATION, TASK_QUEUE } = env
  return {
    ...env,
    DB: calls(DB),
    FILES: calls(FILES),
    CONVERSATION: calls(CONVERSATION),
    TASK_QUEUE: calls(TASK_QUEUE),
  }
}

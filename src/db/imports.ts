// The rows of an archive as they are inserted into the database: under the importing owner's name, with ids that are
// free here. The caller chooses and stores the new ids first, so the same rows can be inserted any number of times and
// exist once.

import { hexId } from '../lib/crypto.ts'

export type ImportedRow = Record<string, string | number | null>

export type ImportedTable = {
  readonly name: string
  /** The autoincrement column. */
  readonly number?: string
  /** A further unique column: unique in the whole service, or for one owner. */
  readonly text?: { readonly column: string; readonly isGlobal: boolean }
  /** Columns that refer to other rows, by id space. A row with a missing `hard` reference is skipped. */
  readonly refs?: Readonly<Record<string, { readonly space: string; readonly isHard: boolean }>>
  /** Values that every row gets, whatever the archive contains. */
  readonly forced?: Readonly<Record<string, string | number | null>>
  /** Required columns that the archive omits; they get a random value. */
  readonly random?: string
}

const soft = (space: string) => ({ space, isHard: false })
const hard = (space: string) => ({ space, isHard: true })

/** The id space of conversations. */
export const CONVERSATION_IDS = 'conversations.id'

/**
 * The tables whose rows are imported, parents first. Rules and schedules are imported disabled: the original service
 * may still run them.
 */
export const IMPORTED_TABLES: readonly ImportedTable[] = [
  { name: 'settings' },
  { name: 'security_preferences' },
  { name: 'model_calls', number: 'id', text: { column: 'key', isGlobal: false } },
  {
    name: 'feedback',
    text: { column: 'id', isGlobal: true },
    refs: { conversation_id: soft(CONVERSATION_IDS) },
    random: 'password_hash',
  },
  { name: 'portfolio_books' },
  { name: 'portfolio_rates' },
  { name: 'portfolio_accounts' },
  { name: 'portfolio_events' },
  { name: 'analyses', number: 'id', text: { column: 'query_id', isGlobal: true } },
  { name: 'analysis_snapshots', refs: { analysis_id: hard('analyses.id') } },
  {
    name: 'decision_signals',
    number: 'id',
    text: { column: 'identity', isGlobal: false },
    refs: { source_report_id: soft('analyses.id'), trace_id: soft('analyses.query_id') },
  },
  { name: 'signal_feedback', refs: { signal_id: hard('decision_signals.id') } },
  { name: 'watchlists', text: { column: 'id', isGlobal: true } },
  { name: 'watchlist_stocks', refs: { watchlist_id: hard('watchlists.id') } },
  { name: 'schedules', text: { column: 'id', isGlobal: true }, forced: { enabled: 0 } },
  { name: 'schedule_runs', refs: { schedule_id: soft('schedules.id') } },
  { name: 'page_screenings', text: { column: 'id', isGlobal: true } },
  { name: 'saved_screens', number: 'id', forced: { enabled: 0 } },
  {
    name: 'screen_runs',
    number: 'id',
    text: { column: 'uid', isGlobal: true },
    refs: { screen_id: soft('saved_screens.id') },
    forced: { streamed: 1 },
  },
  { name: 'alert_rules', number: 'id', forced: { enabled: 0 } },
  {
    name: 'alert_triggers',
    number: 'id',
    text: { column: 'uid', isGlobal: true },
    refs: { rule_id: soft('alert_rules.id') },
    forced: { streamed: 1 },
  },
]

/** Tables whose rows the conversations write themselves. */
export const ROWS_OF_CONVERSATIONS: ReadonlySet<string> = new Set(['conversations', 'chat_sessions'])

export type TableColumn = { name: string; type: string; isRequired: boolean }

export async function columnsOf(db: D1Database, table: string): Promise<TableColumn[]> {
  const query = 'SELECT name, type, "notnull" AS required, pk FROM pragma_table_info(?)'
  const { results } = await db
    .prepare(query)
    .bind(table)
    .all<{ name: string; type: string; required: number; pk: number }>()
  return results.map(({ name, type, required, pk }) => ({ name, type, isRequired: required === 1 || pk > 0 }))
}

/** The map from the archive's ids to the ids here, by id space. */
export type IdMap = {
  get(space: string, old: string): string | null
  /** Stores all of them in one write. */
  put(ids: readonly { space: string; old: string; id: string }[]): void
  drop(space: string, olds: readonly string[]): void
}

type Landing = { owner: string; table: ImportedTable; ids: IdMap }

/**
 * An id is kept if it is free, but not if it is higher than the newest by more than this: it would use up numbers for
 * all owners.
 */
const MOST_AHEAD = 1_000_000

/**
 * Stores the rows; returns how many were skipped because what they belong to does not exist. If it throws, the caller
 * repeats it.
 */
export async function landRows(db: D1Database, rows: readonly ImportedRow[], by: Landing): Promise<number> {
  const linked = rows.flatMap((row) => linkedRow(row, by))
  await chooseIds(db, linked, by)
  const landed = await Promise.all(linked.map((row) => placedRow(row, by)))
  if (landed.length > 0) await db.batch(landed.map((row) => insertion(db, by.table, row)))
  await confirm(db, linked, by)
  return rows.length - linked.length
}

/** The row with the importing owner's name and with mapped references; empty if it belongs to a missing row. */
function linkedRow(row: ImportedRow, { owner, table, ids }: Landing): ImportedRow[] {
  const linked: ImportedRow = {
    ...withGroups(row, table.name, ids),
    ...('owner' in row ? { owner } : {}),
    ...table.forced,
  }
  for (const [column, { space, isHard }] of Object.entries(table.refs ?? {})) {
    const value = row[column] ?? null
    if (value === null) continue
    const known = ids.get(space, String(value))
    if (known === null && isHard) return []
    // A reference to nothing of this owner must not refer to data of another owner.
    if (known === null) linked[column] = typeof value === 'number' ? -Math.abs(value) : strangeId(value, space, ids)
    else linked[column] = typeof value === 'number' ? Number(known) : known
  }
  const { identity } = linked
  if (table.name === 'decision_signals' && identity === `report:${row.source_report_id}`) {
    linked.identity = `report:${linked.source_report_id}`
  }
  return [linked]
}

const GROUPS = 'watchlists.id'

/** Maps the group ids inside columns that contain other data, too. */
function withGroups(row: ImportedRow, table: string, ids: IdMap): ImportedRow {
  const here = (id: string) => ids.get(GROUPS, id) ?? strangeId(id, GROUPS, ids)
  if (table === 'alert_rules' && row.target_scope === 'watchlist' && row.target !== 'default')
    return { ...row, target: here(String(row.target)) }
  if (table !== 'schedules') return row
  const plan = JSON.parse(String(row.plan)) as { what: { watchlist_id?: string | null } }
  const { what } = plan
  if (what.watchlist_id === undefined || what.watchlist_id === null) return row
  return { ...row, plan: JSON.stringify({ ...plan, what: { ...what, watchlist_id: here(what.watchlist_id) } }) }
}

/**
 * A new id for a reference to a deleted group or schedule: such ids are unique in the whole service, so the old one may
 * belong to somebody else.
 */
function strangeId(value: string, space: string, ids: IdMap): string {
  if (space !== 'schedules.id' && space !== GROUPS) return value
  const id = hexId()
  ids.put([{ space, old: value, id }])
  return id
}

const numberSpace = (table: ImportedTable) => `${table.name}.${table.number}`
const textSpace = (table: ImportedTable) => `${table.name}.${table.text?.column}`

type RowOwner = { owner: string; n: number | null; t: string | null }

async function knownRows(db: D1Database, rows: readonly ImportedRow[], { owner, table }: Landing): Promise<RowOwner[]> {
  const { number, text } = table
  const values = (column: string | undefined) =>
    JSON.stringify(column === undefined ? [] : rows.map((row) => row[column] ?? null))
  const conditions = [
    ...(number === undefined ? [] : [`${number} IN (SELECT value FROM json_each(?1))`]),
    ...(text === undefined
      ? []
      : [`(${text.column} IN (SELECT value FROM json_each(?2)) ${text.isGlobal ? '' : 'AND owner = ?3'})`]),
  ]
  const query = `SELECT owner, ${number ?? 'NULL'} AS n, ${text?.column ?? 'NULL'} AS t FROM ${table.name}
    WHERE (${conditions.join(' OR ')}) AND ?1 NOTNULL AND ?2 NOTNULL AND ?3 NOTNULL`
  const { results } = await db.prepare(query).bind(values(number), values(text?.column), owner).all<RowOwner>()
  return results
}

/** Chooses and stores the ids of rows that have none yet. */
async function chooseIds(db: D1Database, rows: readonly ImportedRow[], by: Landing): Promise<void> {
  const { table, ids, owner } = by
  const { number, text } = table
  if (number === undefined && text === undefined) return
  const isNew = (row: ImportedRow) =>
    number === undefined
      ? ids.get(textSpace(table), String(row[text?.column ?? ''])) === null
      : ids.get(numberSpace(table), String(row[number])) === null
  const fresh = rows.filter(isNew)
  if (fresh.length === 0) return
  const known = await knownRows(db, fresh, by)
  const numbers = number === undefined ? null : await freeNumbers(db, { table, known })
  const chosen = fresh.flatMap((row) => {
    const found: { space: string; old: string; id: string }[] = []
    const same = text === undefined ? undefined : known.find(({ t }) => t === row[text.column])
    const isOwn = same?.owner === owner
    if (text !== undefined) {
      const old = String(row[text.column])
      found.push({ space: textSpace(table), old, id: same === undefined || isOwn ? old : hexId() })
    }
    if (number !== undefined && numbers !== null) {
      const id = isOwn && same.n !== null ? same.n : numbers(Number(row[number]))
      found.push({ space: numberSpace(table), old: String(row[number]), id: String(id) })
    }
    return found
  })
  ids.put(chosen)
}

/** Keeps a number if it is free, else assigns the next free one. */
async function freeNumbers(
  db: D1Database,
  { table, known }: { table: ImportedTable; known: readonly RowOwner[] },
): Promise<(wanted: number) => number> {
  const query = `SELECT max(coalesce((SELECT max(${table.number}) FROM ${table.name}), 0),
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)) AS top`
  const top = (await db.prepare(query).bind(table.name).first<{ top: number }>())?.top ?? 0
  const taken = new Set(known.map(({ n }) => n))
  let next = top
  return (wanted) => {
    const isKept = wanted >= 1 && wanted <= top + MOST_AHEAD && !taken.has(wanted)
    if (!isKept)
      do next += 1
      while (taken.has(next))
    const id = isKept ? wanted : next
    taken.add(id)
    return id
  }
}

async function placedRow(row: ImportedRow, { table, ids }: Landing): Promise<ImportedRow> {
  const { number, text, random } = table
  const placed = { ...row }
  if (number !== undefined) placed[number] = Number(ids.get(numberSpace(table), String(row[number])))
  if (text !== undefined) placed[text.column] = ids.get(textSpace(table), String(row[text.column]))
  if (random !== undefined) placed[random] = `${hexId()}${hexId()}`
  return placed
}

function insertion(db: D1Database, table: ImportedTable, row: ImportedRow): D1PreparedStatement {
  const columns = Object.keys(row)
  const marks = columns.map(() => '?').join(', ')
  const values = Object.values(row)
  // The column names are safe: an earlier check allowed only those of the table.
  if (table.name === 'watchlists') return watchlistInsertion(db, row)
  // Later entries get numbers after those of the archive.
  const isBook = table.name === 'portfolio_books'
  const known = 'ON CONFLICT (owner) DO UPDATE SET version = version + 1, next_id = max(next_id, excluded.next_id)'
  const verb = isBook ? 'INSERT' : 'INSERT OR IGNORE'
  return db
    .prepare(`${verb} INTO ${table.name} (${columns.join(', ')}) VALUES (${marks}) ${isBook ? known : ''}`)
    .bind(...values)
}

/** A group whose name the owner already uses gets a longer name; there is only one default group. */
function watchlistInsertion(db: D1Database, row: ImportedRow): D1PreparedStatement {
  return db
    .prepare(
      `INSERT OR IGNORE INTO watchlists (id, owner, name, is_default, place, created_at, note) SELECT ?1, ?2,
         CASE WHEN EXISTS (SELECT 1 FROM watchlists WHERE owner = ?2 AND name = ?3 AND id <> ?1)
           THEN ?3 || ' (' || substr(?1, 1, 8) || ')' ELSE ?3 END,
         CASE WHEN EXISTS (SELECT 1 FROM watchlists WHERE owner = ?2 AND is_default = 1) THEN 0 ELSE ?4 END, ?5, ?6, ?7`,
    )
    .bind(
      ...[row.id ?? null, row.owner ?? null, row.name ?? null, row.is_default ?? 0],
      ...[row.place ?? 0, row.created_at ?? null, row.note ?? ''],
    )
}

/** Checks that the rows exist under their ids. If another row took a number meanwhile, new ids are chosen. */
async function confirm(db: D1Database, rows: readonly ImportedRow[], { owner, table, ids }: Landing): Promise<void> {
  const { number, text } = table
  if (number === undefined || rows.length === 0) return
  const told = text?.column ?? 'created_at'
  const wanted = rows.map((row) => ({
    old: String(row[number]),
    id: Number(ids.get(numberSpace(table), String(row[number]))),
    told: text === undefined ? row[told] : ids.get(textSpace(table), String(row[told])),
  }))
  const { results } = await db
    .prepare(
      `SELECT ${number} AS id, ${told} AS told FROM ${table.name}
       WHERE owner = ?1 AND ${number} IN (SELECT value FROM json_each(?2))`,
    )
    .bind(owner, JSON.stringify(wanted.map(({ id }) => id)))
    .all<{ id: number; told: string }>()
  const lost = wanted.filter((one) => !results.some(({ id, told }) => id === one.id && told === one.told))
  if (lost.length === 0) return
  ids.drop(
    numberSpace(table),
    lost.map(({ old }) => old),
  )
  throw new Error(`${lost.length} rows of ${table.name} lost their numbers to others`)
}

/** Whether the owner has booked anything: two portfolios are never merged. */
export async function hasPortfolio(db: D1Database, owner: string): Promise<boolean> {
  const query = `SELECT 1 FROM portfolio_accounts WHERE owner = ?1 UNION ALL SELECT 1 FROM portfolio_events WHERE owner = ?1 LIMIT 1`
  return (await db.prepare(query).bind(owner).first()) !== null
}

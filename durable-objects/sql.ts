// Schema and row helpers over an object's SQLite. Everything here is synchronous, as the storage is.

export type SqlValue = string | number | null | ArrayBuffer

/**
 * Brings the schema up to date: runs each migration once, in order. Migrations are append-only; the number already
 * applied is kept in `_schema`. One transaction, so that a crash leaves the old schema or the new one.
 */
export function migrate(storage: DurableObjectStorage, migrations: readonly string[]): void {
  const { sql } = storage
  // A single statement on the hot path: if the schema is up to date, only its version is read and nothing is written.
  const known = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_schema'").toArray().length > 0
  const version = known ? Number(sql.exec('SELECT version FROM _schema').one().version) : 0
  if (version > migrations.length) {
    // A newer release wrote this schema, and this release cannot read it. The Worker recognises the error by its first
    // words.
    const text = `This was stored by a newer release (version ${version}; this one knows ${migrations.length}). Start that release`
    throw new Error(text)
  }
  if (version === migrations.length) return
  storage.transactionSync(() => {
    for (const migration of migrations.slice(version)) sql.exec(migration)
    if (known) sql.exec('UPDATE _schema SET version = ?', migrations.length)
    else sql.exec(`CREATE TABLE _schema (version INTEGER NOT NULL); INSERT INTO _schema VALUES (${migrations.length})`)
  })
}

/** All rows of a query, as plain objects of the given type. */
export function rows<Row>(sql: SqlStorage, query: string, ...bindings: SqlValue[]): Row[] {
  return sql.exec(query, ...bindings).toArray() as Row[]
}

/** The first row of a query, or null. */
export function firstRow<Row>(sql: SqlStorage, query: string, ...bindings: SqlValue[]): Row | null {
  return (rows<Row>(sql, query, ...bindings)[0] ?? null) as Row | null
}

export function isStorageFull(error: unknown): boolean {
  return error instanceof Error && /SQLITE_FULL|database or disk is full/.test(error.message)
}

/**
 * The storage of an object that may be emptied while it lives: the first statement after that creates the schema again.
 */
export function emptiable(
  storage: DurableObjectStorage,
  migrations: readonly string[],
): { storage: DurableObjectStorage; empty: () => Promise<void> } {
  migrate(storage, migrations)
  let isEmpty = false
  const sql = new Proxy(storage.sql, {
    get: (target, name) => {
      if (isEmpty) migrate(storage, migrations)
      isEmpty = false
      return boundTo(target, name)
    },
  })
  return {
    storage: new Proxy(storage, { get: (target, name) => (name === 'sql' ? sql : boundTo(target, name)) }),
    // Both deletions start at once, so data that is stored afterwards stays.
    empty: async () => {
      isEmpty = true
      await Promise.all([storage.deleteAlarm(), storage.deleteAll()])
    },
  }
}

/** Methods of runtime objects must be called with these as `this`. */
function boundTo<T extends object>(target: T, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target)
  return typeof value === 'function' ? value.bind(target) : value
}

import { runInDurableObject } from 'cloudflare:test'

/** Counts the rows that an object writes from now on, including rows of its indexes. */
export async function countRows(stub: DurableObjectStub): Promise<() => number> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  await runInDurableObject(stub, (_, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql)
    const counted = (query: string, ...bindings: SqlStorageValue[]) => {
      const cursor = exec(query, ...bindings)
      cursors.push(cursor)
      return cursor
    }
    Object.defineProperty(storage.sql, 'exec', { value: counted, configurable: true })
  })
  let settled = 0
  return () => {
    for (const { rowsWritten } of cursors.splice(0)) settled += rowsWritten
    return settled
  }
}

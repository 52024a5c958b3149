import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { WORKSPACE_TABLES } from '../../../durable-objects/conversation/schema.ts'
import { WorkspaceStore, type WorkspaceStoreDeps } from '../../../durable-objects/conversation/workspace/store.ts'
import { joinBytes } from '../../../src/lib/bytes.ts'

type Options = Partial<Omit<WorkspaceStoreDeps, 'storage' | 'prefix'>> & {
  /** Stands between the store and its storage. */
  around?: (storage: DurableObjectStorage) => DurableObjectStorage
}

/** A workspace in an object of its own. `use` opens it afresh each time, as a request after an eviction would. */
export function openStore(name: string, options: Options = {}) {
  const id = `${name}-${crypto.randomUUID()}`
  const stub = env.CONVERSATION.get(env.CONVERSATION.idFromName(id))
  const prefix = `test/${id}/`
  return {
    prefix,
    /** An empty workspace again: a new object for each of many rounds would make every next one slower. */
    reset: () =>
      runInDurableObject(stub, (_object, { storage }) => {
        for (const table of ['nodes', 'chunks', 'garbage', 'packed', 'packed_total'])
          storage.sql.exec(`DROP TABLE IF EXISTS workspace_${table}`)
      }),
    evict: () => evictDurableObject(stub),
    use: <T>(work: (store: WorkspaceStore, storage: DurableObjectStorage) => Promise<T>): Promise<T> =>
      runInDurableObject(stub, (_object, { storage }) => {
        const { around = (plain) => plain, bucket = env.FILES, ...rest } = options
        const made = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'workspace_nodes'").toArray()
        if (made.length === 0) storage.sql.exec(WORKSPACE_TABLES)
        return work(new WorkspaceStore({ storage: around(storage), bucket, prefix, ...rest }), storage)
      }),
    objects: async () => (await env.FILES.list({ prefix })).objects.map(({ key, size }) => ({ key, size })),
  }
}

export const bytes = (text: string) => new TextEncoder().encode(text)
export const text = (content: Uint8Array) => new TextDecoder().decode(content)

/** The comparison of the test library takes seconds for a megabyte. */
export const same = (a: Uint8Array, b: Uint8Array) =>
  a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i])

/** Bytes that repeat only after a prime number of them, so that parts in the wrong order are seen. */
export function pattern(length: number, seed = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 7 + seed + Math.floor(i / 251)) & 0xff)
}

/** As they come over a network: in pieces that say nothing about the whole. */
export async function* inPieces(whole: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < whole.byteLength; from += size) yield whole.slice(from, from + size)
}

/** Every part is copied before the next is asked for, which may overwrite it. */
export async function wholeOf(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const copies: Uint8Array[] = []
  for await (const part of parts) copies.push(part.slice())
  return joinBytes(copies)
}

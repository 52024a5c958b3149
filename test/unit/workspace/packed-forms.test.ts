import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { PackedForms } from '../../../durable-objects/conversation/workspace/packed-forms.ts'
import type { WorkspaceStore } from '../../../durable-objects/conversation/workspace/store.ts'
import { setLogLevel } from '../../../src/lib/log.ts'
import { zipFolder } from '../../../src/workspace/archive.ts'
import type { FileSystem } from '../../../src/workspace/file-system.ts'
import { bytes, inPieces, openStore, pattern, same, wholeOf } from './open-store.ts'

setLogLevel('silent')

async function archiveOf(fs: FileSystem): Promise<Uint8Array> {
  return wholeOf(
    (await zipFolder(fs, '/workspace', new AbortController().signal)) as unknown as AsyncIterable<Uint8Array>,
  )
}

/** The same files through a tree that keeps nothing. */
function keepingNothing(store: WorkspaceStore): FileSystem {
  return new Proxy<FileSystem>(store, {
    get: (target, name) => {
      if (name === 'scan') return (path: string) => target.scan(path)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The names of what a scan packs anew. */
function packedAnew(store: WorkspaceStore): string[] {
  const names: string[] = []
  const pack = (name: string, { byteLength }: Uint8Array) => {
    names.push(name)
    return { crc: 0, sizeBytes: byteLength, deflated: null }
  }
  for (const _ of store.scan('/workspace', pack));
  return names
}

const kept = (storage: DurableObjectStorage) =>
  storage.sql.exec('SELECT coalesce(sum(length(bytes)), 0) AS bytes, count(*) AS files FROM workspace_packed').one()
const told = (storage: DurableObjectStorage) => storage.sql.exec('SELECT bytes FROM workspace_packed_total').one().bytes

test('what a download packed is kept until the file changes, over an eviction, and goes with the file', async () => {
  const { use, evict } = openStore('packed')
  const first = await use(async (store) => {
    await store.write('/workspace/a.txt', pattern(5_000))
    await store.write('/workspace/b.txt', pattern(6_000))
    await store.write('/workspace/noise.bin', crypto.getRandomValues(new Uint8Array(2_000)))
    await store.write('/workspace/empty', bytes(''))
    await store.write('/workspace/two-chunks', pattern(200_000))
    await store.write('/workspace/in-parts', pattern(300_000))
    store.symlink('a.txt', '/workspace/link')
    return archiveOf(store)
  })
  await evict()
  await use(async (store, storage) => {
    expect(packedAnew(store)).toEqual([])
    expect(same(await archiveOf(store), first)).toBe(true)
    expect(kept(storage)).toEqual({ bytes: told(storage), files: 4 })
    // Neither the place of a file nor its mode and time are part of what it holds.
    store.rename('/workspace/a.txt', '/workspace/c.txt')
    store.chmod('/workspace/b.txt', 0o755)
    expect(packedAnew(store)).toEqual([])
    await store.append('/workspace/b.txt', bytes('x'))
    await store.write('/workspace/c.txt', pattern(5_000, 1))
    store.remove('/workspace/noise.bin')
    // It takes the inode that is free.
    await store.write('/workspace/noise2.bin', pattern(2_000))
    expect(same(await archiveOf(store), await archiveOf(keepingNothing(store)))).toBe(true)
    expect(packedAnew(store)).toEqual([])
    expect(kept(storage)).toEqual({ bytes: told(storage), files: 4 })
    for (const { name } of store.list('/workspace')) store.remove(`/workspace/${name}`)
    expect([kept(storage), told(storage)]).toEqual([{ bytes: 0, files: 0 }, 0])
  })
})

function outOfRoom(): never {
  throw new Error('database or disk is full: SQLITE_FULL')
}

const NAMES = ['a', 'b', 'd/c'] as const
const place = fc.constantFrom(...NAMES).map((name) => `/workspace/${name}`)
const contents = fc.constantFrom(pattern(0), pattern(300), pattern(300, 5), pattern(900), pattern(1_200))
const change = fc.oneof(
  fc.record({ how: fc.constant('write' as const), path: place, contents }),
  fc.record({ how: fc.constant('append' as const), path: place, contents }),
  fc.record({ how: fc.constant('stage' as const), path: place, contents }),
  fc.record({ how: fc.constant('remove' as const), path: place, contents }),
  fc.record({ how: fc.constant('move' as const), path: place, contents }),
  fc.record({ how: fc.constant('download' as const), path: place, contents }),
)

test('whatever happens between downloads, an archive is what it would be without what is kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 8, maxLength: 40 }), async (changes) => {
      const { use, evict } = openStore('packed-changes', { spillThresholdBytes: 1_000 })
      await use(async (store) => store.makeDirectory('/workspace/d'))
      for (const some of [changes.slice(0, 20), changes.slice(20)]) {
        await use(async (store) => {
          for (const { how, path, contents: content } of some) {
            if (how === 'write') await store.write(path, content)
            else if (how === 'append') await store.append(path, content)
            else if (how === 'stage') (await store.stage(inPieces(content, 200))).place(path)
            else if (how === 'remove') store.exists(path) && store.remove(path)
            else if (how === 'move') store.exists(path) && store.rename(path, '/workspace/a')
            else expect(same(await archiveOf(store), await archiveOf(keepingNothing(store)))).toBe(true)
          }
          expect(same(await archiveOf(store), await archiveOf(keepingNothing(store)))).toBe(true)
        })
        await evict()
      }
    }),
    { numRuns: inject('isProof') ? 200 : 25 },
  )
})

test('no more is kept than may be, and a full disk leaves the download whole', async () => {
  const { use } = openStore('packed-bound')
  await use(async (store, storage) => {
    await store.write('/workspace/a', pattern(100))
    const { inode } = store.stat('/workspace/a')
    const forms = new PackedForms(storage, { maxKeptBytes: 1_000 })
    const form = (size: number) => ({ crc: 1, sizeBytes: 100, deflated: pattern(size) })
    forms.keep([
      { inode, packed: form(700) },
      { inode: 900, packed: form(301) },
    ])
    forms.keep([{ inode: 901, packed: form(300) }])
    forms.keep([{ inode: 902, packed: form(1) }])
    expect([kept(storage), told(storage)]).toEqual([{ bytes: 1_000, files: 2 }, 1_000])
    expect(forms.of([inode, 900])).toEqual(new Map([[inode, form(700)]]))
  })
  const full = openStore('packed-full', {
    around: (storage) =>
      new Proxy(storage, {
        get: (target, name) => {
          if (name === 'transactionSync' && isFull) return outOfRoom
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }),
  })
  let isFull = false
  await full.use(async (store) => {
    await store.write('/workspace/a', pattern(5_000))
    isFull = true
    expect(same(await archiveOf(store), await archiveOf(keepingNothing(store)))).toBe(true)
  })
})

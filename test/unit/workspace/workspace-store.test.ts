import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { WorkspaceStore } from '../../../durable-objects/conversation/workspace/store.ts'
import { setLogLevel } from '../../../src/lib/log.ts'
import { isFileError } from '../../../src/workspace/file-system.ts'
import { bytes, inPieces, openStore, pattern, same, text, wholeOf } from './open-store.ts'

const MEBIBYTE = 1024 * 1024

setLogLevel('silent')

const codeOf = (error: unknown) => (isFileError(error) ? error.code : error)

test('a large file goes to R2, survives an eviction, moves with its folder, and leaves nothing there when it goes', async () => {
  const { use, evict, objects } = openStore('spill')
  const large = pattern(3 * MEBIBYTE)
  const rewritten = pattern(2 * MEBIBYTE, 9)
  await use(async (store) => {
    store.makeDirectory('/workspace/data/raw', { recursive: true })
    await store.write('/workspace/data/raw/large.bin', large)
    await store.write('/workspace/data/raw/small.txt', bytes('small'))
  })
  expect(await objects()).toEqual([expect.objectContaining({ size: 3 * MEBIBYTE })])

  await evict()
  await use(async (store) => {
    expect(same(await store.read('/workspace/data/raw/large.bin'), large)).toBe(true)
    expect(store.stat('/workspace/data/raw/large.bin')).toMatchObject({
      kind: 'file',
      sizeBytes: 3 * MEBIBYTE,
      mode: 0o644,
    })
    store.rename('/workspace/data', '/workspace/archive')
    await expect(store.read('/workspace/data/raw/large.bin')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(text(await store.read('/workspace/archive/raw/small.txt'))).toBe('small')
    await store.write('/workspace/archive/raw/large.bin', rewritten)
    expect(same(await store.read('/workspace/archive/raw/large.bin'), rewritten)).toBe(true)
  })
  expect(await objects()).toEqual([expect.objectContaining({ size: 2 * MEBIBYTE })])

  await use(async (store, storage) => {
    store.remove('/workspace/archive', { recursive: true })
    expect(() => store.list('/workspace/archive')).toThrow('ENOENT')
    await store.sweep()
    expect(storage.sql.exec('SELECT * FROM workspace_chunks').toArray()).toEqual([])
  })
  expect(await objects()).toEqual([])
})

test('what is appended through a link counts with the file behind it', async () => {
  const limits = { maxFileBytes: 100, maxTotalBytes: 1000, maxFiles: 8 }
  const { use } = openStore('append-link', { limits })
  await use(async (store) => {
    await store.write('/workspace/log', pattern(90))
    store.symlink('log', '/workspace/latest')
    await expect(store.append('/workspace/latest', pattern(11))).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(store.stat('/workspace/log').sizeBytes).toBe(90)
    await store.append('/workspace/latest', pattern(10))
    expect(store.stat('/workspace/log').sizeBytes).toBe(100)
    expect(store.lstat('/workspace/latest').kind).toBe('symlink')
  })
})

test('a file as large as the threshold stays in rows, and one byte more makes an object of it', async () => {
  const { use, objects } = openStore('threshold', { spillThresholdBytes: 1000 })
  await use((store) => store.write('/workspace/rows', pattern(1000)))
  expect(await objects()).toEqual([])
  await use((store) => store.write('/workspace/object', pattern(1001)))
  expect(await objects()).toHaveLength(1)
  await use(async (store) => {
    expect(await store.read('/workspace/rows')).toEqual(pattern(1000))
    expect(await store.read('/workspace/object')).toEqual(pattern(1001))
  })
})

test('a file written line by line, past the threshold and with bytes of every value, reads back whole', async () => {
  const { use, evict, objects } = openStore('append', { spillThresholdBytes: 200_000 })
  const line = pattern(1499)
  const expected = new Uint8Array(400 * line.length)
  for (let i = 0; i < 400; i++) expected.set(line, i * line.length)
  for (const half of [0, 1]) {
    await use(async (store, storage) => {
      for (let i = 0; i < 200; i++) await store.append('/workspace/app.log', line)
      const [largest] = storage.sql.exec('SELECT MAX(length(bytes)) AS size FROM workspace_chunks').toArray()
      expect(Number(largest?.size)).toBeLessThanOrEqual(MEBIBYTE)
      expect(same(await store.read('/workspace/app.log'), expected.subarray(0, (half + 1) * 200 * line.length))).toBe(
        true,
      )
    })
    await evict()
  }
  expect((await objects()).length).toBe(1)
})

test('appends made while a file is on its way to R2 are neither lost nor doubled', async () => {
  const slow = faultyBucket({
    put: async (key, value) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return env.FILES.put(key, value)
    },
  })
  const { use, objects } = openStore('compaction', { spillThresholdBytes: 1000, bucket: slow })
  await use(async (store) => {
    const lines = Array.from({ length: 60 }, (_, i) => bytes(`${i}`.padEnd(100, '.')))
    await Promise.all(
      lines.map(async (line, i) => {
        await new Promise((resolve) => setTimeout(resolve, i * 2))
        await store.append('/workspace/log', line)
      }),
    )
    expect(text(await store.read('/workspace/log'))).toBe(lines.map(text).join(''))
    await store.write('/workspace/log', pattern(5000))
    const [replaced] = await Promise.all([
      store.write('/workspace/log', pattern(3000, 5)),
      store.append('/workspace/log', bytes('x')),
    ])
    expect(replaced).toBeUndefined()
    await store.sweep()
  })
  expect((await objects()).length).toBe(1)
})

test('large files written at the same time all arrive, and the last of two for one name stays', async () => {
  const { use, objects } = openStore('parallel')
  await use(async (store) => {
    const files = Array.from({ length: 6 }, (_, i) => pattern(1_200_000 + i, i))
    await Promise.all(files.map((content, i) => store.write(`/workspace/${i}.bin`, content)))
    for (const [i, content] of files.entries())
      expect(same(await store.read(`/workspace/${i}.bin`), content)).toBe(true)
    await Promise.all([
      store.write('/workspace/0.bin', pattern(2_000_000)),
      store.write('/workspace/0.bin', pattern(1_500_000)),
    ])
    expect([2_000_000, 1_500_000]).toContain((await store.read('/workspace/0.bin')).byteLength)
    await store.sweep()
  })
  expect((await objects()).length).toBe(6)
})

test('when R2 fails the write is refused with EIO, the old file stays, and what was left there is deleted later', async () => {
  let failing = new Set<string>()
  const bucket = faultyBucket({
    put: (key, value) => (failing.has('put') ? Promise.reject(new Error('R2 is down')) : env.FILES.put(key, value)),
    get: (key) => (failing.has('get') ? Promise.reject(new Error('R2 is down')) : env.FILES.get(key)),
    delete: (keys) => (failing.has('delete') ? Promise.reject(new Error('R2 is down')) : env.FILES.delete(keys)),
  })
  const { use, objects } = openStore('r2-down', { bucket })
  await use(async (store) => {
    await store.write('/workspace/f', pattern(1_100_000))
    failing = new Set(['put'])
    await expect(store.write('/workspace/f', pattern(1_200_000))).rejects.toSatisfy((error) => codeOf(error) === 'EIO')
    expect((await store.read('/workspace/f')).byteLength).toBe(1_100_000)
    failing = new Set(['get'])
    await expect(store.read('/workspace/f')).rejects.toSatisfy((error) => codeOf(error) === 'EIO')
    failing = new Set(['delete'])
    await store.write('/workspace/f', bytes('small now'))
    expect(text(await store.read('/workspace/f'))).toBe('small now')
    expect((await objects()).length).toBe(1)
    failing = new Set()
    await store.sweep()
  })
  expect(await objects()).toEqual([])
})

test('contents that are staged become files of any size in one step, and leave nothing behind otherwise', async () => {
  const { use, evict, objects } = openStore('staging')
  const large = pattern(12 * MEBIBYTE + 5)
  await use(async (store, { sql }) => {
    const small = await store.stage(inPieces(bytes('small'), 2))
    const huge = await store.stage(inPieces(large, 700_001))
    const dropped = await store.stage(inPieces(pattern(2 * MEBIBYTE), 65_536))
    expect([small.sizeBytes, huge.sizeBytes]).toEqual([5, large.length])
    expect(store.list('/workspace')).toEqual([])
    small.place('/workspace/small', 0o755)
    huge.place('/workspace/small')
    expect(() => dropped.place('/workspace')).toThrow('EISDIR')
    for (const staged of [small, huge, dropped]) staged.release()
    expect(same(await wholeOf(store.readParts('/workspace/small')), large)).toBe(true)
    expect(store.lstat('/workspace/small')).toMatchObject({ sizeBytes: large.length, mode: 0o755 })
    await store.sweep()
    expect(sql.exec('SELECT * FROM workspace_chunks').toArray()).toEqual([])
    // An eviction comes before these are placed or released.
    await store.stage(inPieces(bytes('forgotten'), 9))
    await store.stage(inPieces(pattern(2 * MEBIBYTE), 65_536))
  })
  await evict()
  await use(async (store, { sql }) => {
    ;(await store.stage(inPieces(bytes('next'), 4))).release()
    await store.sweep()
    expect(sql.exec('SELECT * FROM workspace_chunks').toArray()).toEqual([])
    expect(same(await store.read('/workspace/small'), large)).toBe(true)
  })
  expect(await objects()).toEqual([expect.objectContaining({ size: large.length })])
})

test('a folder has the time at which its entries changed last, the first ones that of the creation', async () => {
  const before = Date.now() - 1000
  const { use } = openStore('times')
  await use(async (store) => {
    for (const path of ['/', '/workspace', '/tmp', '/home/user']) {
      expect(store.stat(path).mtimeMs).toBeGreaterThanOrEqual(before)
    }
    store.makeDirectory('/workspace/a')
    store.makeDirectory('/workspace/b')
    const staged = await store.stage(inPieces(bytes('x'), 1))
    const changes: [does: () => unknown, touched: string[]][] = [
      [() => store.write('/workspace/a/f', bytes('1')), ['/workspace/a']],
      [() => store.write('/workspace/a/f', bytes('2')), []],
      [() => store.append('/workspace/a/f', bytes('3')), []],
      [() => store.chmod('/workspace/a/f', 0o600), []],
      [() => store.rename('/workspace/a/f', '/workspace/a/g'), ['/workspace/a']],
      [() => store.rename('/workspace/a/g', '/workspace/b/g'), ['/workspace/a', '/workspace/b']],
      [() => store.symlink('g', '/workspace/b/l'), ['/workspace/b']],
      [() => store.makeDirectory('/workspace/b/d'), ['/workspace/b']],
      [() => staged.place('/workspace/b/d/s'), ['/workspace/b/d']],
      [() => store.remove('/workspace/b/d', { recursive: true }), ['/workspace/b']],
      [() => store.rename('/workspace/b', '/workspace/a/b'), ['/workspace', '/workspace/a']],
    ]
    const folders = ['/workspace', '/workspace/a', '/workspace/b', '/workspace/b/d']
    const times = () =>
      new Map(folders.flatMap((path) => (exists(store, path) ? [[path, store.stat(path).mtimeMs]] : [])))
    for (const [change, touched] of changes) {
      const earlier = times()
      await change()
      const changed = [...times()].filter(([path, time]) => earlier.has(path) && earlier.get(path) !== time)
      expect(changed.map(([path]) => path)).toEqual(touched)
    }
  })
})

function exists(store: WorkspaceStore, path: string): boolean {
  try {
    return store.lstat(path) !== null
  } catch (error) {
    if (isFileError(error, 'ENOENT')) return false
    throw error
  }
}

test('limits refuse with ENOSPC before anything changes, and room that is freed can be used again', async () => {
  const { use } = openStore('limits', { limits: { maxFileBytes: 1000, maxTotalBytes: 2500, maxFiles: 8 } })
  await use(async (store) => {
    await store.write('/workspace/a', pattern(1000))
    await store.write('/workspace/b', pattern(1000))
    await expect(store.write('/workspace/c', pattern(600))).rejects.toMatchObject({ code: 'ENOSPC' })
    await expect(store.write('/workspace/a', pattern(1001))).rejects.toMatchObject({ code: 'ENOSPC' })
    await expect(store.append('/workspace/a', pattern(1))).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(store.list('/workspace').map(({ name }) => name)).toEqual(['a', 'b'])
    expect((await store.read('/workspace/a')).byteLength).toBe(1000)
    store.remove('/workspace/b')
    await store.write('/workspace/c', pattern(600))
    // Four folders and two files are there: two more fit.
    store.makeDirectory('/workspace/d')
    store.symlink('d', '/workspace/e')
    expect(() => store.makeDirectory('/workspace/f')).toThrow('ENOSPC')
    expect(() => store.makeDirectory('/workspace/d/g/h', { recursive: true })).toThrow('ENOSPC')
    expect(store.list('/workspace/d')).toEqual([])
  })
})

test('a full disk or a failure between two statements leaves the file as it was', async () => {
  const { use } = openStore('torn')
  await use(async (store) => store.write('/workspace/f', bytes('before')))
  for (let statements = 1; statements < 12; statements++) {
    const broken = openStore('torn-copy', {
      around: (storage) => failingAfter(storage, statements, 'database or disk is full: SQLITE_FULL'),
    })
    await broken.use(async (store, storage) => {
      const whole = () => storage.sql.exec('SELECT * FROM workspace_nodes ORDER BY inode').toArray()
      const before = whole()
      const error = await store.write('/workspace/new', pattern(600_000)).catch((caught: unknown) => caught)
      if (error === undefined) return
      expect(codeOf(error)).toBe('ENOSPC')
      expect(whole()).toEqual(before)
      expect(storage.sql.exec('SELECT * FROM workspace_chunks').toArray()).toEqual([])
    })
  }
  await use(async (store) => expect(text(await store.read('/workspace/f'))).toBe('before'))
})

test('the folders of a path are looked up once, and a small file costs few statements', async () => {
  let statements = 0
  const counted = (storage: DurableObjectStorage) =>
    seen(storage, () => {
      statements++
    })
  const { use } = openStore('statements', { around: counted })
  await use(async (store) => {
    store.makeDirectory('/workspace/a/b/c/d', { recursive: true })
    await store.write('/workspace/a/b/c/d/first', bytes('1'))
    const costs = async (work: () => unknown) => {
      statements = 0
      await work()
      return statements
    }
    expect(await costs(() => store.stat('/workspace/a/b/c/d/first'))).toBe(1)
    expect(await costs(() => store.exists('/workspace/a/b/c/d/none'))).toBe(1)
    // The place, the node, its contents, the folder's time.
    expect(await costs(() => store.write('/workspace/a/b/c/d/second', bytes('2')))).toBe(4)
    expect(await costs(() => store.write('/workspace/a/b/c/d/empty', bytes('')))).toBe(3)
    expect(await costs(() => store.write('/workspace/a/b/c/d/empty', bytes('3')))).toBe(3)
    expect(text(await store.read('/workspace/a/b/c/d/empty'))).toBe('3')
    store.rename('/workspace/a/b', '/workspace/b')
    expect([store.exists('/workspace/a/b/c/d/first'), store.exists('/workspace/b/c/d/first')]).toEqual([false, true])
  })
})

test('every write gives a new time, modes and links are kept, and the workspace itself cannot be removed', async () => {
  const { use } = openStore('nodes')
  await use(async (store) => {
    await store.write('/workspace/run.sh', bytes('1'), { mode: 0o755 })
    const times = new Set<number>()
    for (let i = 0; i < 5; i++) {
      await store.write('/workspace/run.sh', bytes(`${i}`))
      times.add(store.stat('/workspace/run.sh').mtimeMs)
    }
    expect(times.size).toBe(5)
    expect(store.stat('/workspace/run.sh').mode).toBe(0o755)
    store.symlink('../tmp', '/workspace/out')
    expect(store.realPath('/workspace/out')).toBe('/tmp')
    store.symlink('/../../..', '/workspace/up')
    expect(store.realPath('/workspace/up/workspace')).toBe('/workspace')
    store.symlink('loop', '/workspace/loop')
    expect(() => store.stat('/workspace/loop')).toThrow('ELOOP')
    for (const path of ['/', '/workspace', '/workspace/..', '/workspace/up']) {
      if (path === '/workspace/up') store.remove(path, { recursive: true })
      else expect(() => store.remove(path, { recursive: true })).toThrow('EBUSY')
    }
    expect(() => store.rename('/workspace', '/tmp/w')).toThrow('EBUSY')
  })
})

type Faults = Partial<Record<'put' | 'get' | 'delete', (...args: never[]) => unknown>> & {
  put?: (key: string, value: Uint8Array) => Promise<unknown>
  get?: (key: string) => Promise<unknown>
  delete?: (keys: string[]) => Promise<unknown>
}

function faultyBucket(faults: Faults): R2Bucket {
  return new Proxy(env.FILES, {
    get: (bucket, name) => {
      if (name in faults) return faults[name as keyof Faults]
      const value = Reflect.get(bucket, name)
      return typeof value === 'function' ? value.bind(bucket) : value
    },
  })
}

/** Storage whose nth statement fails, and every one after it. */
function failingAfter(storage: DurableObjectStorage, statements: number, message: string): DurableObjectStorage {
  let left = statements
  return seen(storage, () => {
    if (left-- <= 0) throw new Error(message)
  })
}

/** The storage, with a word to `onStatement` before each statement. */
function seen(storage: DurableObjectStorage, onStatement: () => void): DurableObjectStorage {
  const sql = new Proxy(storage.sql, {
    get: (plain, name) => {
      if (name !== 'exec') return Reflect.get(plain, name)
      return (query: string, ...bindings: unknown[]) => {
        onStatement()
        return plain.exec(query, ...bindings)
      }
    },
  })
  return new Proxy(storage, {
    get: (plain, name) => {
      if (name === 'sql') return sql
      const value = Reflect.get(plain, name)
      return typeof value === 'function' ? value.bind(plain) : value
    },
  })
}

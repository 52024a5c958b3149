import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setLogLevel } from '../../../src/lib/log.ts'
import { zipFolder } from '../../../src/workspace/archive.ts'
import type { FileSystem } from '../../../src/workspace/file-system.ts'
import { Upload } from '../../../src/workspace/uploads.ts'
import { type CraftedEntry, craftZip } from '../../helpers/crafted-zip.ts'
import { heldTimers } from '../../helpers/timers.ts'
import { type BucketCall, failing, faultyBucket, type Verdict } from './faulty-bucket.ts'
import { bytes, inPieces, openStore, pattern, same, text, wholeOf } from './open-store.ts'
import { uploadAll } from './upload-all.ts'

const MEBIBYTE = 1024 * 1024
const LINK = 0o120777

setLogLevel('silent')

const zipOf = (...entries: CraftedEntry[]) => ({ name: 'x.zip', bytes: craftZip(entries) })

/** Every path below the workspace with what stands there. */
async function everything(fs: FileSystem, folder = '/workspace'): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { name, kind } of fs.list(folder)) {
    const path = `${folder}/${name}`
    const { mode } = fs.lstat(path)
    if (kind === 'directory') Object.assign(found, { [path]: 'folder' }, await everything(fs, path))
    else
      found[path] = kind === 'symlink' ? `-> ${fs.readLink(path)}` : `${mode.toString(8)} ${text(await fs.read(path))}`
  }
  return found
}

test('an archive is unpacked among what is there, and no link, old or new, takes any of it elsewhere', async () => {
  await openStore('unpack').use(async (store) => {
    store.makeDirectory('/workspace/folder')
    store.symlink('/tmp', '/workspace/out')
    store.symlink('/tmp/target', '/workspace/link')
    await store.write('/tmp/target', bytes('untouched'))
    await store.write('/workspace/old', bytes('old'), { mode: 0o600 })
    const archive = zipOf(
      { name: 'a/' },
      { name: 'a/b/run.sh', data: '#!', deflated: true, unixMode: 0o100755 },
      { name: 'old', data: 'new', unixMode: 0o100644 },
      { name: 'link', data: 'a file now' },
      { name: 'folder', data: 'x' },
      { name: 'out/x', data: 'x' },
      { name: 'inner', data: 'a', unixMode: LINK },
      { name: 'inner/y', data: 'x' },
      { name: 'away', data: '../../etc', unixMode: LINK },
      { name: 'a/b/run.sh', data: 'twin' },
      { name: 'a/b/RUN.SH', data: 'in capitals' },
      { name: 'cafe\u0301', data: '1' },
      { name: 'caf\u00e9', data: '2' },
      { name: 'nested.zip', data: craftZip([{ name: 'n', data: 'n' }]) },
    )
    const report = await uploadAll(store, [archive, { name: 'b.txt', bytes: bytes('b') }], { unpacks: true })
    expect(report.skipped_files).toEqual([
      { name: 'x.zip/folder', reason: 'A folder of this name is in the workspace' },
      { name: 'x.zip/out/x', reason: '/workspace/out is not a folder' },
      { name: 'x.zip/inner/y', reason: '/workspace/inner is not a folder' },
      { name: 'x.zip/away', reason: 'The link leads elsewhere' },
      { name: 'x.zip/a/b/run.sh', reason: 'Another file of this upload is stored as /workspace/a/b/run.sh' },
      { name: 'x.zip/caf\u00e9', reason: 'Another file of this upload is stored as /workspace/caf\u00e9' },
    ])
    const { '/workspace/nested.zip': nested, ...rest } = await everything(store)
    expect(nested?.slice(0, 6)).toBe('644 PK')
    expect(rest).toEqual({
      '/workspace/a': 'folder',
      '/workspace/a/b': 'folder',
      '/workspace/a/b/run.sh': '755 #!',
      '/workspace/a/b/RUN.SH': '644 in capitals',
      '/workspace/b.txt': '644 b',
      '/workspace/caf\u00e9': '644 1',
      '/workspace/folder': 'folder',
      '/workspace/inner': '-> a',
      '/workspace/link': '644 a file now',
      '/workspace/old': '644 new',
      '/workspace/out': '-> /tmp',
    })
    expect(report.uploaded_files).toHaveLength(8)
    expect(store.list('/tmp').map(({ name }) => name)).toEqual(['target'])
    expect(text(await store.read('/tmp/target'))).toBe('untouched')
  })
})

test('the limits of a request hold for all of its archives together, and without being asked none is unpacked', async () => {
  await openStore('unpack-limits').use(async (store) => {
    const noise = () => ({ data: crypto.getRandomValues(new Uint8Array(1000)) })
    const first = { ...zipOf({ name: '1', ...noise() }, { name: '2', ...noise() }), name: '1.zip' }
    const second = { ...zipOf({ name: '3', ...noise() }, { name: '4', ...noise() }), name: '2.ZIP' }
    const few = await uploadAll(store, [first, second], { unpacks: true, maxEntries: 3 })
    expect(few.uploaded_files).toEqual(['/workspace/1', '/workspace/2'])
    expect(few.skipped_files).toEqual([
      { name: '2.ZIP', reason: 'The archive has too many entries: 1 more can be unpacked' },
    ])
    const small = await uploadAll(store, [first, second], { unpacks: true, maxUnpackedBytes: 3500 })
    expect(small.uploaded_files).toEqual(['/workspace/1', '/workspace/2', '/workspace/3'])
    expect(small.skipped_files).toEqual([
      { name: '2.ZIP/4', reason: 'The archive unpacks to too much: at this entry 500 bytes were left' },
    ])
    expect((await uploadAll(store, [first])).uploaded_files).toEqual(['/workspace/1.zip'])
    expect(same(await store.read('/workspace/1.zip'), first.bytes)).toBe(true)
    const none = await uploadAll(store, [{ name: 'no.zip', bytes: bytes('PK and no more') }], { unpacks: true })
    expect(none.skipped_files).toEqual([{ name: 'no.zip', reason: 'It is not a readable ZIP archive' }])
  })
})

test('an upload that breaks off leaves the workspace, the rows and R2 as they were', async () => {
  const { use, objects } = openStore('broken-off')
  await use(async (store, { sql }) => {
    const limits = {
      maxFileBytes: 20 * MEBIBYTE,
      maxTotalBytes: 90 * MEBIBYTE,
      maxFiles: 9,
      maxEntries: 9,
      maxUnpackedBytes: 9,
    }
    const upload = new Upload(store, { limits, unpacks: false })
    await upload.receive({ name: 'small', parts: inPieces(bytes('small'), 2) })
    await upload.receive({ name: 'large', parts: inPieces(pattern(2 * MEBIBYTE), 100_000) })
    const brokenOff = async function* () {
      yield pattern(11 * MEBIBYTE)
      throw new Error('the client has gone')
    }
    await expect(upload.receive({ name: 'half', parts: brokenOff() })).rejects.toThrow('the client has gone')
    upload.release()
    await store.sweep()
    expect(store.list('/workspace')).toEqual([])
    expect(sql.exec('SELECT * FROM workspace_chunks').toArray()).toEqual([])
    expect(sql.exec('SELECT inode FROM workspace_nodes').toArray()).toHaveLength(5)
  })
  expect(await objects()).toEqual([])
})

test('R2 that fails for a moment is asked again; R2 that fails for long is told of, file by file, and nothing else is lost', async () => {
  const cases: [kinds: BucketCall[], how: 'before' | 'after'][] = [
    [['put'], 'before'],
    [['put'], 'after'],
    [['createMultipartUpload'], 'before'],
    [['uploadPart'], 'after'],
    [['complete'], 'before'],
    [['complete'], 'after'],
  ]
  const files = [
    { name: 'small', bytes: bytes('small') },
    { name: 'medium', bytes: pattern(2 * MEBIBYTE) },
    { name: 'large', bytes: pattern(6 * MEBIBYTE, 3) },
  ]
  const limits = { maxFileBytes: 20 * MEBIBYTE, maxTotalBytes: 90 * MEBIBYTE }
  for (const [kinds, how] of cases) {
    const once = openStore('r2-once', faultyBucket(failing(1, kinds, how)))
    await once.use(async (store) => {
      const report = await uploadAll(store, files, limits)
      expect(report.skipped_files, `${kinds} ${how}`).toEqual([])
      for (const file of files) expect(same(await store.read(`/workspace/${file.name}`), file.bytes)).toBe(true)
      await store.sweep()
    })
    expect((await once.objects()).map(({ size }) => size).sort()).toEqual([2 * MEBIBYTE, 6 * MEBIBYTE])
  }
  const down = { is: false }
  const store = openStore(
    'r2-down',
    faultyBucket((call) => (down.is && call !== 'get' ? 'before' : null)),
  )
  await store.use(async (files2) => {
    await files2.write('/workspace/medium', bytes('as it was'))
    down.is = true
    const reason = 'The file could not be stored at the moment; try again'
    expect(await uploadAll(files2, files, limits)).toEqual({
      uploaded_files: ['/workspace/small'],
      skipped_files: [
        { name: 'medium', reason },
        { name: 'large', reason },
      ],
    })
    down.is = false
    expect(text(await files2.read('/workspace/medium'))).toBe('as it was')
    await files2.sweep()
  })
  expect(await store.objects()).toEqual([])
})

test.for<[what: string, kind: BucketCall, size: number]>([
  ['an object', 'put', 2 * MEBIBYTE],
  ['a part', 'uploadPart', 6 * MEBIBYTE],
])('R2 that never answers to %s is given up, and is not asked again', async ([, kind, size]) => {
  const { bucket, calls } = faultyBucket((call) => (call === kind ? 'never' : null))
  const limit = heldTimers(15_000)
  await openStore(`r2-never-${kind}`, { bucket }).use(async (store) => {
    const report = uploadAll(store, [{ name: 'a', bytes: pattern(size) }], { maxFileBytes: 20 * MEBIBYTE })
    await expect.poll(() => limit.waiting).toBe(1)
    limit.goOff()
    const reason = 'The file could not be stored at the moment; try again'
    expect(await report).toEqual({ uploaded_files: [], skipped_files: [{ name: 'a', reason }] })
    expect(calls.filter((call) => call === kind)).toEqual([kind])
  })
})

test('whatever R2 does during uploads and writes, every file is the old or the new one, and nothing stays behind', async () => {
  const verdict = fc.constantFrom<Verdict>(null, null, null, 'before', 'after')
  const step = fc.record({
    name: fc.constantFrom('a', 'b'),
    size: fc.constantFrom(10, 3_000, 9_000),
    how: fc.constantFrom('upload', 'write', 'remove'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(verdict, { maxLength: 30 }), fc.array(step, { maxLength: 5 }), async (faults, steps) => {
      const script = [...faults]
      const options = { ...faultyBucket(() => script.shift() ?? null), spillThresholdBytes: 1000 }
      const { use, evict, objects } = openStore('r2-fuzz', options)
      const model = new Map<string, Uint8Array>()
      for (const [i, { name, size, how }] of steps.entries()) {
        await use(async (store) => {
          const path = `/workspace/${name}`
          const contents = pattern(size, i)
          if (how === 'remove') {
            if (model.delete(name)) store.remove(path)
          } else if (how === 'upload') {
            const { uploaded_files } = await uploadAll(store, [{ name, bytes: contents }])
            if (uploaded_files.length === 1) model.set(name, contents)
          } else {
            const stored = await store.write(path, contents).then(
              () => true,
              () => false,
            )
            if (stored) model.set(name, contents)
          }
          expect(store.list('/workspace').map((entry) => entry.name)).toEqual([...model.keys()].sort())
        })
        await evict()
      }
      script.length = 0
      await use(async (store) => {
        for (const [name, contents] of model) expect(same(await store.read(`/workspace/${name}`), contents)).toBe(true)
        await store.sweep()
      })
      expect(await objects()).toHaveLength([...model.values()].filter(({ byteLength }) => byteLength > 1000).length)
    }),
    { numRuns: 15 },
  )
})

test('an archive cannot be begun, or breaks off, when R2 cannot be read; it never ends as if it were whole', async () => {
  const lost = { from: Number.POSITIVE_INFINITY }
  let gets = 0
  const bucket = faultyBucket((call) => (call === 'get' && ++gets > lost.from ? 'before' : null))
  await openStore('zip-faults', bucket).use(async (store) => {
    await store.write('/workspace/a', pattern(1_500_000))
    await store.write('/workspace/b', pattern(1_500_000))
    const zip = () => zipFolder(store, '/workspace', new AbortController().signal)
    lost.from = 0
    await expect(zip()).rejects.toThrow('EIO')
    gets = 0
    lost.from = 1
    const stream = (await zip()) as unknown as AsyncIterable<Uint8Array>
    await expect(wholeOf(stream)).rejects.toThrow('EIO')
    lost.from = Number.POSITIVE_INFINITY
    expect((await wholeOf((await zip()) as unknown as AsyncIterable<Uint8Array>)).byteLength).toBeGreaterThan(1000)
  })
})

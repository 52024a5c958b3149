import fc from 'fast-check'
import JSZip from 'jszip'
import { expect, test } from 'vitest'
import { zipFolder } from '../../../src/workspace/archive.ts'
import { type Unpacked, unpackZip } from '../../../src/workspace/unpack.ts'
import { type CraftedEntry, craftZip } from '../../helpers/crafted-zip.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'
import { bytes, pattern, same, text, wholeOf } from './open-store.ts'

const LIMITS = { maxEntries: 100, maxFileBytes: 3_000_000, maxTotalBytes: 10_000_000 }
const FILE = 0o100644
const LINK = 0o120777

async function unpacked(archive: Uint8Array, limits = LIMITS): Promise<Unpacked[]> {
  const found: Unpacked[] = []
  for await (const one of unpackZip(archive, limits)) found.push(one)
  return found
}

/** What becomes of each entry, in a word or two. */
async function fates(entries: CraftedEntry[], limits = LIMITS): Promise<string[]> {
  const found = await unpacked(craftZip(entries), limits)
  return found.map((one) => {
    if (one.kind === 'refused') return one.reason
    return one.kind === 'file' ? `${one.path}: ${text(one.bytes)}` : `${one.path} (${one.kind})`
  })
}

test('what two other programs would pack comes out with its folders, modes, links and bytes', async () => {
  const zip = new JSZip()
  zip.file('a/b/c.txt', 'c')
  zip.file('run.sh', '#!/bin/sh', { unixPermissions: 0o755 })
  zip.file('贵州/茅台 2024.csv', 'x', { compression: 'DEFLATE' })
  zip.file('large', pattern(2_000_000), { compression: 'DEFLATE' })
  zip.file('link', 'a/b', { unixPermissions: LINK })
  const found = await unpacked(await zip.generateAsync({ type: 'uint8array', platform: 'UNIX' }))
  expect(found.map(({ kind, ...one }) => [kind, 'path' in one ? one.path : one])).toEqual([
    ['directory', '/workspace/a'],
    ['directory', '/workspace/a/b'],
    ['file', '/workspace/a/b/c.txt'],
    ['file', '/workspace/run.sh'],
    ['directory', '/workspace/贵州'],
    ['file', '/workspace/贵州/茅台 2024.csv'],
    ['file', '/workspace/large'],
    ['symlink', '/workspace/link'],
  ])
  expect(found.find(({ name }) => name === 'run.sh')).toMatchObject({ mode: 0o755 })
  expect(found.find(({ name }) => name === 'link')).toMatchObject({ target: 'a/b' })
})

test('no path leads out, hides in .git or is made to fit; what has no bad name stays as it is', async () => {
  const bad = [
    '../a',
    'a/../../b',
    'a/..',
    '/abs',
    'C:/x',
    'c:x',
    '\\\\host\\x',
    'a\\..\\b',
    '.git/config',
    'sub/.GIT/hooks/x',
  ]
  bad.push('nul\0x', 'line\nbreak', `${'x'.repeat(256)}`, 'a/'.repeat(2100), '', './.', 'a/b/../c')
  for (const name of bad) {
    const [fate] = await fates([{ name, data: 'x' }])
    expect(fate, JSON.stringify(name.slice(0, 20))).toMatch(/^The path /)
  }
  expect(await fates([{ name: Uint8Array.of(0xb9, 0xf3, 0xd6, 0xdd), data: 'x' }])).toEqual([
    'The name is not in UTF-8',
  ])
  const good = ['./a', 'a//b', '[id].tsx', '@types/$x (1).ts', '...', '.gitignore', '%2e%2e/x', 'CON', '‮gpj.exe']
  expect(await fates(good.map((name) => ({ name, data: '1' })))).toEqual(
    ['a', 'a/b', '[id].tsx', '@types/$x (1).ts', '...', '.gitignore', '%2e%2e/x', 'CON', '‮gpj.exe'].map(
      (path) => `/workspace/${path}: 1`,
    ),
  )
  expect(await fates([{ name: 'cafe\u0301', data: '1' }])).toEqual(['/workspace/caf\u00e9: 1'])
})

test('a link is kept only if it stays in the workspace whatever it passes through', async () => {
  const link = (name: string, target: string): CraftedEntry => ({ name, data: target, unixMode: LINK })
  const kept = [link('a', 'b/c'), link('d/e', '../a'), link('d/f', '..'), link('g', './x/./y'), link('d/h', '../..x')]
  expect(await fates(kept)).toEqual(['a', 'd/e', 'd/f', 'g', 'd/h'].map((path) => `/workspace/${path} (symlink)`))
  const targets = [
    '/etc/passwd',
    '/workspace/a',
    '..',
    '../x',
    'a/../../..',
    'a/../b',
    'a\0b',
    '',
    '..\\x',
    'x'.repeat(300),
  ]
  const found = await fates(targets.map((target) => link('l', target)))
  expect(found).toEqual(targets.map(() => 'The link leads elsewhere'))
  expect(await fates([link('l', 'x'.repeat(5000))])).toEqual(['It is larger than 4096 bytes'])
  for (const type of [0o020000, 0o060000, 0o010000, 0o140000]) {
    expect(await fates([{ name: 'device', unixMode: type | 0o644 }])).toEqual([
      'It is neither a file nor a folder nor a link',
    ])
  }
  const [special] = await unpacked(craftZip([{ name: 'su', data: 'x', unixMode: 0o106755 }]))
  expect(special).toMatchObject({ kind: 'file', mode: 0o755 })
})

test('what is encrypted, damaged, packed in another way or not what it claims is refused by itself', async () => {
  const whole = { name: 'ok', data: 'fine', unixMode: FILE }
  const cases: [CraftedEntry, string][] = [
    [{ name: 'e', data: 'x', claims: { flags: 0x801 } }, 'It is encrypted'],
    [{ name: 'm', data: 'x', claims: { method: 12 } }, 'It is compressed in a way that is not known here (12)'],
    [{ name: 'crc', data: 'x', claims: { crc: 1 } }, 'The entry is damaged'],
    [{ name: 'more', data: 'x'.repeat(5000), deflated: true, claims: { size: 10 } }, 'The entry is damaged'],
    [{ name: 'less', data: 'x'.repeat(50), deflated: true, claims: { size: 500 } }, 'The entry is damaged'],
    [{ name: 'stored', data: 'xyz', claims: { size: 2 } }, 'The entry is damaged'],
    [{ name: 'garbage', data: pattern(100), claims: { method: 8 } }, 'The entry is damaged'],
    [{ name: 'huge', data: 'x', claims: { size: 3_000_001 } }, 'It is larger than 3000000 bytes'],
    [{ name: 'bomb', data: new Uint8Array(2_500_000), deflated: true }, 'It unpacks to more than 200 times its size'],
  ]
  for (const [entry, reason] of cases) {
    expect(await fates([whole, entry, { ...whole, name: 'after' }])).toEqual([
      '/workspace/ok: fine',
      reason,
      '/workspace/after: fine',
    ])
  }
  const noise = { data: crypto.getRandomValues(new Uint8Array(60_000)), deflated: true }
  const many = Array.from({ length: 6 }, (_, i) => ({ name: `${i}`, ...noise }))
  const found = await unpacked(craftZip(many), { ...LIMITS, maxTotalBytes: 200_000 })
  expect(found.map(({ kind }) => kind)).toEqual(['file', 'file', 'file', 'refused', 'refused', 'refused'])
  const nested = await unpacked(craftZip([{ name: 'inner.zip', data: craftZip([whole]) }]))
  expect(nested.map(({ kind }) => kind)).toEqual(['file'])
})

test('an archive whose entries overlap, contradict it or are too many is refused as a whole, with one reason', async () => {
  const entry = { name: 'a', data: 'x'.repeat(100) }
  const reasonOf = async (archive: Uint8Array, limits = LIMITS) => {
    const found = await unpacked(archive, limits)
    expect(found).toHaveLength(1)
    return found[0]?.kind === 'refused' && found[0].name === '' ? found[0].reason : found[0]
  }
  const overlap = 'Entries of the archive overlap'
  expect(await reasonOf(craftZip([entry, { ...entry, sameAs: 0 }]))).toBe(overlap)
  // One entry that reaches over the next one, as in the bombs that are made of quotations.
  expect(await reasonOf(craftZip([{ ...entry, claims: { packed: 150 } }, entry]))).toBe(overlap)
  const contradicts = 'The archive contradicts its own table of contents'
  expect(await reasonOf(craftZip([{ ...entry, claims: { localName: 'b' } }]))).toBe(contradicts)
  expect(await reasonOf(craftZip([{ ...entry, claims: { packed: 100_000 } }]))).toBe(contradicts)
  const damaged = 'The table of contents of the archive is damaged'
  expect(await reasonOf(craftZip([entry, entry], { count: 1 }))).toBe(damaged)
  expect(await reasonOf(craftZip([entry], { count: 7 }))).toBe(damaged)
  const many = craftZip(Array.from({ length: 101 }, (_, i) => ({ name: `${i}` })))
  expect(await reasonOf(many)).toBe('The archive has too many entries: 100 more can be unpacked')
  expect(await reasonOf(craftZip([entry], { count: 100_000, zip64End: true }))).toMatch(/too many/)
  const unreadable = 'It is not a readable ZIP archive'
  const good = craftZip([entry])
  for (const bad of [
    new Uint8Array(),
    bytes('PK'),
    good.subarray(0, -1),
    good.subarray(0, 60),
    bytes('x'.repeat(70_000)),
  ]) {
    expect(await reasonOf(bad)).toBe(unreadable)
  }
  expect(await reasonOf(craftZip([entry], { prefix: bytes('#!') }).subarray(2))).toBe(unreadable)
  expect(await unpacked(craftZip([]))).toEqual([])
})

test('ZIP64 numbers and a comment are read; a comment that looks like another end is refused as a second story', async () => {
  const entry = { name: 'a', data: 'x', zip64: true }
  for (const archive of [
    craftZip([entry]),
    craftZip([entry], { zip64End: true }),
    craftZip([entry], { comment: bytes('made by hand, PK and all') }),
  ]) {
    expect(await unpacked(archive)).toMatchObject([{ kind: 'file', path: '/workspace/a' }])
  }
  for (const comment of [craftZip([]), bytes(`PK\x05\x06${'x'.repeat(18)}`)]) {
    expect(await unpacked(craftZip([entry], { comment }))).toEqual([
      { name: '', kind: 'refused', reason: 'It is not a readable ZIP archive' },
    ])
  }
})

test('whatever bytes are given, unpacking ends with refusals or with files that are in the workspace', async () => {
  const seed = craftZip([
    { name: 'a/b', data: 'text '.repeat(50), deflated: true, unixMode: FILE },
    { name: 'link', data: 'a', unixMode: LINK },
    { name: 'dir/' },
  ])
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: seed.length - 1 }), fc.nat({ max: 255 })), { maxLength: 6 }),
      fc.nat({ max: seed.length }),
      async (changes, length) => {
        const archive = seed.slice(0, length % 5 === 0 ? length : seed.length)
        for (const [at, value] of changes) if (at < archive.length) archive[at] = value
        for (const one of await unpacked(archive)) {
          if (one.kind === 'refused') expect(one.reason).not.toBe('')
          else expect(one.path).toMatch(/^\/workspace\/(?!.*(^|\/)\.\.(\/|$))/)
        }
      },
    ),
    { numRuns: 1000 },
  )
})

test('what is packed here is unpacked here, and an independent reader sees the same', async () => {
  const name = fc.constantFrom('a', 'b c', 'ü', '中文', '.x', 'a.png', `${'n'.repeat(200)}`, '"q"', '-r')
  const file = fc.tuple(
    fc.array(name, { minLength: 1, maxLength: 3 }),
    fc.oneof(fc.constant(0), fc.nat({ max: 3000 }), fc.constant(400_000)),
    fc.constantFrom(0o644, 0o755, 0o600),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(file, { maxLength: 6 }), async (files) => {
      const fs = new MemoryFileSystem()
      for (const [names, size, mode] of files) {
        const path = `/workspace/${names.map((one, i) => (i < names.length - 1 ? `${one}.d` : one)).join('/')}`
        fs.makeDirectory(path.slice(0, path.lastIndexOf('/')), { recursive: true })
        await fs.write(path, pattern(size, size), { mode })
        fs.chmod(path, mode)
      }
      if (files.length > 0) fs.symlink('a', '/workspace/to-a')
      const stream = await zipFolder(fs, '/workspace', new AbortController().signal)
      const archive = await wholeOf(stream as unknown as AsyncIterable<Uint8Array>)
      const found = await unpacked(archive)
      const jszip = await JSZip.loadAsync(archive, { checkCRC32: true })
      expect(Object.keys(jszip.files).sort()).toEqual(found.map((one) => one.name).sort())
      for (const one of found) {
        if (one.kind === 'symlink') expect(one).toMatchObject({ path: '/workspace/to-a', target: 'a' })
        else if (one.kind !== 'file') expect(one).toBe('a file')
        else {
          expect(one.mode).toBe(fs.lstat(one.path).mode)
          expect(same(one.bytes, await fs.read(one.path))).toBe(true)
          expect(jszip.file(one.name)?.unixPermissions).toBe(0o100000 | fs.lstat(one.path).mode)
        }
      }
    }),
    { numRuns: 60 },
  )
})

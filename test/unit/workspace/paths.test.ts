import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isInWorkspace, uploadName, workspacePath } from '../../../src/workspace/paths.ts'
import { readTextFile } from '../../../src/workspace/reading.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'
import { bytes, text } from './open-store.ts'
import { uploadAll } from './upload-all.ts'

test.each([
  ['', '/workspace'],
  ['.', '/workspace'],
  ['/', 'outside'],
  ['/workspace', '/workspace'],
  ['/workspace/', '/workspace'],
  ['/workspaces/a', 'outside'],
  ['a/b', '/workspace/a/b'],
  ['/workspace/a//b/./c/', '/workspace/a/b/c'],
  ['a/../b', '/workspace/b'],
  ['..', 'outside'],
  ['../workspace/a', '/workspace/a'],
  ['a/../../etc/passwd', 'outside'],
  ['../../../../etc/passwd', 'outside'],
  ['/workspace/../workspace2', 'outside'],
  ['/etc/passwd', 'outside'],
  ['/tmp', 'outside'],
  ['..\\..\\etc', '/workspace/..\\..\\etc'],
  ['C:\\Windows\\system32', '/workspace/C:\\Windows\\system32'],
  ['\\\\server\\share', '/workspace/\\\\server\\share'],
  ['%2e%2e/%2e%2e/etc', '/workspace/%2e%2e/%2e%2e/etc'],
  ['..%00/', '/workspace/..%00'],
  ['a\0b', 'malformed'],
  ['\ud800', 'malformed'],
  ['.../....', '/workspace/.../....'],
  ['a'.repeat(255), `/workspace/${'a'.repeat(255)}`],
  ['a'.repeat(256), 'too-long'],
  ['中'.repeat(86), 'too-long'],
  ['a/'.repeat(2048), `/workspace/${'a/'.repeat(2047)}a`],
  ['a/'.repeat(2049), 'too-long'],
])('the path %j means %j', (asked, expected) => {
  const place = workspacePath(asked)
  expect(place.ok ? place.path : place.reason).toBe(expected)
})

test.each([
  ['notes.txt', 'notes.txt'],
  ['../../etc/passwd', 'passwd'],
  ['/etc/passwd', 'passwd'],
  ['C:\\Users\\me\\报告 2024.xlsx', '报告_2024.xlsx'],
  ['\\\\server\\share\\x.txt', 'x.txt'],
  ['a b;c$(d).txt', 'a_b_c__d_.txt'],
  ['数据分析.csv', '数据分析.csv'],
  ['отчёт.md', 'отчёт.md'],
  ['تقرير.pdf', 'تقرير.pdf'],
  ['हिन्दी.txt', 'हिन्दी.txt'],
  ['cafe\u0301.txt', 'café.txt'],
  ['emoji😀.png', 'emoji_.png'],
  ['-rf', '-rf'],
  ['.gitignore', '.gitignore'],
  ['line\nbreak\r.txt', 'line_break_.txt'],
  ['nul\0.txt', 'nul_.txt'],
  ['\ud800.txt', '_.txt'],
  ['%2e%2e%2fx', '_2e_2e_2fx'],
  ['CON', 'CON'],
  ['', null],
  ['a/', null],
  ['.', null],
  ['..', null],
  ['...', null],
  ['.git', null],
  ['repo/.GIT', null],
  [`${'长'.repeat(200)}.tar.gz`, `${'长'.repeat(84)}.gz`],
])('an upload called %j is stored as %j', (given, expected) => {
  expect(uploadName(given)).toBe(expected)
})

const nastyName = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('..', '/', '\\', '\0', '.git', '%2e', '../', ' ', 'ü', '\ud800'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test('no path and no upload name, whatever it is made of, leads out of the workspace', async () => {
  await fc.assert(
    fc.asyncProperty(nastyName, nastyName, async (asked, given) => {
      const place = workspacePath(asked)
      if (place.ok) {
        expect(isInWorkspace(place.path)).toBe(true)
        expect(place.path.split('/')).not.toContain('..')
        expect(workspacePath(place.path)).toEqual(place)
      }
      const name = uploadName(given)
      if (name !== null) {
        expect(name).toMatch(/^[\p{L}\p{M}\p{N}._-]+$/u)
        expect(uploadName(name)).toBe(name)
      }
      const fs = new MemoryFileSystem()
      const before = ['/', '/tmp', '/home', '/home/user'].map((folder) => fs.list(folder))
      await uploadAll(fs, [{ name: given, bytes: bytes('x') }])
      expect(['/', '/tmp', '/home', '/home/user'].map((folder) => fs.list(folder))).toEqual(before)
      expect(fs.list('/workspace').map((entry) => entry.name)).toEqual(name === null ? [] : [name])
    }),
    { numRuns: 500 },
  )
})

test('uploads are stored byte for byte, and each that is not says why', async () => {
  const fs = new MemoryFileSystem({ maxFileBytes: 100, maxTotalBytes: 250, maxFiles: 100 })
  await fs.write('/tmp/secret', bytes('secret'))
  fs.symlink('/tmp/secret', '/workspace/link.txt')
  fs.makeDirectory('/workspace/folder')
  const every = Uint8Array.from({ length: 90 }, (_, i) => 255 - i)
  const limits = { maxFileBytes: 95, maxTotalBytes: 280, maxFiles: 8 }
  const report = await uploadAll(
    fs,
    [
      { name: 'docs/a b.bin', bytes: every },
      { name: 'a_b.bin', bytes: bytes('would replace the one before') },
      { name: 'link.txt', bytes: bytes('takes the place of the link') },
      { name: 'folder', bytes: bytes('x') },
      { name: '..', bytes: bytes('x') },
      { name: 'large', bytes: new Uint8Array(96) },
      { name: 'empty', bytes: new Uint8Array() },
      { name: 'second.bin', bytes: every },
      { name: 'no-room-here', bytes: every },
      { name: 'over-the-request', bytes: every },
      { name: 'one-too-many', bytes: bytes('x') },
    ],
    limits,
  )
  expect(report.uploaded_files).toEqual([
    '/workspace/a_b.bin',
    '/workspace/link.txt',
    '/workspace/empty',
    '/workspace/second.bin',
  ])
  expect(report.skipped_files).toEqual([
    { name: 'a_b.bin', reason: 'Another file of this upload is stored as /workspace/a_b.bin' },
    { name: 'folder', reason: 'A folder of this name is in the workspace' },
    { name: '..', reason: 'The file has no usable name' },
    { name: 'large', reason: 'The file is larger than 95 bytes' },
    { name: 'no-room-here', reason: 'The upload is larger than 280 bytes' },
    { name: 'over-the-request', reason: 'The upload is larger than 280 bytes' },
    { name: 'one-too-many', reason: 'The upload has more than 8 files' },
  ])
  expect(await fs.read('/workspace/a_b.bin')).toEqual(every)
  expect(fs.lstat('/workspace/link.txt').kind).toBe('file')
  expect(text(await fs.read('/tmp/secret'))).toBe('secret')
  const full = await uploadAll(fs, [{ name: 'last', bytes: every }])
  expect(full).toEqual({
    uploaded_files: [],
    skipped_files: [{ name: 'last', reason: 'There is no room left in the workspace' }],
  })
})

test('a file is shown as text only if it is text, is there and is in the workspace', async () => {
  const fs = new MemoryFileSystem()
  fs.makeDirectory('/workspace/src')
  await fs.write('/workspace/src/a.txt', bytes('\ufeff中文\r\n'))
  await fs.write('/workspace/latin1.txt', Uint8Array.of(0x63, 0x61, 0x66, 0xe9))
  await fs.write('/workspace/nul.bin', bytes('a\0b'))
  await fs.write('/workspace/empty', new Uint8Array())
  await fs.write('/tmp/x', bytes('not yours'))
  fs.symlink('/tmp/x', '/workspace/out')
  fs.symlink('src/a.txt', '/workspace/in')
  fs.symlink('gone', '/workspace/dangling')
  const outcome = async (path: string) => {
    const file = await readTextFile(fs, path)
    return file.ok ? file.text : file.reason
  }
  expect(await outcome('src/a.txt')).toBe('\ufeff中文\r\n')
  expect(await outcome('/workspace/in')).toBe('\ufeff中文\r\n')
  expect(await outcome('empty')).toBe('')
  expect(await outcome('latin1.txt')).toBe('binary')
  expect(await outcome('nul.bin')).toBe('binary')
  expect(await outcome('src')).toBe('directory')
  expect(await outcome('none')).toBe('missing')
  expect(await outcome('src/a.txt/b')).toBe('missing')
  expect(await outcome('dangling')).toBe('missing')
  expect(await outcome('out')).toBe('outside')
  expect(await outcome('../tmp/x')).toBe('outside')
  expect(await outcome('a\0')).toBe('outside')
  expect(await outcome('a'.repeat(300))).toBe('outside')
})

// Of the browser what needs none: pictures, names of files, the tree.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { MAX_TREE_CHARS } from '../../src/runners/page.ts'
import { FileRefused, fileToUpload, safeName } from '../src/browser/files.ts'
import { findChromium, PROGRAMS } from '../src/browser/launch.ts'
import { picturesOf, pixelsIn } from '../src/browser/picture.ts'
import { treeOf } from '../src/browser/tree-text.ts'
import { sandboxLine } from '../src/sandbox/bwrap.ts'
import { makeFolders } from '../src/sandbox/launch.ts'
import { temporaryFolder } from './support/runner-process.ts'

/** A picture as Chromium makes it, with any filter for its rows; the sums are not looked at. */
function png({
  width,
  height,
  rows,
  colour = 2,
}: {
  width: number
  height: number
  rows: Buffer
  colour?: number
}): Buffer {
  const chunk = (kind: string, data: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    return Buffer.concat([length, Buffer.from(kind), data, Buffer.alloc(4)])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, colour, 0, 0, 0], 8)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

test('rows are read by each of the five filters, with and without transparency', () => {
  const rows = Buffer.from([
    0, 9, 8, 7, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 1, 1, 1, 2, 1, 1, 1, 0, 0, 0, 3, 2, 2, 2, 2, 2, 2, 4, 1, 1, 1, 1, 1, 1,
  ])
  const [first, ...others] = [
    [9, 8, 7, 1, 1, 1],
    [1, 1, 2, 4, 5, 5],
    [2, 2, 3, 4, 5, 5],
    [3, 3, 3, 5, 6, 6],
    [4, 4, 4, 6, 7, 7],
  ]
  // Told row by row, as the standard has it.
  const made = pixelsIn(
    png({
      width: 2,
      height: 5,
      rows: Buffer.concat([
        rows.subarray(0, 7),
        Buffer.from([1, 1, 1, 2, 3, 4, 3]),
        Buffer.from([2, 1, 1, 1, 0, 0, 0]),
        rows.subarray(24, 31),
        rows.subarray(31, 38),
      ]),
    }),
  )
  expect([...made.rgb.subarray(0, 6)]).toEqual(first)
  expect([...made.rgb.subarray(6, 12)]).toEqual([1, 1, 2, 4, 5, 5])
  expect([...made.rgb.subarray(12, 18)]).toEqual(others[1])
  expect([...made.rgb.subarray(18, 24)]).toEqual([3, 3, 3, 5, 6, 6])
  expect(made.rgb).toHaveLength(30)
  const seeThrough = pixelsIn(png({ width: 1, height: 1, rows: Buffer.from([0, 1, 2, 3, 255]), colour: 6 }))
  expect([...seeThrough.rgb]).toEqual([1, 2, 3])
})

test('a picture that is none, too large, torn or a bomb is refused', () => {
  const rows = Buffer.alloc(4)
  for (const bad of [
    Buffer.from('no picture'),
    png({ width: 5000, height: 1, rows: Buffer.alloc(15_001) }),
    png({ width: 1, height: 1, rows: Buffer.alloc(50_000_000) }),
    png({ width: 2, height: 1, rows }),
    png({ width: 1, height: 1, rows, colour: 3 }),
  ])
    expect(() => pixelsIn(bad)).toThrow()
})

test('marks are drawn, also those that stand out of the picture; noise is shown smaller, never longer than it may be', () => {
  const row = () => Buffer.concat([Buffer.from([0]), randomBytes(1280 * 3)])
  const noise = png({ width: 1280, height: 720, rows: Buffer.concat(Array.from({ length: 720 }, row)) })
  const marks = [
    { x: 10, y: 20, width: 100, height: 30, id: 'e12' },
    { x: -500, y: 700, width: 5000, height: 5000, id: 'f1e999' },
  ]
  const { screenshot, marks: marked } = picturesOf(noise, marks, 700_000)
  for (const text of [screenshot, marked]) {
    expect(text.length).toBeGreaterThan(1000)
    expect(text.length).toBeLessThanOrEqual(700_000)
    expect(pixelsIn(Buffer.from(text, 'base64')).width).toBeLessThan(1280)
  }
  const flat = png({ width: 200, height: 100, rows: Buffer.alloc(601 * 100) })
  const drawn = pixelsIn(Buffer.from(picturesOf(flat, marks, 700_000).marks, 'base64'))
  expect([...drawn.rgb.subarray((20 * 200 + 60) * 3, (20 * 200 + 60) * 3 + 3)]).toEqual([200, 30, 30])
  expect(picturesOf(flat, [], 700_000).screenshot).toBe(flat.toString('base64'))
})

test('names of downloads are plain names in one folder, whatever a server says', () => {
  const names = [
    '../../etc/passwd',
    '/etc/cron.d/x',
    '..',
    '.',
    '',
    '.bashrc',
    'a\0b',
    'a\nb',
    '..\\..\\x.exe',
    `${'x'.repeat(500)}.pdf`,
    '[e1].pdf',
    '\u202efdp.exe',
    ' . ',
    'con:aux?.txt',
    'Rechnung ü 7.pdf',
  ]
  for (const name of names.map(safeName)) {
    expect(name).toMatch(/^[^/\\\0\n[\]\u202e:?]{1,120}$/)
    expect(name).not.toMatch(/^\./)
  }
  expect([safeName('../../etc/passwd'), safeName('..'), safeName('.bashrc'), safeName('Rechnung ü 7.pdf')]).toEqual([
    'passwd',
    'download',
    '_bashrc',
    'Rechnung ü 7.pdf',
  ])
  expect(safeName(`${'x'.repeat(500)}.pdf`)).toMatch(/^x{96}\.pdf$/)
})

test('a file of the workspace can be uploaded by its path, and what is none says why', () => {
  const root = temporaryFolder()
  mkdirSync(join(root, 'reports'))
  for (const name of ['reports/a.CSV', 'b.tar.gz', 'noend', 'large.bin']) writeFileSync(join(root, name), 'x')
  symlinkSync('/etc/passwd', join(root, 'link'))
  symlinkSync('reports', join(root, 'folder-link'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  truncateSync(join(root, 'large.bin'), 20 * 1024 * 1024 + 1)
  const refusal = (path: string) => {
    try {
      return fileToUpload(root, path).name
    } catch (error) {
      if (error instanceof FileRefused) return error.message
      throw error
    }
  }
  expect(fileToUpload(root, '/workspace/reports/a.CSV')).toEqual({
    ...{ name: 'a.CSV', mimeType: 'text/csv', buffer: Buffer.from('x') },
  })
  const over = '"link" leads over a link or is no file.'
  const cases: [path: string, answer: string][] = [
    ['reports/a.CSV', 'a.CSV'],
    ['b.tar.gz', 'b.tar.gz'],
    ['none', 'There is no file "none" in the workspace.'],
    ['none/a.csv', 'There is no file "none/a.csv" in the workspace.'],
    ['link', over],
    ['folder-link/a.CSV', over.replace('link', 'folder-link/a.CSV')],
    ['noend/a', over.replace('link', 'noend/a')],
    ['reports', '"reports" is no file.'],
    ['pipe', '"pipe" is no file.'],
    ['large.bin', '"large.bin" has 20971521 bytes; at most 20971520 can be uploaded.'],
    ['/etc/passwd', '"/etc/passwd" is outside of /workspace: only files of the workspace can be uploaded.'],
    ...['../x', './b.tar.gz', 'reports//a.CSV', 'reports/', '', 'a\0b'].map((path): [string, string] => {
      return [path, `${JSON.stringify(path.replace('\0', ' '))} is no plain path of a file in /workspace.`]
    }),
  ]
  expect(cases.map(([path]) => [path, refusal(path)])).toEqual(cases)
  truncateSync(join(root, 'large.bin'), 20 * 1024 * 1024)
  expect(refusal('large.bin')).toBe('large.bin')
})

test('a page is told what a file is by its ending, and of others nothing', () => {
  const root = temporaryFolder()
  const types = {
    ...{
      'a.csv': 'text/csv',
      'a.gif': 'image/gif',
      'a.html': 'text/html',
      'a.JPEG': 'image/jpeg',
      'a.jpg': 'image/jpeg',
    },
    ...{ 'a.json': 'application/json', 'a.pdf': 'application/pdf', 'a.png': 'image/png', 'a.txt': 'text/plain' },
    ...{ 'a.webp': 'image/webp', 'a.xml': 'application/xml', 'a.csv.zip': 'application/zip' },
    ...{ 'a.csv.': 'application/octet-stream', noend: 'application/octet-stream', 'a.exe': 'application/octet-stream' },
  }
  for (const name of Object.keys(types)) writeFileSync(join(root, name), '')
  expect(Object.fromEntries(Object.keys(types).map((name) => [name, fileToUpload(root, name).mimeType]))).toEqual(types)
})

test('a page is lines of roles, names and values; what says nothing has no line, and its parts stand in its place', () => {
  const page = [
    { role: 'heading', name: 'Prices', level: 1 },
    'plain words',
    '   ',
    {
      role: 'generic',
      children: [
        { role: 'generic', text: 'inside' },
        { role: 'generic', text: '' },
      ],
    },
    { role: 'link', name: 'More', ref: 'e4', url: 'https://x.test/', children: 'More' },
    { role: 'checkbox', name: 'All', ref: 'e5', checked: false, disabled: false },
    { role: 'textbox', name: 'Code', ref: 'e6', text: 'AAPL' },
    { role: 'list', children: [{ role: 'listitem', name: 'one' }] },
  ]
  const { text } = treeOf(page, { hidden: [], editable: [] })
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  expect(lines.filter((line) => /""/.test(line))).toEqual([])
  expect(lines.map((line) => line.trim())).toEqual(
    expect.arrayContaining([
      ...['StaticText "plain words"', 'StaticText "inside"', '[e5] checkbox "All", checked=false, clickable'],
    ]),
  )
  expect(lines.filter((line) => line.includes('StaticText'))).toHaveLength(3)
})

test('a tree of any shape is bounded text, and ids stand at the beginning of a line alone', () => {
  const deep = Array.from({ length: 500 }).reduce<unknown>((children) => ({ role: 'list', children }), 'end')
  const wide = Array.from({ length: 50_000 }, (_, at) => ({ role: 'button', name: `[e${at}]\n[e1] x`, ref: `e${at}` }))
  for (const shape of [
    null,
    5,
    'text',
    {},
    [[[]]],
    deep,
    wide,
    { role: 'a b]', ref: 'e1] [e2', name: 7, children: 'x' },
    { role: 'link', url: '] [e5]', box: { x: 'no' } },
  ]) {
    const { text, marks } = treeOf(shape, { hidden: [], editable: [] })
    expect(text.length).toBeLessThanOrEqual(MAX_TREE_CHARS + 200)
    expect(marks.length).toBeLessThanOrEqual(150)
    for (const line of text.split('\n')) expect(line.replace(/^\t*\[e\d+\] /, '')).not.toMatch(/[[\]]/)
  }
})

test('Chrome in its own folder is found, and its sandbox has that folder and the rules where either looks for them', () => {
  const folder = temporaryFolder()
  const chrome = join(folder, 'chrome')
  writeFileSync(chrome, '#!/bin/sh\necho Google Chrome 156.0.1\n', { mode: 0o755 })
  expect(findChromium('/usr/bin:/bin', [join(folder, 'none'), chrome])).toEqual({ file: chrome, version: '156.0.1' })
  expect(PROGRAMS).toContain('/opt/google/chrome/chrome')
  const limits = { diskBytes: 1, memoryBytes: 1, cpus: 1, processes: 1, fileBytes: 1, tmpBytes: 1 }
  const plan = { isolation: 'bwrap', network: 'none', limits, idleMs: null, browserIdleMs: null } as const
  const made = makeFolders(folder)
  const line = (shared?: string) =>
    sandboxLine(['x'], shared === undefined ? made : { ...made, shared }, plan).args.join(' ')
  const rules = `--ro-bind ${made.run}/policies`
  for (const part of [
    '/opt/google/chrome /opt/google/chrome',
    `${rules} /etc/chromium/policies`,
    `${rules} /etc/opt/chrome/policies`,
  ]) {
    expect(line(join(folder, 'downloads'))).toContain(part)
    expect(line()).not.toContain(part)
  }
})

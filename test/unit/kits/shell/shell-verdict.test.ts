// The judge of the differential test, judged: it must see what it is there to see.

import { expect, test } from 'vitest'
import { compare, type OurReport } from '../../../helpers/shell-verdict.ts'
import type { CorpusEntry, Normaliser, ShellReport } from '../../../support/real-shell-types.ts'
import { summaryOf, type TreeReader } from '../../../support/shell-tree.ts'

const entry = (normalise: Normaliser[] = []): CorpusEntry => ({
  id: 'theme/name',
  theme: 'theme',
  fixture: 'project',
  script: 'true',
  needs: [],
  normalise,
})
const real = (over: Partial<ShellReport> = {}): ShellReport => ({
  exitCode: 0,
  stdout: 'a\nb\n',
  stderr: '',
  tree: { '/f': 'file "x"' },
  ...over,
})
const ours = (over: Partial<OurReport> = {}): OurReport => ({
  exitCode: 0,
  output: 'a\nb\n',
  tree: { '/f': 'file "x"' },
  ...over,
})
const verdict = (theReal: ShellReport, theOurs: OurReport, normalise: Normaliser[] = []) =>
  compare(entry(normalise), theReal, theOurs).verdict

test('equal is equal in output, exit code and tree; whatever else both call a success is silent', () => {
  expect(verdict(real(), ours())).toBe('equal')
  expect(verdict(real(), ours({ output: 'a\nb' }))).toBe('silent')
  expect(verdict(real(), ours({ output: 'a\n' }))).toBe('silent')
  expect(verdict(real(), ours({ tree: {} }))).toBe('silent')
  expect(verdict(real(), ours({ tree: { '/f': 'program "x"' } }))).toBe('silent')
  expect(verdict(real(), ours({ output: 'b\na\n' }), ['sorted'])).toBe('equal')
})

test('a refusal is loud by its exit code or by its words, unless the real shell says the same', () => {
  expect(verdict(real(), ours({ exitCode: 1, output: '' }))).toBe('loud')
  expect(verdict(real(), ours({ output: "cp: invalid option -- 'a'\n" }))).toBe('loud')
  expect(verdict(real(), ours({ output: 'a\nb\nbash: trap: command not found\n' }))).toBe('loud')
  const refused = real({ stdout: 'invalid option\nx\n' })
  expect(verdict(refused, ours({ output: 'invalid option\ny\n' }))).toBe('silent')
  expect(verdict(real({ exitCode: 1 }), ours({ exitCode: 2 }))).toBe('other')
  expect(verdict(real({ exitCode: 1 }), ours())).toBe('other')
})

test('errors may be worded otherwise and stand anywhere, but no lines may come with them or be lost', () => {
  const failed = real({ exitCode: 1, stderr: 'cat: x: No such file or directory\n' })
  expect(verdict(failed, ours({ exitCode: 1, output: 'a\nno x\nb\n' }))).toBe('equal')
  expect(verdict(failed, ours({ exitCode: 1, output: 'a\nno x\nand more\nb\n' }))).toBe('other')
  expect(verdict(failed, ours({ exitCode: 1, output: 'a\nno x\n' }))).toBe('other')
  expect(compare(entry(), failed, ours({ exitCode: 1, output: `a\nb\n${failed.stderr}` })).sameErrors).toBe(true)
})

test('what machines cannot agree on in a long listing is left out, and what they can is kept', () => {
  const line = (text: string) => real({ stdout: `total 8\n${text}\n` })
  const listed = (text: string) => ours({ output: `total 4\n${text}\n` })
  const theirs = line('drwxr-xr-x 11 root root 4096 Jan 10  2024 src')
  expect(verdict(theirs, listed('drwxr-xr-x 1 user user    0 Jan 10  2024 src'), ['long'])).toBe('equal')
  expect(verdict(theirs, listed('drwxr-x--- 1 user user    0 Jan 10  2024 src'), ['long'])).toBe('silent')
  expect(verdict(theirs, listed('drwxr-xr-x 1 user user    0 Jan 11  2024 src'), ['long'])).toBe('silent')
  const file = line('-rw-r--r-- 1 root root  85 Jan 10  2024 f')
  expect(verdict(file, listed('-rw-r--r-- 1 user user 86 Jan 10  2024 f'), ['long'])).toBe('silent')
})

test('a tree is told by what is in it, and a repository by what git means by it', async () => {
  const files: Record<string, string> = {
    '/w/.git/HEAD': 'ref: refs/heads/main\n',
    '/w/.git/packed-refs': `# pack-refs\n${'1'.repeat(40)} refs/heads/main\n${'2'.repeat(40)} refs/tags/v1\n`,
    '/w/.git/refs/heads/main': `${'3'.repeat(40)}\n`,
    '/w/.git/objects/aa/bb': 'not looked at',
    '/w/a.txt': 'text\n',
    '/w/b.tgz': 'packed',
  }
  expect(await summaryOf(readerOf(files), '/w')).toEqual({
    '/.git HEAD': 'ref: refs/heads/main',
    '/.git refs/heads/main': '3'.repeat(40),
    '/.git refs/tags/v1': '2'.repeat(40),
    '/a.txt': 'file "text\\n"',
    '/b.tgz': 'file an archive',
  })
})

function readerOf(files: Record<string, string>): TreeReader {
  return {
    list: async (path) => {
      const below = Object.keys(files).filter((file) => file.startsWith(`${path}/`))
      const names = new Set(below.map((file) => file.slice(path.length + 1).split('/')[0] ?? ''))
      return [...names].map((name) => ({
        name,
        kind: `${path}/${name}` in files ? ('file' as const) : ('directory' as const),
        executable: false,
      }))
    },
    read: async (path) => new TextEncoder().encode(files[path]),
    readLink: async (path) => path,
  }
}

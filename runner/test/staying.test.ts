// What stays on the runner, as the machine's own git says it.

import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { HostProxy } from '../src/network/proxy.ts'
import type { ManifestEntry } from '../src/sync/manifest.ts'
import { Tree } from '../src/sync/tree.ts'

const run = promisify(execFile)

function workspace() {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-staying-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const asked: string[] = []
  const tree = new Tree(folder, async (inside, args) => {
    asked.push(`${inside}: ${args.includes('--ignored') ? 'ignored' : 'tracked'}`)
    const { stdout } = await run('git', [...args], { cwd: join(tree.root, inside) })
    return stdout.split('\0').filter((path) => path !== '')
  })
  tree.follow({ exclude: new Set(['target']), limits: { fileBytes: 1e9, treeBytes: 1e9 } })
  const write = (path: string, bytes: number) => {
    mkdirSync(dirname(join(tree.root, path)), { recursive: true })
    writeFileSync(join(tree.root, path), Buffer.alloc(bytes, 'x'))
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: join(tree.root, 'repo') })
  const told: string[] = []
  /** What would be sent; from then on both sides have it. */
  const sent = async () => {
    const found = await tree.survey((text) => told.push(text))
    if (found === null) throw new Error('too many files')
    const changes = new Map<string, ManifestEntry | null>()
    for (const { entry, known } of tree.changes(found, (text) => told.push(text))) changes.set(entry.path, known)
    tree.agree(changes, 1)
    return [...changes.keys()].filter((path) => !path.includes('.git/')).sort()
  }
  return { tree, write, git, sent, asked, told }
}

test('what git ignores is sent up to a size and stays beyond it, what is known of it is kept current, and other rules are obeyed', async () => {
  const { tree, write, git, sent, asked, told } = workspace()
  mkdirSync(join(tree.root, 'repo'))
  git('init', '-q')
  writeFileSync(join(tree.root, 'repo/.gitignore'), 'build/\n')
  write('repo/build/a.bin', 600_000)
  await sent()
  expect(asked).toEqual([])
  write('repo/build/b.bin', 600_000)
  write('repo/plain.bin', 10)
  expect(await sent()).toEqual(['repo/plain.bin'])
  expect(tree.left).toEqual(['repo/build'])
  expect(told).toEqual(['repo/build is ignored by git and larger than 1 MiB: it stays on the runner.'])
  // New files there stay without a question; those that both sides have go on.
  await sent()
  asked.length = 0
  write('repo/build/c.bin', 5_000_000)
  write('repo/build/a.bin', 7)
  expect(await sent()).toEqual(['repo/build/a.bin'])
  expect(told).toHaveLength(1)
  rmSync(join(tree.root, 'repo/build/a.bin'))
  expect(await sent()).toEqual(['repo/build/a.bin'])
  writeFileSync(join(tree.root, 'repo/.gitignore'), '')
  expect(await sent()).toEqual(['repo/.gitignore', 'repo/build/b.bin', 'repo/build/c.bin'])
  expect(tree.left).toEqual([])
})

test('a name of the list stays, but not what git tracks there; nothing new means no question', async () => {
  const { tree, write, git, sent, asked } = workspace()
  mkdirSync(join(tree.root, 'repo'))
  git('init', '-q')
  write('repo/target/kept.txt', 5)
  write('repo/target/made.o', 5)
  write('target/made.o', 5)
  expect(await sent()).toEqual(['repo', 'repo/.git'])
  git('add', '-f', 'target/kept.txt')
  expect(await sent()).toEqual(['repo/target', 'repo/target/kept.txt'])
  expect([...tree.left].sort()).toEqual(['repo/target/made.o', 'target'])
  await sent()
  asked.length = 0
  expect([await sent(), asked]).toEqual([[], []])
})

test('a repository that git cannot read costs nothing but the distinction', async () => {
  const { tree, write } = workspace()
  const broken = new Tree(dirname(tree.root), async () => null)
  broken.follow({ exclude: new Set(), limits: { fileBytes: 1e9, treeBytes: 1e9 } })
  mkdirSync(join(tree.root, '.git'))
  write('build/a.bin', 3_000_000)
  const found = await broken.survey(() => undefined)
  expect(found?.seen.has('build/a.bin')).toBe(true)
})

test('the proxy asks the service about other hosts, and reaches those that it names as public ones alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-vouched-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const asked: unknown[] = []
  const proxy = await HostProxy.listen(folder, 'proxy.sock', {
    allow: [],
    log: () => undefined,
    mayReach: async (wanted) => {
      asked.push(wanted)
      return wanted.host !== 'other.test'
    },
    lookup: async () => [{ address: '10.1.2.3' }],
  })
  onTestFinished(() => proxy.close())
  const answer = async (url: string) =>
    (await run('curl', ['-s', '--unix-socket', join(folder, 'proxy.sock'), '--request-target', url, 'http://x'])).stdout
  expect(await answer('http://git.test/a')).toContain(
    'git.test leads into a private network: --allow git.test of the runner',
  )
  expect(await answer('http://other.test/a')).toContain("is not on the runner's list")
  expect(asked).toEqual([
    { host: 'git.test', port: 80 },
    { host: 'other.test', port: 80 },
  ])
})

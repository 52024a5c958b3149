import { expect, test } from 'vitest'
import { utf8 } from '../../../../src/kits/git/bytes.ts'
import { createRepository } from '../../../../src/kits/git/commands/init.ts'
import { runGit } from '../../../../src/kits/git/dispatch.ts'
import { cloneRepository, MODE, objectId, type Repository } from '../../../../src/kits/git/index.ts'
import { formatCommit, formatTree, type TreeEntry } from '../../../../src/kits/git/objects.ts'
import type { FileSystem } from '../../../../src/workspace/file-system.ts'
import { LOOPBACK_REMOTES } from '../../../helpers/git-host.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { HOSTILE_URL, hostileRemotes, type PackedObject, packOf, sizeBytesOf } from './hostile-remote.ts'

const BY = { name: 'Eve', email: 'eve@example.com', seconds: 1_700_000_000, zone: '+0000' }
const BLOB = utf8('hello\n')
const TREE = formatTree([{ mode: MODE.file, name: 'a', oid: objectId('blob', BLOB) }])
const COMMIT = formatCommit({ tree: objectId('tree', TREE), parents: [], author: BY, committer: BY, message: 'one\n' })
const TIP = objectId('commit', COMMIT)
const GOOD: PackedObject[] = [
  { type: 1, bytes: COMMIT },
  { type: 2, bytes: TREE },
  { type: 3, bytes: BLOB },
]
const REFS: [string, string][] = [
  ['HEAD', TIP],
  ['refs/heads/main', TIP],
]

async function cloned(pack: Uint8Array, refs = REFS, capabilities?: string) {
  const fs = new MemoryFileSystem()
  const remotes = hostileRemotes({ refs, pack, ...(capabilities !== undefined && { capabilities }) })
  const outcome = await cloneRepository({ fs, url: HOSTILE_URL, directory: '/workspace/w', remotes })
  return { outcome, left: fs.list('/workspace').map(({ name }) => name), fs }
}

test('an honest pack from the same host is taken', async () => {
  const { outcome, fs } = await cloned(packOf(GOOD))
  expect(outcome).toEqual({ ok: true, commit: TIP, branch: 'main' })
  expect(await fs.read('/workspace/w/a')).toEqual(BLOB)
})

test('packs that lie, explode or do not hang together are refused, and nothing of them stays', async () => {
  const base = (oid: string): Uint8Array => Uint8Array.from(oid.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const delta = (commands: number[], { from = BLOB.byteLength, to = 6 } = {}): PackedObject => ({
    type: 7,
    base: base(objectId('blob', BLOB)),
    bytes: Uint8Array.from([...sizeBytesOf(from), ...sizeBytesOf(to), ...commands]),
  })
  const zeros = new Uint8Array(40 * 1024 * 1024)
  const whole = packOf(GOOD)
  const damaged = new Uint8Array(whole)
  damaged.set([0, 0, 0], 30)
  const packs: Record<string, Uint8Array> = {
    'more objects than it has': packOf(GOOD, { count: 9 }),
    'a billion objects': packOf(GOOD, { count: 1_000_000_000 }),
    'an object that is too large': packOf([...GOOD, { type: 3, bytes: zeros }]),
    'an object that is larger than it says': packOf([...GOOD, { type: 3, bytes: zeros, sizeBytes: 10 }]),
    'an object that is smaller than it says': packOf([...GOOD, { type: 3, bytes: BLOB, sizeBytes: 1000 }]),
    'a delta that makes too much': packOf([...GOOD, delta([0x91, 0, 6], { to: 2_000_000_000 })]),
    'a delta that makes more than it says': packOf([...GOOD, delta([0x91, 0, 6, 0x91, 0, 6])]),
    'a delta that makes less than it says': packOf([...GOOD, delta([0x91, 0, 2])]),
    'a delta that copies from beyond its base': packOf([...GOOD, delta([0x91, 200, 6])]),
    'a delta for another base': packOf([...GOOD, delta([0x91, 0, 6], { from: 99 })]),
    'a delta without a base': packOf([...GOOD, { ...delta([0x91, 0, 6]), base: new Uint8Array(20) }]),
    'a delta from before the pack': packOf([
      ...GOOD,
      { ...delta([0x91, 0, 6]), type: 6, base: Uint8Array.of(0xff, 0x7f) },
    ]),
    'a delta from itself': packOf([...GOOD, { ...delta([0x91, 0, 6]), type: 6, base: Uint8Array.of(0) }]),
    'an object of no kind': packOf([...GOOD, { type: 5, bytes: BLOB }]),
    'bytes behind the last object': packOf(GOOD, { tail: utf8('rest') }),
    damage: damaged,
    'only a part of itself': whole.subarray(0, 60),
    'no pack': utf8('this is no pack at all, it only looks like an answer'),
    'objects that nobody asked for': packOf([{ type: 3, bytes: BLOB }]),
    'a tree that is missing': packOf([{ type: 1, bytes: COMMIT }]),
  }
  for (const [what, pack] of Object.entries(packs)) {
    const { outcome, left } = await cloned(pack)
    expect([what, outcome.ok, left]).toEqual([what, false, []])
  }
})

test('a pack of many small deltas that unpack to gigabytes is refused before they are made', async () => {
  const large = new Uint8Array(30 * 1024 * 1024)
  const oid = objectId('blob', large)
  const id = Uint8Array.from(oid.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const copies = Array.from({ length: 60 }, (_, i) => {
    const commands = [0xf0, 0xff, 0xff, 0xff, 0xf0, 1, 0, 0]
    return {
      type: 7,
      base: id,
      bytes: Uint8Array.from([...sizeBytesOf(large.byteLength), ...sizeBytesOf(16_777_215 + i), ...commands]),
    }
  })
  const { outcome, left } = await cloned(packOf([...GOOD, { type: 3, bytes: large }, ...copies]))
  expect(outcome).toMatchObject({ ok: false, reason: 'too-large' })
  expect(left).toEqual([])
})

test('names of refs that would be other files are refused', async () => {
  for (const name of [
    'refs/heads/../../config',
    '../../evil',
    'refs/heads/a/../../../x',
    '/etc/passwd',
    'refs/heads/.hidden',
    'refs/heads/a..b',
    'config',
    'refs/heads/x.lock',
    'refs//heads/x',
  ]) {
    const { outcome, left } = await cloned(packOf(GOOD), [...REFS, [name, TIP]])
    expect([name, outcome.ok, left]).toEqual([name, false, []])
  }
  expect((await cloned(packOf(GOOD), REFS, 'symref=HEAD:refs/heads/../../../config')).outcome.ok).toBe(false)
  expect((await cloned(packOf(GOOD), REFS, 'symref=refs/../x:refs/heads/main')).outcome.ok).toBe(false)
})

async function made(entries: TreeEntry[][]): Promise<{ fs: MemoryFileSystem; repo: Repository; commits: string[] }> {
  const fs = new MemoryFileSystem()
  fs.makeDirectory('/workspace/other')
  const repo = await createRepository(fs, '/workspace/w', { branch: 'main' })
  const commits: string[] = []
  for (const tree of entries) {
    const oid = await repo.objects.write('tree', formatTree(tree))
    const parents = commits.slice(-1)
    commits.push(
      await repo.objects.write(
        'commit',
        formatCommit({ tree: oid, parents, author: BY, committer: BY, message: 'x\n' }),
      ),
    )
  }
  return { fs, repo, commits }
}

const git = (fs: FileSystem, ...args: string[]) =>
  runGit(args, { fs, cwd: '/workspace/w', env: {}, stdin: '', pace: () => null, remotes: LOOPBACK_REMOTES })

test('a tree cannot write into the repository, above the working tree, or through a link', async () => {
  const blob = objectId('blob', BLOB)
  for (const name of ['.git', '.GIT', '.Git', '.git.', '.git ', 'git~1', '..', '.', '.g\u200cit', '']) {
    const { fs, repo, commits } = await made([[{ mode: MODE.file, name, oid: blob }]])
    await repo.objects.write('blob', BLOB)
    const head = await fs.read('/workspace/w/.git/HEAD')
    const { exitCode, stderr } = await git(fs, 'checkout', '-q', commits[0] ?? '')
    expect([name, exitCode, stderr]).toEqual([name, 128, expect.stringContaining('invalid path')])
    expect(await fs.read('/workspace/w/.git/HEAD')).toEqual(head)
  }
  const { fs, repo, commits } = await made([
    [{ mode: MODE.link, name: 'x', oid: objectId('blob', utf8('/workspace/other')) }],
    [{ mode: MODE.tree, name: 'x', oid: objectId('tree', TREE) }],
    [],
  ])
  await repo.objects.write('blob', utf8('/workspace/other'))
  await repo.objects.write('blob', BLOB)
  await repo.objects.write('tree', TREE)
  for (const commit of commits) {
    expect((await git(fs, 'checkout', '-q', commit)).exitCode).toBe(0)
    expect(fs.list('/workspace/other')).toEqual([])
  }
  await git(fs, 'checkout', '-q', commits[1] ?? '')
  fs.remove('/workspace/w/x', { recursive: true })
  fs.symlink('/workspace/other', '/workspace/w/x')
  await fs.write('/workspace/other/a', utf8('mine'))
  for (const words of ['checkout -f HEAD', 'reset -q --hard', 'restore .', 'rm -q -r -f x', 'clean -fdx', 'stash -u']) {
    await git(fs, ...words.split(' '))
    expect([words, await fs.read('/workspace/other/a')]).toEqual([words, utf8('mine')])
  }
  expect((await git(fs, 'add', '../other/a')).stderr).toContain('outside repository')
})

test('a link in a clone that points outside leads to the root of the workspace at most', async () => {
  const target = utf8('../../../../../../etc/passwd')
  const { fs, repo, commits } = await made([[{ mode: MODE.link, name: 'out', oid: objectId('blob', target) }]])
  await repo.objects.write('blob', target)
  expect((await git(fs, 'checkout', '-q', commits[0] ?? '')).exitCode).toBe(0)
  expect(fs.readLink('/workspace/w/out')).toBe('../../../../../../etc/passwd')
  expect(() => fs.stat('/workspace/w/out')).toThrow('ENOENT')
  expect((await git(fs, 'status', '--porcelain')).stdout).toBe('')
})

test('trees within trees end where memory would, and a pack of a working copy that was tampered with is told of', async () => {
  const fs = new MemoryFileSystem()
  const repo = await createRepository(fs, '/workspace/w', { branch: 'main' })
  let oid = await repo.objects.write('tree', TREE)
  await repo.objects.write('blob', BLOB)
  for (let level = 0; level < 12; level++) {
    const entries = Array.from({ length: 20 }, (_, i) => ({ mode: MODE.tree, name: `d${i}`, oid }))
    oid = await repo.objects.write('tree', formatTree(entries))
  }
  const commit = await repo.objects.write(
    'commit',
    formatCommit({ tree: oid, parents: [], author: BY, committer: BY, message: 'bomb\n' }),
  )
  const { exitCode, stderr } = await git(fs, 'checkout', '-q', commit)
  expect([exitCode, stderr]).toEqual([128, expect.stringContaining('more than')])

  await fs.write('/workspace/w/.git/index', utf8('nonsense nonsense nonsense nonsense'))
  expect((await git(fs, 'status')).stderr).toContain('index file corrupt')
  fs.remove('/workspace/w/.git/index')
  await fs.write('/workspace/w/.git/HEAD', utf8('ref: refs/heads/../../../../etc/x\n'))
  expect((await git(fs, 'log')).exitCode).toBe(128)
  await fs.write(`/workspace/w/.git/objects/${commit.slice(0, 2)}/${commit.slice(2)}`, utf8('garbage'))
  await fs.write('/workspace/w/.git/HEAD', utf8(`${commit}\n`))
  expect((await git(fs, 'log')).exitCode).toBe(128)
})

import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { gitDiff } from '../../../../durable-objects/conversation/workspace/git-diff.ts'
import { GitIndex, INTENT_TO_ADD } from '../../../../src/kits/git/index-file.ts'
import { isFileError } from '../../../../src/workspace/file-system.ts'
import { hostRepository, repositoryUrl } from '../../../helpers/git-host.ts'
import { changeLines, type GitWorkspace, gitIn, openGitWorkspace, write } from './open-git-workspace.ts'
import { realChanges } from './real-changes.ts'

test('changes follow files and git commands, from no repository to the second commit, over evictions', async () => {
  const space = openGitWorkspace('changes')
  expect(await space.changes()).toBeNull()
  await space.use(({ fs }) => write(fs, '/workspace/a.txt', 'one\n'))
  expect(await space.changes()).toBeNull()
  await space.git('init -q')
  expect(await space.changes()).toEqual(['A a.txt'])
  await space.git('add .')
  expect(await space.changes()).toEqual(['A a.txt'])
  await space.git('commit -qm first')
  expect(await space.changes()).toEqual([])

  await space.use(async ({ fs }) => {
    await write(fs, '/workspace/a.txt', 'two\n')
    fs.makeDirectory('/workspace/with blank')
    await write(fs, '/workspace/with blank/ü 文件.txt', 'new\n')
    await write(fs, '/workspace/.gitignore', '*.log\n')
    await write(fs, '/workspace/x.log', 'no\n')
  })
  const all = ['A .gitignore', 'M a.txt', 'A with blank/ü 文件.txt']
  expect(await space.changes()).toEqual(all)
  await space.evict()
  expect(await space.changes()).toEqual(all)

  await space.use(({ fs }) => write(fs, '/workspace/a.txt', 'one\n'))
  expect(await space.changes()).toEqual(['A .gitignore', 'A with blank/ü 文件.txt'])
  await space.use(async ({ fs }) => fs.remove('/workspace/.gitignore'))
  expect(await space.changes()).toEqual(['A with blank/ü 文件.txt', 'A x.log'])
  await space.use(async ({ fs }) => {
    fs.rename('/workspace/with blank', '/workspace/moved')
    fs.rename('/workspace/a.txt', '/workspace/b.txt')
    fs.chmod('/workspace/b.txt', 0o755)
  })
  const moved = ['D a.txt', 'A b.txt', 'A moved/ü 文件.txt', 'A x.log']
  expect(await space.changes()).toEqual(moved)
  await space.git('add -A')
  expect(await space.changes()).toEqual(moved)
  await space.git('commit -qm second')
  expect(await space.changes()).toEqual([])
  await space.use(async ({ fs }) => fs.chmod('/workspace/b.txt', 0o644))
  expect(await space.changes()).toEqual(['M b.txt'])
  await space.use(async ({ fs }) => {
    fs.remove('/workspace/b.txt')
    fs.symlink('x.log', '/workspace/b.txt')
  })
  expect(await space.changes()).toEqual(['M b.txt'])
  await space.git('reset -q --hard HEAD~1')
  expect(await space.changes()).toEqual([])
  await space.use(async ({ fs }) => fs.remove('/workspace/.git', { recursive: true }))
  expect(await space.changes()).toBeNull()
})

test('with a remote, what was not pushed is a change; child repositories are told apart by their folder', async () => {
  const folder = await hostRepository({ 'a.txt': 'one\n', 'd/b.txt': 'b\n' })
  const space = openGitWorkspace('remote')
  await space.git(`clone -q ${repositoryUrl(folder)} kid`)
  expect(await space.changes()).toEqual([])
  const kid = '/workspace/kid'
  await space.use(({ fs }) => write(fs, `${kid}/a.txt`, 'two\n'))
  await space.git('commit -qam local', kid)
  await space.use(({ fs }) => write(fs, `${kid}/new.txt`, 'n\n'))
  expect(await space.changes()).toEqual(['M kid/a.txt', 'A kid/new.txt'])
  await space.git('checkout -q -b topic', kid)
  expect(await space.changes()).toEqual(['M kid/a.txt', 'A kid/new.txt'])
  await space.git('push -q -u origin topic', kid)
  expect(await space.changes()).toEqual(['A kid/new.txt'])
  await space.git('checkout -q main', kid)
  expect(await space.changes()).toEqual(['M kid/a.txt', 'A kid/new.txt'])

  await space.use(({ fs }) => write(fs, '/workspace/root.txt', 'r\n'))
  await space.git('init -q')
  expect(await space.changes()).toEqual(['M kid/a.txt', 'A kid/new.txt', 'A root.txt'])
  await space.git('init -q other')
  await space.use(({ fs }) => write(fs, '/workspace/other/o.txt', 'o\n'))
  expect(await space.changes()).toEqual(['M kid/a.txt', 'A kid/new.txt', 'A other/o.txt', 'A root.txt'])
  await space.use(async ({ fs }) => fs.rename('/workspace/kid', '/workspace/renamed'))
  expect(await space.changes()).toEqual(['A other/o.txt', 'M renamed/a.txt', 'A renamed/new.txt', 'A root.txt'])
  await space.use(async ({ fs }) => fs.remove('/workspace/other/.git', { recursive: true }))
  expect(await space.changes()).toEqual(['A other/o.txt', 'M renamed/a.txt', 'A renamed/new.txt', 'A root.txt'])
  await space.use(async ({ fs }) => fs.remove('/workspace/renamed', { recursive: true }))
  expect(await space.changes()).toEqual(['A other/o.txt', 'A root.txt'])
})

test('an unmerged path is U until it is resolved, and a path that is tracked no more is both gone and new', async () => {
  const space = openGitWorkspace('unmerged')
  const commit = async (content: string) => {
    await space.use(({ fs }) => write(fs, '/workspace/a', content))
    await space.git('add a')
    await space.git(['commit', '-qm', content])
  }
  await space.git('init -q -b main')
  await commit('base\n')
  await space.git('checkout -q -b topic')
  await commit('theirs\n')
  await space.git('checkout -q main')
  await commit('ours\n')
  expect((await space.git('merge topic')).exitCode).toBe(1)
  expect(await space.changes()).toEqual(['U a'])
  await space.use(({ fs }) => write(fs, '/workspace/a', 'both\n'))
  expect(await space.changes()).toEqual(['U a'])
  await space.git('add a')
  expect(await space.changes()).toEqual(['M a'])
  await space.git('commit -qm merged')
  expect(await space.changes()).toEqual([])
  await space.git('rm -q --cached a')
  expect(await space.changes()).toEqual(['D a', 'A a'])
})

test('the diff of a file shows it at the base and now, and says why there is none', async () => {
  const space = openGitWorkspace('diff')
  const diff = (path: string) => space.use(({ index }) => gitDiff(index, path, false))
  await space.use(({ fs }) => write(fs, '/workspace/a.txt', '\r\none\r\ntwo\r\n'))
  expect(await diff('a.txt')).toMatchObject({ ok: false, reason: 'not-a-repository' })
  await space.use(async ({ fs }) => {
    await write(fs, '/workspace/gone.txt', 'bye\n')
    await fs.write('/workspace/bin', new Uint8Array([1, 0, 2]))
    fs.makeDirectory('/workspace/d')
    await write(fs, '/workspace/d/was.txt', 'was\n')
  })
  await space.git('init -q')
  await space.git('add .')
  await space.git('commit -qm one')
  await space.use(async ({ fs }) => {
    await write(fs, '/workspace/a.txt', 'one\r\n2\nend')
    await write(fs, '/workspace/new.txt', 'new\n\n')
    fs.remove('/workspace/gone.txt')
    fs.remove('/workspace/d', { recursive: true })
    fs.symlink('/etc', '/workspace/d')
    await fs.write('/workspace/bin', new Uint8Array([1, 0, 3]))
    await fs.write('/workspace/large.txt', new Uint8Array(1024 * 1024 + 1).fill(65))
    await fs.write('/workspace/full.txt', new Uint8Array(1024 * 1024).fill(65))
  })
  expect(await diff('a.txt')).toEqual({ ok: true, original: 'one\ntwo', modified: 'one\n2\nend' })
  expect(await diff('/workspace/new.txt')).toEqual({ ok: true, original: '', modified: 'new\n' })
  expect(await diff('gone.txt')).toEqual({ ok: true, original: 'bye', modified: '' })
  expect(await diff('d/was.txt')).toEqual({ ok: true, original: 'was', modified: '' })
  expect(await diff('d')).toEqual({ ok: true, original: '', modified: '/etc' })
  expect(await diff('full.txt')).toMatchObject({ ok: true })
  expect(await diff('large.txt')).toEqual({ ok: false, reason: 'too-large', message: 'file too large' })
  expect(await diff('bin')).toMatchObject({ ok: false, reason: 'binary' })
  expect(await diff('nothing.txt')).toMatchObject({ ok: false, reason: 'missing' })
  expect(await diff('../etc/passwd')).toMatchObject({ ok: false, reason: 'outside' })
})

const FILES = ['a', 'b', 'd/x', 'd/y', 'd/e/z', '.gitignore', 'd/.gitignore', 'n.log', 'ü', 'd'] as const
const RUNS = inject('isProof') ? 100 : 10
const RULES = ['*.log\n', 'x\n!y\n', 'd/\n', '/e\n', ''] as const
const GIT = [
  'add -A',
  'add a',
  'add d',
  'commit -qm work',
  'commit -qam work',
  'reset -q --hard',
  'reset -q',
  'reset -q --hard HEAD~1',
  'reset -q --soft HEAD~1',
  'rm -q --cached a',
  'rm -q -r -f d',
  'checkout -q -b topic',
  'checkout -q main',
  'checkout -q topic',
  'checkout -q --detach',
  'merge -q topic',
  'merge --abort',
  'stash -q',
  'stash -q -u',
  'stash pop -q',
  'restore .',
  'restore --staged .',
  'clean -fdq',
  'mv a d',
  'rm -q b',
  'checkout -q -f topic',
  'branch -q -D topic',
] as const

type Operation = { does: string; run: (space: GitWorkspace) => Promise<unknown> }

const path = fc.constantFrom(...FILES).map((name) => `/workspace/${name}`)
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(path, fc.constantFrom('1\n', '2\n', '3\n'))
      .map(([at, text]) => ({ does: `write ${at} ${text}`, run: ({ fs }: GitWorkspace) => write(fs, at, text) })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom('/workspace', '/workspace/d'), fc.constantFrom(...RULES)).map(([at, text]) => ({
      does: `ignore ${at} ${JSON.stringify(text)}`,
      run: ({ fs }: GitWorkspace) => write(fs, `${at}/.gitignore`, text),
    })),
  },
  {
    weight: 3,
    arbitrary: path.map((at) => ({
      does: `remove ${at}`,
      run: async ({ fs }: GitWorkspace) => fs.remove(at, { recursive: true }),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(path, path).map(([from, to]) => ({
      does: `rename ${from} ${to}`,
      run: async ({ fs }: GitWorkspace) => fs.rename(from, to),
    })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('/workspace/d', '/workspace/d/e')
      .map((at) => ({ does: `mkdir ${at}`, run: async ({ fs }: GitWorkspace) => fs.makeDirectory(at) })),
  },
  {
    weight: 1,
    arbitrary: path.map((at) => ({ does: `chmod ${at}`, run: async ({ fs }: GitWorkspace) => fs.chmod(at, 0o755) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(path, fc.constantFrom('a', 'd', '/workspace/d'))
      .map(([at, to]) => ({ does: `link ${at} ${to}`, run: async ({ fs }: GitWorkspace) => fs.symlink(to, at) })),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'pushed', run: pretendPush }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('/workspace/d', '/workspace/d/e')
      .map((at) => ({ does: `repository in ${at}`, run: ({ fs }: GitWorkspace) => gitIn(fs, `init -q ${at}`) })),
  },
  {
    weight: 9,
    arbitrary: fc
      .constantFrom(...GIT)
      .map((words) => ({ does: `git ${words}`, run: ({ fs }: GitWorkspace) => gitIn(fs, words) })),
  },
)

/** As a push leaves it: the remote's main branch is where HEAD is. */
async function pretendPush({ fs }: GitWorkspace): Promise<void> {
  const { stdout, exitCode } = await gitIn(fs, 'rev-parse HEAD')
  if (exitCode !== 0) return
  fs.makeDirectory('/workspace/.git/refs/remotes/origin', { recursive: true })
  await write(fs, '/workspace/.git/refs/remotes/origin/main', stdout)
}

async function attempt(space: GitWorkspace, { run }: Operation): Promise<void> {
  try {
    await run(space)
  } catch (error) {
    if (!isFileError(error)) throw error
  }
}

test('after any sequence of file and git operations, changes are what the real git finds in the same files', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 4, maxLength: 24 }),
      fc.nat({ max: 23 }),
      async (operations, evictAt) => {
        const space = openGitWorkspace('model')
        await space.git('init -q -b main')
        for (const [i, one] of operations.entries()) {
          await space.use((parts) => attempt(parts, one))
          if (i === evictAt) await space.evict()
          if (i % 3 !== 2 && i !== operations.length - 1) continue
          const [ours, real] = await space.use(async ({ fs, index }) => [
            (changeLines(await index.changes()) ?? []).sort(),
            [...(await realChanges(fs, '/workspace')), ...(await childChanges(fs))].sort(),
          ])
          expect({ after: operations.slice(0, i + 1).map(({ does }) => does), changes: ours }).toEqual({
            after: operations.slice(0, i + 1).map(({ does }) => does),
            changes: real,
          })
        }
      },
    ),
    { numRuns: RUNS, endOnFailure: false },
  )
})

/** Those of the repositories that operations have made in a folder, or renamed. */
async function childChanges(fs: GitWorkspace['fs']): Promise<string[]> {
  const found: string[] = []
  for (const { name, kind } of fs.list('/workspace')) {
    const isRepository = kind === 'directory' && fs.list(`/workspace/${name}`).some((entry) => entry.name === '.git')
    if (!isRepository || name === '.git') continue
    const changes = await realChanges(fs, `/workspace/${name}`)
    found.push(...changes.map((line) => `${line.slice(0, 2)}${name}/${line.slice(2)}`))
  }
  return found
}

/** Indexes of one tree as git 2.39 wrote them, deflated. */
const WRITTEN_BY_GIT = {
  3: [
    'eNpz8QxyZmBgYAZitmzmuGwB2fd+MJqB4R8Dg9oidwaGxiUMCMB4cEMxH6OxS/Xa81fqL7o8CmmoZnvIwJWokKR/eI9eSUUJTCHIHCE2c18Y',
    'DTZPnaEPzTxWzQ5XrcTeE7vs/vP6bpkScp1ZKHg3w8WUYQL00zJzUpGDBQtACQ+GZ3Mfzd508Zqzd7fmuvKoG4ee9ARPdOBTYCguStbPzCtJ',
    'zSuBGIcjvlzQzGO6wDLxb130tl8aR8UX7DbasZUteK4vAz/ItJzMJP38PJjrcJjnim4ez+8PHW1/Vq6U2R78pt3khP/ppzrzGYSRzMtLLS5G',
    '8jE4/hc8nodmrhvQ3LfI5jKU8t1hv+YYe4Z9HXPgS8tqJqXtuxg4QeZWgU07dnDCOe5bRt+W3vm43mipj3Dv7El5AMo/4MY=',
  ],
  4: [
    'eNpz8QxyZmBgYAFitmzmuGwB2fd+MJqB4R8Dg9oidwaGxiUMCMB4cEMxH6OxS/Xa81fqL7o8CmmoZnvIwMWQqJCkf3iPXklFCQPIBCE2c18Y',
    'DTZJnaEPzSRWzQ5XrcTeE7vs/vP6bpkScp1ZKHg3w0WulGEC9NMyc1LBAYIboAQIw7O5j2ZvunjN2btbc1151I1DT3qCJzrwKTA0BBYXJetn',
    '5pWk5pXAQxhLXLmgGch0gWXi37robb80joov2G20Yytb8FxfBn6unMwk/fy8VHxGuaIbxfP7Q0fbn5UrZbYHv2k3OeF/+qnOfAZhlrzU4mJE',
    'pC94PA/NHDegOW+RzWEo5bvDfs0x9gz7OubAl5bVTErbdzFw8leBDQn5XXr1n+X2fR+uRje/OLTyouGXt08Bq0zdRA==',
  ],
}

async function writtenByGit(version: 3 | 4): Promise<Uint8Array> {
  const deflated = Uint8Array.from(atob(WRITTEN_BY_GIT[version].join('')), (char) => char.charCodeAt(0))
  const whole = new Response(deflated).body?.pipeThrough(new DecompressionStream('deflate'))
  return new Uint8Array(await new Response(whole).arrayBuffer())
}

test('an index in version 3 or 4 that git wrote is read to the last entry, and any other version is named', async () => {
  const expected = [
    ['a b/ü.txt', 0o100644, 'c1b0730e0133447badcfd47fd144e254807b06e1', 1, 0],
    [`${'d'.repeat(200)}/file.txt`, 0o100644, '2988452a618dc8ba3eff0d4db49454d7031253bb', 5, 0],
    ['src/intent.txt', 0o100644, 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391', 0, INTENT_TO_ADD],
    ['src/lib/one.txt', 0o100644, 'd00491fd7e5bb6fa28c517a0bb32b8b506539d4d', 2, 0],
    ['src/lib/oneness.txt', 0o100644, '0cfbf08886fca9a91cb753ec8734c84fcbe52c9f', 2, 0],
    ['src/z.txt', 0o100755, '00750edc07d6415dcc07ae0351e9397b0222b7ba', 2, 0],
  ]
  const entriesOf = (index: GitIndex) =>
    index.entries.map(({ path, mode, oid, sizeBytes, extendedFlags }) => [path, mode, oid, sizeBytes, extendedFlags])
  for (const version of [3, 4] as const) {
    const bytes = await writtenByGit(version)
    const index = GitIndex.parse(bytes)
    expect(entriesOf(index)).toEqual(expected)
    expect(index.get('src/z.txt')).toMatchObject({ stage: 0, mtimeMs: 1795382891270, inode: 2531910 })
    // What is written is version 3, as an entry has flags that 2 does not know.
    const again = index.format()
    expect(new DataView(again.buffer).getUint32(4)).toBe(3)
    expect(entriesOf(GitIndex.parse(again))).toEqual(expected)
    for (const wrong of [1, 5]) {
      const changed = bytes.slice()
      new DataView(changed.buffer).setUint32(4, wrong)
      expect(() => GitIndex.parse(changed)).toThrow(`version ${wrong}`)
    }
    expect(() => GitIndex.parse(bytes.subarray(0, bytes.length - 60))).toThrow('corrupt')
  }
})

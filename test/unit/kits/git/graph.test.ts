import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runGit } from '../../../../src/kits/git/dispatch.ts'
import { decoded, LOOPBACK_REMOTES, orderGit, repositoryUrl, toBase64 } from '../../../helpers/git-host.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

interface PlannedCommit {
  /** How far back its parents are; what is before the first commit is none. */
  parents: number[]
  file: number
  /** Seconds before the commit that it would follow in time. */
  late: number
}

const history = fc.array(
  fc.record({
    parents: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { maxLength: 5 }),
    file: fc.integer({ min: 0, max: 2 }),
    late: fc.integer({ min: 0, max: 25 }),
  }),
  { minLength: 2, maxLength: 24 },
)

/** The repository on the host, with a branch at each commit that ends one. */
async function imported(commits: readonly PlannedCommit[]): Promise<string> {
  const folder = `graph-${crypto.randomUUID().slice(0, 8)}.git`
  let stream = ''
  for (const [i, { parents, file, late }] of commits.entries()) {
    const before = parents.map((back) => i - back).filter((at) => at >= 0)
    const by = `R <r@e.c> ${1_700_000_000 + i * 10 - late} +0000`
    stream += `commit refs/heads/b${String(i).padStart(2, '0')}\nmark :${i + 1}\ncommitter ${by}\ndata <<.\ncommit ${i}\n\nmore\n.\n`
    for (const [place, at] of before.entries()) stream += `${place === 0 ? 'from' : 'merge'} :${at + 1}\n`
    stream += `M 100644 inline f${file}\ndata <<.\n${i}\n.\n\n`
  }
  await orderGit({ cwd: folder, git: [['init', '-q', '--bare', '-b', 'b00', '.']] })
  await orderGit({ cwd: folder, git: [['fast-import', '--quiet']], stdinBase64: toBase64(stream) })
  return folder
}

async function cloned(folder: string): Promise<(args: string[]) => Promise<string>> {
  const fs = new MemoryFileSystem()
  const said = async (cwd: string, args: string[]) => {
    const parts = { fs, cwd, env: {}, stdin: '', pace: () => null, remotes: LOOPBACK_REMOTES }
    const { stdout, stderr, exitCode } = await runGit(args, parts)
    expect({ args, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ args, exitCode: 0, stderr: '' })
    return stdout
  }
  await said('/workspace', ['clone', '-q', repositoryUrl(folder), 'repo'])
  return (args) => said('/workspace/repo', args)
}

const LOGS = [
  '--graph --oneline --all',
  '--graph --all --date-order --format=%s',
  '--graph --all',
  '--graph --all --stat',
  '--graph --all -p --format=format:%h',
  '--graph --all --pretty=format:%s',
  '--graph --all --oneline -n 4 --skip=2',
  '--graph --all --oneline --first-parent',
  '--graph --all --oneline --no-merges',
  '--graph --all --format=%B --grep=2',
  '--graph --all --oneline -- f0 f1',
  '--all --topo-order --oneline',
  '--all --date-order --oneline',
  '--all -p --format=format:%h',
  '--all --stat --format=%h',
].map((words) => words.split(' '))

/** Merges of three and four, each with a line at its right, for which room must be made. */
const OCTOPUSES: PlannedCommit[] = [[], [1], [2], [3], [4], [4, 3, 2], [1, 2], [6, 5, 4, 3], [1, 2]].map(
  (parents, i) => ({
    parents,
    file: i % 3,
    late: 0,
  }),
)

test('draws the graph of any history as git draws it, in every form of a log', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (commits) => {
      const folder = await imported(commits)
      const ours = await cloned(folder)
      const real = await orderGit({ cwd: folder, git: LOGS.map((words) => ['log', ...words]) })
      for (const [i, words] of LOGS.entries()) {
        const report = real[i]
        expect(await ours(['log', ...words]), words.join(' ')).toBe(report && decoded(report))
      }
    }),
    { numRuns: 5, examples: [[OCTOPUSES]] },
  )
})

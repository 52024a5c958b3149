import { expect, test } from 'vitest'
import { ChangedFiles } from '../../../../durable-objects/conversation/workspace/changed-files.ts'
import { gitDiff } from '../../../../durable-objects/conversation/workspace/git-diff.ts'
import { cloneRepository } from '../../../../src/kits/git/index.ts'
import { LOOPBACK_REMOTES, largeRepository, realGit, repositoryUrl } from '../../../helpers/git-host.ts'
import { changeLines, type GitWorkspace, openGitWorkspace, write } from './open-git-workspace.ts'

const CHANGED = 10

test('a repository of 2,000 files and 500 commits is cloned whole, and each of its parts is what the host has', async () => {
  const url = repositoryUrl(await largeRepository('large.git', { files: 2000, commits: 500 }))
  const space = openGitWorkspace('large')
  const clone = (depth: number | null, directory: string) =>
    space.use(({ fs }) => cloneRepository({ fs, url, directory, depth, remotes: LOOPBACK_REMOTES }))
  const shallow = await clone(1, '/workspace/shallow')
  const whole = await clone(null, '/workspace/whole')
  expect(shallow).toEqual(whole)
  expect(whole).toMatchObject({ ok: true, branch: 'main' })
  expect((await space.git('rev-list --count HEAD', '/workspace/whole')).stdout).toBe('500\n')
  expect((await space.git('status --porcelain', '/workspace/whole')).stdout).toBe('')
  expect((await space.git('ls-files -s', '/workspace/whole')).stdout).toBe(
    (await realGit('large.git', 'ls-tree', '-r', 'main')).replace(/ blob (\S+)/g, ' $1 0'),
  )
  expect((await space.git('log --format=%H_%T', '/workspace/whole')).stdout).toBe(
    await realGit('large.git', 'log', '--format=%H_%T'),
  )
})

/** What finding ten changes, and showing one, costs in a repository of so many files. */
async function effort(files: number): Promise<{ changes: Tally; diff: Tally }> {
  const url = repositoryUrl(await largeRepository(`wide-${files}.git`, { files, commits: 1 }))
  const space = openGitWorkspace('wide')
  await space.git(`clone -q ${url} r`)
  return space.use(async ({ fs, storage, index: noting }) => {
    const tally: Tally = { fileCalls: 0, rowsRead: 0 }
    const index = new ChangedFiles(counted({ storage, fs }, tally))
    const counting = async (work: () => Promise<void>): Promise<Tally> => {
      const before = { ...tally }
      await work()
      settleCursors(tally)
      return { fileCalls: tally.fileCalls - before.fileCalls, rowsRead: tally.rowsRead - before.rowsRead }
    }
    // The one that is told of writes has to know the repository.
    expect(changeLines(await noting.changes())).toEqual([])
    await counting(async () => expect(changeLines(await index.changes())).toEqual([]))
    for (let i = 0; i < CHANGED; i++) await write(fs, `/workspace/r/d${i}/s${i % 7}/f${i}.txt`, 'changed\n')
    return {
      changes: await counting(async () => expect(changeLines(await index.changes())).toHaveLength(CHANGED)),
      diff: await counting(async () =>
        expect(await gitDiff(index, 'r/d1/s1/f1.txt', false)).toMatchObject({ ok: true, modified: 'changed' }),
      ),
    }
  })
}

test('ten changes, and one of them to look at, cost as much among 5,000 files as among 500', async () => {
  const [few, many] = [await effort(500), await effort(5000)]
  expect(many).toEqual(few)
  expect(few.changes.rowsRead).toBeGreaterThan(CHANGED)
  expect(few.changes.fileCalls).toBeLessThan(20 * CHANGED)
})

interface Tally {
  fileCalls: number
  rowsRead: number
}

const cursors: { rowsRead: number }[] = []

/** A cursor knows how many rows it read once it was read to its end. */
function settleCursors(tally: Tally): void {
  for (const { rowsRead } of cursors.splice(0)) tally.rowsRead += rowsRead
}

type RepositoryFiles = Pick<GitWorkspace, 'storage' | 'fs'>

/** The same files and the same storage, and every use of them counted. */
function counted({ storage, fs }: RepositoryFiles, tally: Tally): RepositoryFiles {
  const spied = <T extends object>(target: T, note: (result: unknown) => void): T =>
    new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const result: unknown = member.apply(target, args)
          note(result)
          return result
        }
      },
    })
  const sql = spied(storage.sql, (result) => {
    if (typeof result === 'object' && result !== null && 'rowsRead' in result)
      cursors.push(result as { rowsRead: number })
  })
  return {
    fs: spied(fs, () => {
      tally.fileCalls++
    }),
    storage: new Proxy(storage, {
      get: (_, name) => {
        if (name === 'sql') return sql
        const member: unknown = Reflect.get(storage, name)
        return typeof member === 'function' ? member.bind(storage) : member
      },
    }),
  }
}

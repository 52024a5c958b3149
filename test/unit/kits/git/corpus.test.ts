import { expect, inject, test } from 'vitest'
import { zipFolder } from '../../../../src/workspace/archive.ts'
import { hostUrl, realGit, repositoryUrl } from '../../../helpers/git-host.ts'
import type { CorpusRepository } from '../../../support/git-corpus.ts'
import { CORPUS } from '../../../support/git-corpus-plans.ts'
import { openGitWorkspace, write } from './open-git-workspace.ts'

/** One of each kind: few files and many commits, links and odd names, large files, deltas by place and by id, loose. */
const SAMPLE: ReadonlySet<string> = new Set([
  'ignore',
  'readability',
  'turndown',
  'workers-types',
  'itty',
  'kitchen-sink',
])
const TIMEOUT_MS = 600_000

const chosen = CORPUS.filter(({ name }) => inject('isProof') || SAMPLE.has(name))

test.each(chosen)(
  '$name is cloned, looked at, changed and pushed as git does',
  async ({ name }) => {
    const response = await fetch(`${hostUrl()}/corpus?name=${name}`)
    expect(response.status).toBe(200)
    const { folder, branch, tag } = (await response.json()) as CorpusRepository
    const space = openGitWorkspace(`corpus-${name}`)
    const root = '/workspace/r'
    const said = async (words: string | readonly string[], cwd = root) => {
      const { stdout, stderr, exitCode } = await space.git(words, cwd)
      expect({ words, stderr, exitCode }).toMatchObject({ exitCode: 0 })
      return stdout
    }
    const staged = (tree: string) => tree.replace(/ (?:blob|commit) (\S+)/g, ' $1 0')

    await said(`clone ${repositoryUrl(folder)} r`, '/workspace')
    expect(await said('status --porcelain')).toBe('')
    expect(await said('rev-parse --is-shallow-repository')).toBe('false\n')
    const history = ['log', '--format=%H %P %T %an <%ae> %ad %s%n%b']
    expect(await said(history)).toBe(await realGit(folder, ...history))
    // How alike two files are is counted differently by older and newer versions of git.
    const recent = ['log', '--oneline', '-n', '30', '--name-status', 'main']
    const withoutPercent = (text: string) => text.replace(/^R\d+/gm, 'R')
    expect(withoutPercent(await said(recent))).toBe(withoutPercent(await realGit(folder, ...recent)))
    expect(await said('show-ref --tags')).toBe(await realGit(folder, 'show-ref', '--tags'))
    for (const place of [branch, tag, 'main']) {
      await said(`checkout -q ${place}`)
      expect(await said('ls-files -s')).toBe(staged(await realGit(folder, 'ls-tree', '-r', place)))
      expect(await said('status --porcelain')).toBe('')
    }

    const first = (await said('ls-files')).split('\n').find((path) => /\.(ts|js|md|json)$/.test(path)) ?? ''
    await space.use(async ({ fs }) => {
      await fs.append(`${root}/${first}`, new TextEncoder().encode('one more line\n'))
      fs.makeDirectory(`${root}/new`)
      await write(fs, `${root}/new/ünï 🎉.txt`, 'new\n')
      await write(fs, `${root}/new/large.txt`, Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join(''))
    })
    await said('add -A')
    await said(['commit', '-q', '-m', 'from the workspace'])
    await said('tag -a v9 -m nine')
    await said('push -q origin main v9')
    expect(await said('rev-parse main v9')).toBe(await realGit(folder, 'rev-parse', 'main', 'v9'))
    expect(await said('status --porcelain')).toBe('')

    const zip = await space.use(async ({ fs }) => {
      const { signal } = new AbortController()
      return new Response(await zipFolder(fs, root, signal)).arrayBuffer()
    })
    const judged = await fetch(`${hostUrl()}/proof?folder=${folder}`, { method: 'POST', body: zip })
    expect([judged.status, await judged.json()]).toEqual([200, []])
  },
  TIMEOUT_MS,
)

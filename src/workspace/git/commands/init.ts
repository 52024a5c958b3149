import type { FileSystem } from '../../file-system.ts'
import { parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { isRefName } from '../refs.ts'
import { Repository } from '../repository.ts'
import { isRepository, statAt } from '../worktree.ts'

export const DEFAULT_BRANCH = 'main'

export async function init(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('init', ['quiet|q', 'initial-branch|b=', 'template='], args)
  const root = git.resolve(options.rest[0] ?? '.')
  const branch = options.value('initial-branch') ?? (await defaultBranch(git))
  if (!isRefName(`refs/heads/${branch}`)) throw fatal(`invalid initial branch name: '${branch}'`)
  if (statAt(git.fs, root)?.kind === 'file') throw fatal(`cannot mkdir ${options.rest[0]}: File exists`)
  git.fs.makeDirectory(root, { recursive: true })
  const existed = isRepository(git.fs, root)
  if (!existed) await createRepository(git.fs, root, branch)
  if (!options.has('quiet'))
    git.line(`${existed ? 'Reinitialized existing' : 'Initialized empty'} Git repository in ${root}/.git/`)
  return 0
}

async function defaultBranch(git: Invocation): Promise<string> {
  const given = git.overrides.findLast(({ key }) => key.toLowerCase() === 'init.defaultbranch')?.value
  return given ?? (await git.globalConfig()).get('init.defaultBranch') ?? DEFAULT_BRANCH
}

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
`

/** An empty repository. Without hooks: none would ever be run. */
export async function createRepository(fs: FileSystem, root: string, branch: string): Promise<Repository> {
  const repo = new Repository({ fs, root })
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    fs.makeDirectory(`${repo.gitDir}/${folder}`, { recursive: true })
  }
  await fs.write(`${repo.gitDir}/config`, utf8(CONFIG))
  await fs.write(`${repo.gitDir}/info/exclude`, utf8('# Patterns of files that git leaves alone in this repository.\n'))
  await fs.write(`${repo.gitDir}/HEAD`, utf8(`ref: refs/heads/${branch}\n`))
  return repo
}

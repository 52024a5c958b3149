import type { FileSystem } from '../../../workspace/file-system.ts'
import { lstatAt } from '../../../workspace/stat.ts'
import { parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { isRefName } from '../ref-names.ts'
import { Repository } from '../repository.ts'
import { isBareRepository, isRepository } from '../worktree.ts'

const DEFAULT_BRANCH = 'main'

export async function init(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('init', ['quiet|q', 'initial-branch|b=', 'bare', 'shared?'], args)
  if (options.rest.length > 1) throw new GitFailure('usage: git init [<options>] [<directory>]', 129)
  const root = git.resolve(options.rest[0] ?? '.')
  const branch = options.value('initial-branch') ?? (await defaultBranch(git))
  if (!isRefName(`refs/heads/${branch}`)) throw fatal(`invalid initial branch name: '${branch}'`)
  if (lstatAt(git.fs, root)?.kind === 'file') throw fatal(`cannot mkdir ${options.rest[0]}: File exists`)
  git.fs.makeDirectory(root, { recursive: true })
  if (options.has('shared')) throw fatal('git init --shared is not available here')
  const isBare = options.has('bare') || isBareRepository(git.fs, root)
  const existed = isBare ? isBareRepository(git.fs, root) : isRepository(git.fs, root)
  if (!existed) await createRepository(git.fs, root, { branch, isBare })
  if (existed && options.has('initial-branch')) git.err(`warning: re-init: ignored --initial-branch=${branch}`)
  const place = `${root}${isBare ? '' : '/.git'}/`
  if (!options.has('quiet'))
    git.line(`${existed ? 'Reinitialized existing' : 'Initialized empty'} Git repository in ${place}`)
  return 0
}

export async function defaultBranch(git: Invocation): Promise<string> {
  const given = git.overrides.findLast(({ key }) => key.toLowerCase() === 'init.defaultbranch')?.value
  return given ?? (await git.globalConfig()).get('init.defaultBranch') ?? DEFAULT_BRANCH
}

const configText = (isBare: boolean) =>
  `[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = ${isBare}\n${isBare ? '' : '\tlogallrefupdates = true\n'}`

/** An empty repository. Without hooks, because they would never be run. */
export async function createRepository(
  fs: FileSystem,
  root: string,
  { branch, isBare = false }: { branch: string; isBare?: boolean },
): Promise<Repository> {
  const repo = new Repository({ fs, root, isBare })
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    fs.makeDirectory(`${repo.gitDir}/${folder}`, { recursive: true })
  }
  await fs.write(`${repo.gitDir}/config`, utf8(configText(isBare)))
  await fs.write(`${repo.gitDir}/info/exclude`, utf8('# Patterns of files that git leaves alone in this repository.\n'))
  await fs.write(`${repo.gitDir}/HEAD`, utf8(`ref: refs/heads/${branch}\n`))
  return repo
}

// Commands about the repository as a whole: its working trees, its store, and git's data about the user.

import { parseArguments, unknownWord } from '../arguments.ts'
import { editorFor } from '../editor.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { formatSignature, NULL_ID } from '../objects.ts'
import { abbreviate } from '../revisions.ts'
import { defaultBranch } from './init.ts'

/** There is exactly one working tree, so it is listed, and none can be pruned. */
export async function worktree(git: Invocation, [action, ...args]: string[]): Promise<number> {
  if (action === undefined) throw new GitFailure('error: need a subcommand', 129)
  if (action === 'list') return listWorktrees(git, args)
  if (action.startsWith('-')) throw unknownWord(action, 'usage: git worktree [list | prune]')
  if (action !== 'prune') throw new GitFailure('git worktree: more than one working tree is not available here', 1)
  parseArguments('worktree prune', ['dry-run|n', 'verbose|v', 'expire='], args)
  git.repo()
  return 0
}

async function listWorktrees(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('worktree list', ['porcelain', 'z', 'verbose|v', 'expire='], args)
  if (options.has('z') && !options.has('porcelain')) throw fatal("the option '-z' requires '--porcelain'")
  options.assertOne('verbose', 'porcelain')
  const repo = git.repo()
  const { oid, ref } = await repo.refs.head()
  if (options.has('porcelain')) {
    const head = [`HEAD ${oid ?? NULL_ID}`, ref === null ? 'detached' : `branch ${ref}`]
    const end = options.has('z') ? '\0' : '\n'
    git.out([`worktree ${repo.root}`, ...(repo.isBare ? ['bare'] : head), ''].map((line) => line + end).join(''))
    return 0
  }
  const branch = ref === null ? '(detached HEAD)' : `[${ref.replace(/^refs\/heads\//, '')}]`
  const id = oid === null ? NULL_ID.slice(0, 7) : await abbreviate(repo, oid)
  git.line(`${repo.root}  ${repo.isBare ? '(bare)' : `${id} ${branch}`}`)
  return 0
}

/** The object store of a workspace needs no maintenance: packs are permanent, and loose objects are equally good. */
export async function gc(git: Invocation, args: string[]): Promise<number> {
  const known = ['quiet|q', 'auto', 'aggressive', 'prune?', 'no-prune', 'force', 'no-detach', 'detach', 'no-cruft']
  const { rest } = parseArguments('gc', known, args)
  if (rest.length > 0) throw new GitFailure('usage: git gc [<options>]', 129)
  git.repo()
  return 0
}

const USAGE = 'usage: git var (-l | <variable>)'

export async function variable(git: Invocation, args: string[]): Promise<number> {
  const [name = '', ...more] = args
  if (name === '-l') throw fatal('var -l is not available here; `git config --list` shows the settings')
  const value = more.length === 0 ? await named(git, name) : null
  if (value === null) throw new GitFailure(USAGE, 129)
  git.line(value)
  return 0
}

async function named(git: Invocation, name: string): Promise<string | null> {
  switch (name) {
    case 'GIT_AUTHOR_IDENT':
      return formatSignature(await git.signature('author'))
    case 'GIT_COMMITTER_IDENT':
      return formatSignature(await git.signature('committer'))
    case 'GIT_DEFAULT_BRANCH':
      return defaultBranch(git)
    case 'GIT_EDITOR':
    case 'GIT_SEQUENCE_EDITOR': {
      const editor = await editorFor(git, name === 'GIT_EDITOR' ? 'message' : 'sequence')
      if (editor === null) throw failed('Terminal is dumb, but EDITOR unset')
      return editor
    }
    case 'GIT_PAGER':
    case 'GIT_SHELL_PATH':
    case 'GIT_ATTR_SYSTEM':
    case 'GIT_ATTR_GLOBAL':
    case 'GIT_CONFIG_SYSTEM':
    case 'GIT_CONFIG_GLOBAL':
      throw fatal(`var ${name} is not available here`)
    default:
      return null
  }
}

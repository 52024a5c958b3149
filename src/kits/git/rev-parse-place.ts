// The answers of `git rev-parse` about the current location.

import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import type { Repository } from './repository.ts'

/** The answer to an option about the location; null for other options. Undefined is an answer without a line. */
export function aboutPlace(git: Invocation, option: string): string | undefined | null {
  const answer = PLACES[option]
  return answer ? answer(git) : null
}

const PLACES: Record<string, (git: Invocation) => string | undefined> = {
  '--show-toplevel': (git) => inWorkTree(git).root,
  '--git-dir': gitDirOf,
  '--absolute-git-dir': (git) => git.repo().gitDir,
  '--git-common-dir': (git) => seenFromBelow(git),
  '--is-inside-work-tree': (git) => String(!git.repo().isBare && !isInGitDir(git)),
  '--is-inside-git-dir': (git) => String(isInGitDir(git)),
  '--is-bare-repository': (git) => String(git.repo().isBare),
  '--is-shallow-repository': (git) => String(git.fs.list(git.repo().gitDir).some(({ name }) => name === 'shallow')),
  '--show-object-format': () => 'sha1',
  // There are no submodules.
  '--show-superproject-working-tree': () => undefined,
  '--show-prefix': (git) =>
    foldersBelowTop(git)
      .map((name) => `${name}/`)
      .join(''),
  '--show-cdup': (git) =>
    isInGitDir(git)
      ? undefined
      : foldersBelowTop(git)
          .map(() => '../')
          .join(''),
}

/** The path of a file of the repository. */
export function pathInGitDir(git: Invocation, name: string): string {
  return `${seenFromBelow(git)}/${name}`.replace(/^\.\//, '')
}

function inWorkTree(git: Invocation): Repository {
  const repo = git.repo()
  if (repo.isBare || isInGitDir(git)) throw fatal('this operation must be run in a work tree')
  return repo
}

function isInGitDir(git: Invocation): boolean {
  return `${git.cwd}/`.startsWith(`${git.repo().gitDir}/`)
}

function gitDirOf(git: Invocation): string {
  const { root, gitDir, isBare } = git.repo()
  if (git.cwd === gitDir) return '.'
  return git.cwd === root ? (isBare ? '.' : '.git') : gitDir
}

/** From a folder below the top. */
function seenFromBelow(git: Invocation): string {
  const up = foldersBelowTop(git).map(() => '../')
  return isInGitDir(git) ? gitDirOf(git) : `${up.join('')}${gitDirOf(git).split('/').at(-1)}`
}

function foldersBelowTop(git: Invocation): string[] {
  if (isInGitDir(git)) return []
  return git.cwd
    .slice(git.repo().root.length)
    .split('/')
    .filter((name) => name !== '')
}

// The only hook that is run: a script of the working copy that was set as its pre-commit hook when the copy was
// created. All other files in `.git/hooks` may come from anyone and are not run, which is reported.

import { lstatAt } from '../../workspace/stat.ts'
import { GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { readText } from './ref-files.ts'

const HOOK = /^#!\/bin\/bash\n# [^\n]*\nexec bash (\.[\w-]+\/pre-commit\.sh)\n$/

/** Set while a hook runs, so that a commit in it does not run it again. */
const IN_HOOK = 'GIT_IN_PRE_COMMIT_HOOK'

/** `script` is a path in the working copy, such as `.name/pre-commit.sh`. */
export function preCommitHook(script: string): string {
  return `#!/bin/bash\n# Set up with this working copy.\nexec bash ${script}\n`
}

/** Reports existing hooks that would run elsewhere, but are not run here. */
function tellOfHooks(git: Invocation, ...names: string[]): void {
  const { gitDir } = git.repo()
  for (const name of names) {
    const stat = lstatAt(git.fs, `${gitDir}/hooks/${name}`)
    if (stat?.kind === 'file' && (stat.mode & 0o100) !== 0)
      git.err(`warning: the hook .git/hooks/${name} is not run here; what it does is left to you`)
  }
}

/** Throws if the hook refuses the commit. Files that it stages are part of the commit. */
export async function runPreCommitHook(git: Invocation): Promise<void> {
  const repo = git.repo()
  const script = HOOK.exec((await readText(git.fs, `${repo.gitDir}/hooks/pre-commit`)) ?? '')?.[1]
  if (script === undefined) tellOfHooks(git, 'pre-commit', 'commit-msg')
  if (!git.execute || script === undefined || git.env[IN_HOOK] !== undefined) return
  if (lstatAt(git.fs, `${repo.root}/${script}`)?.kind !== 'file') {
    git.err(`warning: the pre-commit hook ${script} is not there`)
    return
  }
  const { stdout, stderr, exitCode } = await git.execute(`${IN_HOOK}=1 bash ${script}`, repo.root)
  git.err(stdout)
  git.err(stderr)
  repo.forgetIndex()
  if (exitCode !== 0) throw new GitFailure('', 1)
}

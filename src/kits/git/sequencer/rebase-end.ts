// How a rebase ends: its branch is moved to what was made, or everything is as it was before.

import { endMerge } from '../commits.ts'
import type { Invocation } from '../invocation.ts'
import { removeIfThere } from '../ref-files.ts'
import { overwrite } from '../switching.ts'
import type { RebaseState } from './rebase-state.ts'

const DETACHED = 'detached HEAD'
/** What is said next is not to stand behind the count of steps. */
export const CLEAR_LINE = `\r${' '.repeat(80)}\r`

export async function finishRebase(git: Invocation, state: RebaseState): Promise<void> {
  const { refs } = git.repo()
  const name = (await state.read('head-name')) ?? DETACHED
  const onto = await state.read('onto')
  const by = await git.signature('committer')
  const oid = (await refs.head()).oid ?? ''
  if (name !== DETACHED) {
    await refs.change(name, { oid, by, message: `${git.logged('rebase')} (finish): ${name} onto ${onto}` })
    await refs.moveHead({ ref: name }, by, `${git.logged('rebase')} (finish): returning to ${name}`)
  }
  if (!state.has('quiet')) git.err(`${CLEAR_LINE}Successfully rebased and updated ${name}.`)
  forgetRebase(git, state)
}

export async function abortRebase(git: Invocation, state: RebaseState): Promise<void> {
  const repo = git.repo()
  const name = (await state.read('head-name')) ?? DETACHED
  const original = (await state.read('orig-head')) ?? ''
  const by = await git.signature('committer')
  await overwrite(git, (await repo.commit(original)).tree)
  const said = `rebase (abort): returning to ${name === DETACHED ? original : name}`
  await repo.refs.moveHead(name === DETACHED ? { oid: original } : { ref: name }, by, said)
  forgetRebase(git, state)
}

export function forgetRebase(git: Invocation, state: RebaseState): void {
  const repo = git.repo()
  state.remove()
  removeIfThere(repo.fs, `${repo.gitDir}/REBASE_HEAD`)
  endMerge(repo)
}

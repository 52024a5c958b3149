// The end of a rebase: its branch is moved to the new commits, or everything is restored.

import { applyAutostash, keepAutostash } from '../autostash.ts'
import { endMerge } from '../commits.ts'
import type { Invocation } from '../invocation.ts'
import { removeIfThere } from '../ref-files.ts'
import { overwrite } from '../switching.ts'
import type { RebaseState } from './rebase-state.ts'

const DETACHED = 'detached HEAD'
/** Clears the progress line before the next message. */
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
  await bringBackChanges(git, state)
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
  await bringBackChanges(git, state)
  forgetRebase(git, state)
}

/** Leaves everything unchanged; stashed changes go to the list of stashes. */
export async function quitRebase(git: Invocation, state: RebaseState): Promise<void> {
  const autostash = await state.read('autostash')
  if (autostash !== null) {
    git.err('Autostash exists; creating a new stash entry.')
    await keepAutostash(git, autostash)
  }
  forgetRebase(git, state)
}

async function bringBackChanges(git: Invocation, state: RebaseState): Promise<void> {
  const autostash = await state.read('autostash')
  if (autostash !== null) await applyAutostash(git, autostash)
}

function forgetRebase(git: Invocation, state: RebaseState): void {
  const repo = git.repo()
  state.remove()
  removeIfThere(repo.fs, `${repo.gitDir}/REBASE_HEAD`)
  endMerge(repo)
}

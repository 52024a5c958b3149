// The lines of a long status about unfinished operations.

import type { Rebasing, UnderWay } from './sequencer/under-way.ts'

type Picking = Extract<UnderWay, { kind: 'cherry-pick' | 'revert' }>

/** Without the line about the branch. `hasUnmerged`: whether conflicts are left. */
export function stateText(states: readonly UnderWay[], hasUnmerged: boolean): string {
  const search = states.find((state) => state.kind === 'bisect')
  return operationText(states, hasUnmerged) + (search ? bisectText(search.from) : '')
}

function bisectText(from: string): string {
  const where = /^[0-9a-f]{40}$/.test(from) ? from.slice(0, 7) : from
  return `You are currently bisecting, started from branch '${where}'.\n  (use "git bisect reset" to get back to the original branch)\n\n`
}

function operationText(states: readonly UnderWay[], hasUnmerged: boolean): string {
  const rebase = states.find((state) => state.kind === 'rebase')
  if (states.some(({ kind }) => kind === 'merge')) {
    return `${rebase ? `${progressText(rebase)}\n` : ''}${mergeText(hasUnmerged)}`
  }
  if (states.some(({ kind }) => kind === 'am')) return AM_TEXT
  const inner = states.find((state): state is Picking => state.kind === 'cherry-pick' || state.kind === 'revert')
  const pick = inner ? pickText(inner, hasUnmerged) : ''
  return (rebase ? rebaseText(rebase, hasUnmerged) : '') + (rebase && inner?.kind === 'cherry-pick' ? '' : pick)
}

const AM_TEXT = `You are in the middle of an am session.
  (fix conflicts and then run "git am --continue")
  (use "git am --skip" to skip this patch)
  (use "git am --abort" to restore the original branch)

`

function mergeText(hasUnmerged: boolean): string {
  return hasUnmerged
    ? 'You have unmerged paths.\n  (fix conflicts and run "git commit")\n  (use "git merge --abort" to abort the merge)\n\n'
    : 'All conflicts fixed but you are still merging.\n  (use "git commit" to conclude merge)\n\n'
}

function pickText({ kind, oid }: { kind: 'cherry-pick' | 'revert'; oid: string | null }, hasUnmerged: boolean): string {
  const [name, doing] = kind === 'revert' ? ['Revert', 'reverting'] : ['Cherry-pick', 'cherry-picking']
  const first = oid === null ? `${name} currently in progress.` : `You are currently ${doing} commit ${oid}.`
  const next = hasUnmerged
    ? `(fix conflicts and run "git ${kind} --continue")`
    : oid === null
      ? `(run "git ${kind} --continue" to continue)`
      : `(all conflicts fixed: run "git ${kind} --continue")`
  return `${first}\n  ${next}\n  (use "git ${kind} --skip" to skip this patch)\n  (use "git ${kind} --abort" to cancel the ${kind} operation)\n\n`
}

function rebaseText(rebase: Rebasing, hasUnmerged: boolean): string {
  const { branch, onto, isConcluding, isSplitting } = rebase
  const where = branch === null ? '' : ` branch '${branch}' on '${onto}'`
  let text = progressText(rebase)
  if (hasUnmerged) {
    text +=
      `You are currently rebasing${where}.\n  (fix conflicts and then run "git rebase --continue")\n` +
      '  (use "git rebase --skip" to skip this patch)\n  (use "git rebase --abort" to check out the original branch)\n'
  } else if (isConcluding) {
    text += `You are currently rebasing${where}.\n  (all conflicts fixed: run "git rebase --continue")\n`
  } else if (isSplitting) {
    text += `You are currently splitting a commit while rebasing${where}.\n  (Once your working directory is clean, run "git rebase --continue")\n`
  } else {
    text +=
      `You are currently editing a commit while rebasing${where}.\n` +
      '  (use "git commit --amend" to amend the current commit)\n' +
      '  (use "git rebase --continue" once you are satisfied with your changes)\n'
  }
  return `${text}\n`
}

function progressText({ done, todo }: Rebasing): string {
  const list = (lines: string[]) => lines.map((line) => `   ${line}\n`).join('')
  const commands = (count: number) => `command${count === 1 ? '' : 's'}`
  let text = 'No commands done.\n'
  if (done.length > 0) {
    text = `Last ${commands(done.length)} done (${done.length} ${commands(done.length)} done):\n${list(done.slice(-2))}`
    if (done.length > 2) text += '  (see more in file .git/rebase-merge/done)\n'
  }
  if (todo.length === 0) return `${text}No commands remaining.\n`
  const next = `Next ${commands(todo.length)} to do (${todo.length} remaining ${commands(todo.length)}):\n`
  return `${text}${next}${list(todo.slice(0, 2))}  (use "git rebase --edit-todo" to view and edit)\n`
}

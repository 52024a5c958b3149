// The merge options from the command line and the configuration.

import type { Arguments } from './arguments.ts'
import { fatal, GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import type { MergeStyle } from './merge-text.ts'

export async function mergeStyle(git: Invocation, strategyOptions: readonly string[]): Promise<MergeStyle> {
  const style: MergeStyle = {}
  for (const option of strategyOptions) {
    if (option === 'ours' || option === 'theirs') style.favour = option
    else throw fatal(`the strategy option '${option}' is not available here`)
  }
  const marks = (await git.setting('merge.conflictStyle')) ?? 'merge'
  if (marks !== 'merge' && marks !== 'diff3') throw fatal(`merge.conflictStyle '${marks}' is not available here`)
  style.showsBase = marks === 'diff3'
  return style
}

/** Git's default strategy and `ours` are supported, the older ones are not. */
export function assertStrategy(name: string | null): void {
  if (['resolve', 'octopus', 'subtree'].includes(name ?? ''))
    throw fatal(`the merge strategy '${name}' is not available here`)
  if (!['', 'ort', 'recursive', 'ours'].includes(name ?? ''))
    throw new GitFailure(
      `Could not find merge strategy '${name}'.\nAvailable strategies are: octopus ours recursive resolve subtree.`,
      1,
    )
}

export type MergeStrategy = 'ort' | 'recursive' | 'ours'

/** The older name is an alias of the same strategy, but is shown in messages. */
function mergeStrategy(name: string | null): MergeStrategy {
  return name === 'ours' || name === 'recursive' ? name : 'ort'
}

/** The common options of `merge` and `pull`. */
export async function mergeWishes(git: Invocation, options: Arguments) {
  return {
    commits: !options.has('no-commit'),
    squash: options.has('squash'),
    quiet: options.has('quiet'),
    showsStat: !options.has('no-stat'),
    unrelated: options.has('allow-unrelated-histories'),
    strategy: mergeStrategy(options.value('strategy')),
    style: await mergeStyle(git, options.all('strategy-option')),
  }
}

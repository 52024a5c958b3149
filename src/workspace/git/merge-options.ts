// What `-X` and the configuration say about how texts are merged.

import { fatal } from './failure.ts'
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

/** Only git's own way of merging is there. */
export function assertStrategy(name: string | null): void {
  if (!['', 'ort', 'recursive'].includes(name ?? '')) throw fatal(`Could not find merge strategy '${name}'.`)
}

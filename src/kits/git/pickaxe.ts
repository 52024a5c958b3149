// Selects commits by their changes: the kinds of changes, a text with a changed number of occurrences, or a pattern in
// added or removed lines.

import type { Arguments } from './arguments.ts'
import { isBinary, textOf } from './bytes.ts'
import { hunksOf } from './diffing/hunks.ts'
import { fatal } from './failure.ts'
import type { FileState } from './objects.ts'
import { compilePattern } from './patterns.ts'
import { contentsOf, type PairedChange } from './renames.ts'
import type { Repository } from './repository.ts'
import { withLetters } from './show-changes.ts'

export const PICKAXE_OPTIONS = ['S=', 'G=', 'pickaxe-regex', 'pickaxe-all']

/** Null if no option concerns changes. Otherwise a function that returns the matching changes of a commit. */
export function changeFilter(
  repo: Repository,
  options: Arguments,
): ((changes: PairedChange[]) => Promise<PairedChange[]>) | null {
  const letters = options.value('diff-filter')
  const picks = pickaxe(repo, options)
  if (letters === null && picks === null) return null
  return async (changes) => {
    const shown = withLetters(changes, letters)
    if (picks === null) return shown
    const kept: PairedChange[] = []
    for (const change of shown) if (await picks(change)) kept.push(change)
    return options.has('pickaxe-all') && kept.length > 0 ? shown : kept
  }
}

type Pick = (change: PairedChange) => Promise<boolean>

function pickaxe(repo: Repository, options: Arguments): Pick | null {
  const [text, lines] = [options.value('S'), options.value('G')]
  if (text !== null && lines !== null) throw fatal("options '-G' and '-S' cannot be used together")
  const ignoresCase = options.has('regexp-ignore-case')
  if (text !== null) {
    const notation = options.has('pickaxe-regex') ? 'extended' : 'fixed'
    return byCount(repo, compilePattern(text, { notation, ignoresCase, flags: 'gm' }))
  }
  return lines === null ? null : byLines(repo, compilePattern(lines, { notation: 'extended', ignoresCase, flags: 'm' }))
}

async function contents(repo: Repository, path: string, state: FileState | null): Promise<Uint8Array> {
  const bytes = state ? await contentsOf(repo, path, state.oid) : null
  return bytes ?? new Uint8Array()
}

function byCount(repo: Repository, pattern: RegExp): Pick {
  const countIn = (bytes: Uint8Array) => [...textOf(bytes).matchAll(pattern)].length
  return async ({ path, from = path, before, after }) => {
    if (before?.oid === after?.oid) return false
    return countIn(await contents(repo, from, before)) !== countIn(await contents(repo, path, after))
  }
}

function byLines(repo: Repository, pattern: RegExp): Pick {
  return async ({ path, from = path, before, after }) => {
    if (before?.oid === after?.oid) return false
    const [old, now] = [await contents(repo, from, before), await contents(repo, path, after)]
    if (isBinary(old) || isBinary(now)) return false
    const hunks = hunksOf(textOf(old), textOf(now), { context: 0 })
    return hunks.split('\n').some((line) => /^[-+]/.test(line) && pattern.test(line.slice(1)))
  }
}

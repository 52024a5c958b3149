// The ways in which commands show a set of changes, and the options that choose among them.

import type { Arguments } from './arguments.ts'
import { changeSummary, diffstat, numstat, shortstat } from './diffstat.ts'
import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { DEFAULT_CONTEXT, patchOf, statusLetter } from './patch.ts'
import { quoted } from './pathspec.ts'
import { type PairedChange, withRenames } from './renames.ts'
import type { Change } from './status.ts'

export const CHANGE_OPTIONS = [
  'patch|p|u',
  'no-patch|s',
  'stat?',
  'shortstat',
  'numstat',
  'summary',
  'name-only',
  'name-status',
  'unified|U=',
  'null|z',
  'no-renames',
  'find-renames|M?',
  'full-index',
  'ignore-all-space|w',
  'ignore-space-change|b',
  'no-color',
  'color?',
  'no-ext-diff',
  'diff-filter=',
  'no-prefix',
  'raw',
  'text|a',
  'no-textconv',
  'minimal',
  'patience',
  'histogram',
  'patch-with-stat',
]

const MAX_PATCH_CHARS = 32 * 1024 * 1024

/** Whether any of the options asks for something else than a patch. */
export function asksForSummary(options: Arguments): boolean {
  return [
    'stat',
    'shortstat',
    'numstat',
    'summary',
    'name-only',
    'name-status',
    'no-patch',
    'raw',
    'patch-with-stat',
  ].some((name) => options.has(name))
}

/** The parts in git's order, without a line between them and what is above. */
export async function showChanges(git: Invocation, changes: readonly Change[], options: Arguments): Promise<string> {
  const repo = git.repo()
  const paired = options.has('no-renames') ? [...changes] : await withRenames(repo, changes)
  const shown = withLetters(paired, options.value('diff-filter'))
  if (shown.length === 0) return ''
  const end = options.has('null') ? '\0' : '\n'
  const name = (path: string) => (options.has('null') ? path : quoted(path))
  let text = ''
  if (options.has('raw')) text += shown.map((change) => rawLine(change, name) + end).join('')
  if (options.has('numstat')) text += await numstat(repo, shown)
  if (options.has('stat') || options.has('patch-with-stat')) text += await diffstat(repo, shown)
  if (options.has('shortstat')) text += await shortstat(repo, shown)
  if (options.has('summary')) text += changeSummary(shown)
  if (options.has('name-only')) text += shown.map(({ path }) => name(path) + end).join('')
  if (options.has('name-status')) text += shown.map((change) => `${namesOf(change, name, end)}${end}`).join('')
  const wantsPatch =
    options.has('patch') || options.has('patch-with-stat') || options.has('unified') || !asksForSummary(options)
  if (!wantsPatch || options.has('no-patch')) return text
  return `${text}${text === '' ? '' : '\n'}${await patches(git, shown, options)}`
}

async function patches(git: Invocation, changes: readonly PairedChange[], options: Arguments): Promise<string> {
  const context = options.has('unified') ? Number(options.value('unified')) : DEFAULT_CONTEXT
  if (!Number.isInteger(context) || context < 0) throw fatal('--unified expects a numerical value')
  let text = ''
  for (const change of changes) {
    const pause = git.pace()
    if (pause) await pause
    text += await patchOf(git.repo(), change, {
      context,
      fullIndex: options.has('full-index'),
      ignoreWhitespace: options.has('ignore-all-space') || options.has('ignore-space-change'),
      ...(options.has('no-prefix') && { prefixes: ['', ''] as const }),
    })
    if (text.length > MAX_PATCH_CHARS) throw fatal('the patch is too large to be shown; name the files to be shown')
  }
  return text
}

/** Those whose letter the filter names; a small letter names what to leave out. */
export function withLetters(changes: PairedChange[], filter: string | null): PairedChange[] {
  if (filter === null) return changes
  const wanted = filter.replace(/[a-z]/g, '')
  return changes.filter((change) => {
    const letter = statusLetter(change)[0] ?? ''
    return (wanted === '' || wanted.includes(letter)) && !filter.includes(letter.toLowerCase())
  })
}

function namesOf(change: PairedChange, name: (path: string) => string, end: string): string {
  const gap = end === '\0' ? '\0' : '\t'
  const from = change.from === undefined ? '' : name(change.from) + gap
  return `${statusLetter(change)}${gap}${from}${name(change.path)}`
}

function rawLine(change: PairedChange, name: (path: string) => string): string {
  const { before, after } = change
  const octal = (mode: number | undefined) => (mode ?? 0).toString(8).padStart(6, '0')
  const id = (oid: string | undefined) => (oid ?? '').slice(0, 7).padEnd(7, '0')
  const from = change.from === undefined ? '' : `${name(change.from)}\t`
  return `:${octal(before?.mode)} ${octal(after?.mode)} ${id(before?.oid)} ${id(after?.oid)} ${statusLetter(change)}\t${from}${name(change.path)}`
}

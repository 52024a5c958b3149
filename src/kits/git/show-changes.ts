// The output formats of a set of changes, and the options that select them.

import type { Arguments } from './arguments.ts'
import { obeySettings } from './diff-settings.ts'
import { DEFAULT_CONTEXT, type Whitespace } from './diffing/hunks.ts'
import { byWords, type WordOptions, wordPattern, wordStyle } from './diffing/word-diff.ts'
import { changeSummary, diffstat, numstat, shortstat } from './diffstat.ts'
import { fatal, GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { NULL_ID } from './objects.ts'
import { patchOf, statusLetter } from './patch.ts'
import { type PairedChange, withRenames } from './renames.ts'
import { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'
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
  'unified|U?',
  'null|z',
  'no-renames',
  'find-renames|M?',
  'full-index',
  'ignore-all-space|w',
  'ignore-space-change|b',
  'ignore-space-at-eol',
  'ignore-cr-at-eol',
  'no-color',
  'color?',
  'no-ext-diff',
  'ext-diff',
  'textconv',
  'indent-heuristic',
  'no-color-moved',
  'ignore-submodules?',
  'binary',
  'abbrev?',
  'diff-filter=',
  'no-prefix',
  'src-prefix=',
  'dst-prefix=',
  'raw',
  'text|a',
  'no-textconv',
  'histogram',
  'diff-algorithm=',
  'patch-with-stat',
  'patch-with-raw',
  'compact-summary',
  'R',
  'relative?',
  'no-relative',
  'word-diff?',
  'word-diff-regex=',
  'color-words?',
]

const MAX_PATCH_CHARS = 32 * 1024 * 1024

/** Whether any of the options selects a format other than a patch. */
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
    'patch-with-raw',
    'compact-summary',
  ].some((name) => options.has(name))
}

/** After a commit: a line separates a statistic from the message if a patch follows. */
export function changesBelow(text: string, options: Arguments): string {
  const hasPatch = ['patch', 'binary', 'patch-with-stat', 'patch-with-raw', 'unified'].some((name) => options.has(name))
  const hasTable = ['stat', 'shortstat', 'numstat', 'summary', 'patch-with-stat', 'compact-summary'].some((name) =>
    options.has(name),
  )
  return `${hasPatch && hasTable && !options.has('no-patch') ? '---' : ''}\n${text}`
}

/** The parts in git's order, without a separator before them. */
export async function showChanges(git: Invocation, changes: readonly Change[], options: Arguments): Promise<string> {
  await obeySettings(git, options)
  // A file outside the folder cannot be the source of a rename.
  const below = folderAskedFor(git, options)
  const inside = changes.filter(({ path }) => path.startsWith(below))
  const turned = options.has('R')
    ? inside.map(({ path, before, after }) => ({ path, before: after, after: before }))
    : inside
  const paired = options.has('no-renames')
    ? [...turned]
    : await withRenames(git.repo(), turned, renameThreshold(options))
  return showPaired(git, paired, options)
}

/** For changes with known renames. */
export async function showPaired(git: Invocation, paired: PairedChange[], options: Arguments): Promise<string> {
  refuseColor(options)
  refuseNumbers(options)
  if (options.has('no-patch')) return ''
  await obeySettings(git, options)
  const { repo, changes } = relativeChanges(git, paired, options)
  const shown = withLetters(changes, options.value('diff-filter'))
  if (shown.length === 0) return ''
  const end = options.has('null') ? '\0' : '\n'
  const name = (path: string) => (options.has('null') ? path : repo.quoted(path))
  const how = {
    whitespace: whitespaceOf(options),
    width: statWidth(options),
    isCompact: options.has('compact-summary'),
  }
  if (options.has('name-only')) return shown.map(({ path }) => name(path) + end).join('')
  if (options.has('name-status')) return shown.map((change) => `${namesOf(change, name, end)}${end}`).join('')
  let text = ''
  const length = idLength(options) ?? repo.shownIdLength ?? (await repo.objects.usualIdLength())
  if (options.has('raw') || options.has('patch-with-raw')) text += await rawLines(repo, shown, { name, end, length })
  if (options.has('numstat')) text += await numstat(repo, shown, { ...how, isBare: options.has('null') })
  if (['stat', 'patch-with-stat', 'compact-summary'].some((wanted) => options.has(wanted)))
    text += await diffstat(repo, shown, how)
  if (options.has('shortstat')) text += await shortstat(repo, shown, how)
  if (options.has('summary')) text += changeSummary(repo, shown)
  const wantsPatch =
    ['patch', 'binary', 'patch-with-stat', 'patch-with-raw', 'unified'].some((wanted) => options.has(wanted)) ||
    !asksForSummary(options)
  if (!wantsPatch) return text
  return `${text}${text === '' ? '' : '\n'}${await patches(git, repo, { changes: shown, options })}`
}

/** Of `--relative`; `''` if everything is shown. */
function folderAskedFor(git: Invocation, options: Arguments): string {
  if (!options.has('relative') || options.has('no-relative')) return ''
  const { root } = git.repo()
  const below = git.cwd === root ? '' : `${git.cwd.slice(root === '/' ? 1 : root.length + 1)}/`
  return options.value('relative') || below
}

/** With `--relative` only paths below a folder, named relative to it. */
function relativeChanges(
  git: Invocation,
  paired: PairedChange[],
  options: Arguments,
): { repo: Repository; changes: PairedChange[] } {
  const repo = git.repo()
  const { root } = repo
  const prefix = folderAskedFor(git, options)
  if (prefix === '') return { repo, changes: paired }
  const inside = (path: string) => path.startsWith(prefix)
  const short = (path: string) => path.slice(prefix.length).replace(/^\//, '')
  const changes = paired
    .filter(({ path, from }) => inside(path) && (from === undefined || inside(from)))
    .map((change) => ({
      ...change,
      path: short(change.path),
      ...(change.from !== undefined && { from: short(change.from) }),
    }))
  const folder = `${root === '/' ? '' : root}/${prefix}`.replace(/\/+$/, '')
  const view = new Repository({ fs: repo.fs, root: folder, pace: repo.pace, objects: repo.objects })
  view.quotesNonAscii = repo.quotesNonAscii
  return { repo: view, changes }
}

export function wordOptions(options: Arguments): WordOptions | null {
  const regex =
    options.value('word-diff-regex') || options.value('color-words') || options.value('word-regex-setting') || null
  const isAsked = ['word-diff', 'color-words', 'word-diff-regex'].some((name) => options.has(name))
  const style = options.has('color-words') ? 'color' : wordStyle(options.value('word-diff') ?? '')
  if (!isAsked || style === null) return null
  return { style, pattern: regex === null ? null : wordPattern(regex) }
}

export function algorithmOf(options: Arguments): 'myers' | 'histogram' {
  const name =
    options.value('diff-algorithm') ??
    (options.has('histogram') ? 'histogram' : (options.value('algorithm-setting') ?? 'myers'))
  if (name === 'myers' || name === 'default') return 'myers'
  if (name !== 'histogram') throw fatal(`the diff algorithm '${name}' is not available here`)
  return name
}

/** The width of the table, from `--stat=<width>`. */
function statWidth(options: Arguments): number | undefined {
  const text = options.value('stat') ?? ''
  if (text === '') return undefined
  return Number(text)
}

/** Invalid numbers are reported whether or not there is output. */
function refuseNumbers(options: Arguments): void {
  const width = options.value('stat') ?? ''
  if (/^\D/.test(width)) throw new GitFailure(`error: invalid --stat value: ${width}`, 129)
  if (!/^\d*$/.test(width)) throw fatal(`--stat=${width} is not available here; --stat=<width> is`)
  const context = options.value('unified') ?? ''
  if (!/^\d*$/.test(context)) throw new GitFailure('error: --unified expects a numerical value', 129)
}

/** In per cent, from `-M90%` or `--find-renames=90`. */
export function renameThreshold(options: Arguments): number | undefined {
  const text = options.value('find-renames') ?? ''
  if (text === '') return undefined
  const match = /^(\d+)(%?)$/.exec(text)
  if (!match) throw fatal(`the threshold '${text}' for renames is not a number`)
  return match[2] === '%' ? Number(match[1]) : Number(`0.${match[1]}`) * 100
}

export function refuseColor(options: Arguments): void {
  const color = options.has('color') ? options.value('color') || 'always' : 'never'
  if (color === 'always') throw fatal('--color=always is not available here')
}

export function whitespaceOf(options: Arguments): Whitespace | undefined {
  if (options.has('ignore-all-space')) return 'ignored'
  if (options.has('ignore-space-change')) return 'condensed'
  if (options.has('ignore-space-at-eol')) return 'trimmed'
  return options.has('ignore-cr-at-eol') ? 'without-cr' : undefined
}

type Patched = { changes: readonly PairedChange[]; options: Arguments }

async function patches(git: Invocation, repo: Repository, { changes, options }: Patched): Promise<string> {
  const words = wordOptions(options)
  const context = contextOf(options)
  let text = ''
  for (const change of changes) {
    const pause = git.pace()
    if (pause) await pause
    const patch = await patchOf(repo, change, {
      context,
      fullIndex: options.has('full-index'),
      ...(options.value('abbrev') && { idLength: Number(options.value('abbrev')) }),
      whitespace: whitespaceOf(options),
      algorithm: algorithmOf(options),
      isText: options.has('text'),
      prefixes: prefixesOf(options),
    })
    if (options.has('binary') && /^Binary files .* differ$/m.test(patch))
      throw fatal(`--binary with a change of a binary file ('${change.path}') is not available here`)
    text += words ? byWords(patch, words) : patch
    if (text.length > MAX_PATCH_CHARS) throw fatal('the patch is too large to be shown; name the files to be shown')
  }
  return text
}

export function contextOf(options: Arguments): number {
  const setting = options.value('context-setting') ?? DEFAULT_CONTEXT
  const context = Number(options.value('unified') || setting)
  if (!Number.isInteger(context) || context < 0) throw fatal('--unified expects a numerical value')
  return context
}

export function prefixesOf(options: Arguments): readonly [string, string] {
  const [source, target] = [options.value('src-prefix'), options.value('dst-prefix')]
  const [old, now] = [source ?? 'a/', target ?? 'b/']
  if (source !== null || target !== null) return options.has('R') ? [now, old] : [old, now]
  if (options.has('no-prefix')) return ['', '']
  const [a, b] = options.value('prefixes')?.split(' ') ?? []
  if (a !== undefined && b !== undefined) return options.has('R') ? [b, a] : [a, b]
  return options.has('R') ? ['b/', 'a/'] : ['a/', 'b/']
}

/** Changes with a letter in the filter; a lower case letter excludes. */
export function withLetters(changes: PairedChange[], filter: string | null): PairedChange[] {
  if (filter === null) return changes
  const unknown = /[^acdmrtuxb*]/i.exec(filter)?.[0]
  if (unknown !== undefined)
    throw new GitFailure(`error: unknown change class '${unknown}' in --diff-filter=${filter}`, 129)
  if (filter.includes('*')) throw fatal('--diff-filter with * is not available here')
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

/** The number of displayed digits of an id; output for scripts has complete ids. Undefined for the default. */
export function idLength(options: Arguments): number | undefined {
  const given = options.value('abbrev')
  if (given !== null) return given === '' ? undefined : Math.max(4, Number(given))
  return options.has('whole-ids') || options.has('no-abbrev') ? 40 : undefined
}

type Raw = { name: (path: string) => string; end: string; length: number }

async function rawLines(repo: Repository, shown: readonly PairedChange[], raw: Raw): Promise<string> {
  let text = ''
  for (const change of shown) {
    const short = async (oid = NULL_ID) =>
      oid === NULL_ID ? oid.slice(0, raw.length) : abbreviate(repo, oid, raw.length)
    text += rawLine(change, { ...raw, ids: [await short(change.before?.oid), await short(change.after?.oid)] })
  }
  return text
}

function rawLine(change: PairedChange, { name, end, ids }: Raw & { ids: readonly [string, string] }): string {
  const { before, after } = change
  const octal = (mode: number | undefined) => (mode ?? 0).toString(8).padStart(6, '0')
  const gap = end === '\0' ? end : '\t'
  const from = change.from === undefined ? '' : `${name(change.from)}${gap}`
  return `:${octal(before?.mode)} ${octal(after?.mode)} ${ids[0]} ${ids[1]} ${statusLetter(change)}${gap}${from}${name(change.path)}${end}`
}

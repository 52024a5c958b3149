import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { byteOrder } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import { type IndexEntry, SKIP_WORKTREE } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { lineEndAttributes, lineEndsIn } from '../line-endings.ts'
import { MODE } from '../objects.ts'
import { relativeTo } from '../pathspec.ts'
import { readText } from '../ref-files.ts'
import type { Repository } from '../repository.ts'
import { abbreviate } from '../revisions.ts'
import { filesBelow } from '../staging.ts'
import { unstagedChanges, walkWorktree } from '../status.ts'
import { wildcard } from '../wildcards.ts'
import { contentsAt } from '../worktree.ts'

const OPTIONS = [
  'cached|c',
  'deleted|d',
  'modified|m',
  'others|o',
  'ignored|i',
  'stage|s',
  'unmerged|u',
  'exclude-standard',
  'exclude|x=',
  'exclude-from|X=',
  'null|z',
  't',
  'v',
  'eol',
  'abbrev?',
  'deduplicate',
  'full-name',
  'error-unmatch',
]

/** A line of the list, and its letter with `-t`. */
interface Listed {
  tag: string
  path: string
  entry: IndexEntry | null
}

export async function lsFiles(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('ls-files', OPTIONS, args)
  const has = (...names: string[]) => names.some((name) => options.has(name))
  if (options.has('ignored') && !has('others', 'cached')) throw fatal('ls-files -i must be used with either -o or -c')
  const isExcluded = await exclusion(git, options)
  if (options.has('ignored') && isExcluded === null && !options.has('exclude-standard'))
    throw fatal('ls-files --ignored needs some exclude pattern')
  // Without paths, everything below the current folder.
  const pathspec = git.pathspec(options.rest.length > 0 ? options.rest : ['.'])
  const lists = { options, isExcluded: isExcluded ?? (() => false) }
  const rows: Listed[] = []
  if (has('others')) rows.push(...(await others(git, lists)))
  const isPlain = !has('others', 'deleted', 'modified', 'unmerged')
  if (has('cached', 'stage', 'unmerged') || isPlain) rows.push(...(await cached(git, lists)))
  if (has('deleted', 'modified')) rows.push(...(await changed(git, lists)))
  let last = ''
  for (const row of ordered(rows)) {
    if (!pathspec.matches(row.path)) continue
    const line = await shown(git, row, options)
    if (!options.has('deduplicate') || line !== last) git.out(line)
    last = line
  }
  const [missing] = options.has('error-unmatch') ? pathspec.unmatched() : []
  if (missing === undefined) return 0
  throw new GitFailure(
    `error: pathspec '${missing}' did not match any file(s) known to git\nDid you forget to 'git add'?`,
    1,
  )
}

/** Untracked files come first; all lines of one file are together. */
function ordered(rows: readonly Listed[]): Listed[] {
  const tracked = rows.filter(({ entry }) => entry !== null)
  const ranks = new Map(tracked.map((row, i) => [row, i]))
  tracked.sort(
    (a, b) =>
      byteOrder(a.path, b.path) ||
      (a.entry?.stage ?? 0) - (b.entry?.stage ?? 0) ||
      (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0),
  )
  return [...rows.filter(({ entry }) => entry === null), ...tracked]
}

type Lists = { options: Arguments; isExcluded: (path: string) => boolean }

async function shown(git: Invocation, { tag, path, entry }: Listed, options: Arguments): Promise<string> {
  const repo = git.repo()
  const isBare = options.has('null')
  const name = options.has('full-name') ? path : relativeTo(repo, git.cwd, path)
  const mark = options.has('t') || options.has('v') ? `${letterOf(tag, entry, options)} ` : ''
  const ends = options.has('eol') ? await lineEndColumns(repo, path, entry) : ''
  const text = `${isBare ? name : repo.quoted(name)}${isBare ? '\0' : '\n'}`
  if (!entry || !(options.has('stage') || options.has('unmerged'))) return mark + ends + text
  const length = Number(options.value('abbrev')) || undefined
  const id = options.has('abbrev') ? await abbreviate(repo, entry.oid, length) : entry.oid
  return `${mark}${entry.mode.toString(8).padStart(6, '0')} ${id} ${entry.stage}\t${ends}${text}`
}

/** Lower case for a file that is assumed to be unchanged. */
function letterOf(tag: string, entry: IndexEntry | null, options: Arguments): string {
  const letter = tag === 'H' && entry && (entry.extendedFlags & SKIP_WORKTREE) !== 0 ? 'S' : tag
  return options.has('v') && entry?.isAssumed ? letter.toLowerCase() : letter
}

/** The line ends in the index and in the working tree, and the attributes for them. */
async function lineEndColumns(repo: Repository, path: string, entry: IndexEntry | null): Promise<string> {
  const isFile = entry !== null && (entry.mode === MODE.file || entry.mode === MODE.executable)
  const stored = isFile ? lineEndsIn((await repo.objects.read(entry.oid)).bytes) : ''
  const full = `${repo.root}/${path}`
  const stat = lstatAt(repo.fs, full)
  const there = stat?.kind === 'file' ? lineEndsIn(await contentsAt(repo.fs, full, stat)) : ''
  const said = lineEndAttributes(await repo.attributes.of(path))
  return `i/${stored.padEnd(5)} w/${there.padEnd(5)} attr/${said.padEnd(17)}\t`
}

async function cached(git: Invocation, { options, isExcluded }: Lists): Promise<Listed[]> {
  const repo = git.repo()
  const rows: Listed[] = []
  for (const entry of (await repo.index()).entries) {
    if (options.has('unmerged') && entry.stage === 0) continue
    const { path } = entry
    if (options.has('ignored')) {
      const isIgnored = options.has('exclude-standard') && (await repo.ignored.ignores(path, false))
      if (!isIgnored && !isExcluded(path)) continue
    }
    rows.push({ tag: entry.stage > 0 ? 'M' : 'H', path, entry })
  }
  return rows
}

/** A removed file counts as changed. */
async function changed(git: Invocation, { options }: Lists): Promise<Listed[]> {
  const repo = git.repo()
  const index = await repo.index()
  const after = new Map((await unstagedChanges(repo)).map((change) => [change.path, change.after]))
  const rows: Listed[] = []
  for (const entry of index.entries) {
    const { path } = entry
    const isGone = entry.stage === 0 && after.has(path) && after.get(path) === null
    if (options.has('deleted') && isGone) rows.push({ tag: 'R', path, entry })
    if (options.has('modified') && (after.has(path) || entry.stage > 0)) rows.push({ tag: 'C', path, entry })
  }
  return rows
}

async function others(git: Invocation, { options, isExcluded }: Lists): Promise<Listed[]> {
  const repo = git.repo()
  const found = await walkWorktree(repo, { untracked: 'all', ignored: true })
  const ignored = filesBelow(repo, found.ignored)
  const byRules = options.has('exclude-standard')
  const [kept, left] = byRules ? [found.untracked, ignored] : [[...found.untracked, ...ignored], []]
  const paths = options.has('ignored')
    ? [...left, ...kept.filter(isExcluded)]
    : kept.filter((path) => !isExcluded(path))
  return paths.sort(byteOrder).map((path) => ({ tag: '?', path, entry: null }))
}

/** The exclusion patterns of the command line; null if there are none. */
async function exclusion(git: Invocation, options: Arguments): Promise<((path: string) => boolean) | null> {
  const patterns = options.all('exclude')
  for (const file of options.all('exclude-from')) {
    const text = await readText(git.fs, git.resolve(file))
    if (text === null) throw fatal(`cannot use ${file} as exclude file`)
    patterns.push(...text.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
  }
  if (patterns.length === 0) return null
  const negated = patterns.find((pattern) => pattern.startsWith('!'))
  if (negated !== undefined) throw fatal(`git ls-files: the pattern '${negated}' is not available here`)
  const tests = patterns.map(excludes)
  return (path) => tests.some((isMatch) => isMatch(path))
}

/** Like a line of `.gitignore`: a name anywhere, or a path from the top if it contains a slash. */
function excludes(pattern: string): (path: string) => boolean {
  const isFolder = pattern.endsWith('/')
  const bare = pattern.replace(/\/$/, '')
  const regex = wildcard(bare.replace(/^\//, ''), { passesSlashes: false })
  return (path) => {
    const parts = path.split('/')
    const last = isFolder ? parts.length - 1 : parts.length
    for (let count = 1; count <= last; count++) {
      const asked = bare.includes('/') ? parts.slice(0, count).join('/') : (parts[count - 1] ?? '')
      if (regex.test(asked)) return true
    }
    return false
  }
}

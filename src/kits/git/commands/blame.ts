import { linesOf } from '../../../workspace/diff.ts'
import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { type BlamedLine, type BlameRequest, blame, blobAt, type Origin } from '../blaming.ts'
import { textOf } from '../bytes.ts'
import { showDate, styleIn } from '../dates.ts'
import { fatal, GitFailure } from '../failure.ts'
import { ancestorsOf } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { joinedRanges, type LineRange, parseRange } from '../line-ranges.ts'
import { subjectOf } from '../message-parts.ts'
import { NULL_ID, type Signature } from '../objects.ts'
import { quoted } from '../path-quoting.ts'
import { abbreviate, rangesOrCommits } from '../revisions.ts'
import { whitespaceOf } from '../show-changes.ts'
import { storedAt } from '../worktree.ts'

const OPTIONS = [
  'L=',
  'porcelain|p',
  'line-porcelain',
  'show-email|e',
  'show-name|f',
  'show-number|n',
  's',
  'l',
  't',
  'root',
  'b',
  'w',
  'abbrev=',
  'date=',
  'first-parent',
  'no-progress',
]

export async function blameCommand(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('blame', OPTIONS, args)
  const { path, words } = await pathAndRevisions(git, options)
  const request = await requestFor(git, { options, path, words })
  const lines = linesOf(request.text)
  const ranges = rangesOf(options, lines, path)
  const wanted = ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i))
  const found = await blame(git.repo(), request, wanted)
  const rows = wanted.flatMap((line): Row[] => {
    const blamed = found.get(line)
    return blamed ? [{ ...blamed, final: line, text: lines[line] ?? '' }] : []
  })
  if (options.has('porcelain') || options.has('line-porcelain')) showPorcelain(git, rows, options.has('line-porcelain'))
  else await showTable(git, rows, { options, path })
  return 0
}

interface Row extends BlamedLine {
  final: number
  text: string
}

async function pathAndRevisions(git: Invocation, options: Arguments): Promise<{ path: string; words: string[] }> {
  const usage = new GitFailure('usage: git blame [<options>] [<rev-opts>] [<rev>] [--] <file>', 129)
  const plain = [...options.plain]
  let file = options.paths?.[0]
  if (options.paths && options.paths.length > 1) throw usage
  if (file === undefined) {
    // The file is the last argument, or the first one with the revision after it.
    const isFirst = plain.length === 2 && lstatAt(git.fs, git.resolve(plain[1] ?? '')) === null
    file = isFirst ? plain.shift() : plain.pop()
  }
  if (file === undefined) throw usage
  const { root } = git.repo()
  const full = git.resolve(file)
  if (!full.startsWith(root === '/' ? '/' : `${root}/`))
    throw fatal(`${file}: '${file}' is outside repository at '${root}'`)
  return { path: full.slice(root === '/' ? 1 : root.length + 1), words: plain }
}

type BlameArguments = { options: Arguments; path: string; words: readonly string[] }

async function requestFor(git: Invocation, { options, path, words }: BlameArguments): Promise<BlameRequest> {
  const repo = git.repo()
  const starts = await rangesOrCommits(repo, words)
  if (starts.include.length > 1) throw fatal('more than one commit to begin with')
  const hidden = starts.exclude.length > 0 ? await ancestorsOf(repo, starts.exclude) : new Set<string>()
  const head = (await repo.refs.head()).oid
  const common = { path, hidden, head, firstParent: options.has('first-parent'), whitespace: whitespace(options) }
  const [oid = null] = starts.include
  if (oid !== null) return { ...common, oid, text: await textAt(git, oid, { path, word: words[0] ?? '' }) }
  if (head === null) throw fatal('no such ref: HEAD')
  const committed = await blobAt(repo, (await repo.commit(head)).tree, path)
  const stat = lstatAt(git.fs, `${repo.root}/${path}`)
  if (committed === null && !(await repo.index()).get(path)) throw fatal(`no such path '${path}' in HEAD`)
  if (!stat) throw fatal(`Cannot lstat '${path}': No such file or directory`)
  const text = textOf(await storedAt(repo, path, stat))
  const isSame = committed !== null && textOf((await repo.objects.read(committed)).bytes) === text
  return { ...common, oid: isSame ? head : null, text }
}

function whitespace(options: Arguments) {
  return options.has('w') ? ('ignored' as const) : whitespaceOf(options)
}

async function textAt(git: Invocation, oid: string, { path, word }: { path: string; word: string }): Promise<string> {
  const repo = git.repo()
  const blob = await blobAt(repo, (await repo.commit(oid)).tree, path)
  if (blob === null) throw fatal(`no such path ${path} in ${word.replace(/^.*\.\./, '') || 'HEAD'}`)
  return textOf((await repo.objects.read(blob)).bytes)
}

function rangesOf(options: Arguments, lines: readonly string[], name: string): LineRange[] {
  if (!options.has('L')) return [{ start: 0, end: lines.length }]
  const ranges: LineRange[] = []
  for (const text of options.all('L'))
    ranges.push(parseRange(text, lines, { after: ranges.at(-1)?.end ?? 0, name, by: 'blame' }))
  return joinedRanges(ranges)
}

const UNCOMMITTED = { name: 'Not Committed Yet', email: 'not.committed.yet' } as const

function personOf(origin: Origin, role: 'author' | 'committer'): Signature {
  return origin.commit?.[role] ?? { ...UNCOMMITTED, seconds: Math.floor(Date.now() / 1000), zone: '+0000' }
}

/** The maximum width of a date in each style, whatever the dates are. */
const DATE_WIDTHS: Readonly<Record<string, number>> = {
  ...{ rfc: 31, rfc2822: 31, iso: 25, iso8601: 25, 'iso-strict': 25, 'iso8601-strict': 25, raw: 16, unix: 10 },
  ...{ short: 10, relative: 22, human: 16, default: 30, normal: 30, local: 30 },
}

async function showTable(git: Invocation, rows: Row[], { options, path }: { options: Arguments; path: string }) {
  const isNamed = options.has('show-name') || rows.some(({ origin }) => origin.path !== path)
  const nameOf = ({ origin }: Row) => {
    const { name, email } = personOf(origin, 'author')
    return options.has('show-email') ? `<${email}>` : name
  }
  const name = options.has('t') ? 'raw' : (options.value('date') ?? (await git.setting('blame.date')) ?? 'iso')
  const style = styleIn(name, git.env)
  const ids = await shownIds(git, rows, options)
  const widest = (of: (row: Row) => number) => rows.reduce((most, row) => Math.max(most, of(row)), 0)
  const widths = {
    name: widest((row) => [...nameOf(row)].length),
    path: widest(({ origin }) => origin.path.length),
    final: widest(({ final }) => String(final + 1).length),
    line: widest(({ line }) => String(line + 1).length),
    date:
      DATE_WIDTHS[name.replace(/-local$/, '')] ??
      widest(({ origin }) => showDate(personOf(origin, 'author'), style).length),
  }
  for (const row of rows) {
    const { origin, line, final, text } = row
    let head = ids.get(origin.oid) ?? ''
    if (isNamed) head += ` ${origin.path.padEnd(widths.path)}`
    if (options.has('show-number')) head += ` ${String(line + 1).padStart(widths.line)}`
    if (!options.has('s')) {
      const name = nameOf(row)
      const pad = ' '.repeat(widths.name - [...name].length)
      head += ` (${name}${pad} ${showDate(personOf(origin, 'author'), style).padEnd(widths.date)}`
    }
    git.out(`${head} ${String(final + 1).padStart(widths.final)}) ${text.replace(/\n$/, '')}\n`)
  }
}

async function usualLength(git: Invocation): Promise<number> {
  return git.repo().shownIdLength ?? git.repo().objects.usualIdLength()
}

async function shownIds(
  git: Invocation,
  rows: readonly Row[],
  options: Arguments,
): Promise<Map<string | null, string>> {
  const given = options.has('l')
    ? 40
    : options.has('abbrev')
      ? Math.max(4, Number(options.value('abbrev')))
      : await usualLength(git)
  if (!Number.isInteger(given)) throw fatal('--abbrev expects a numerical value')
  const origins = new Map(rows.map(({ origin }) => [origin.oid, origin]))
  let length = Math.min(given, 40)
  if (length < 40) {
    for (const oid of origins.keys())
      if (oid !== null) length = Math.max(length, (await abbreviate(git.repo(), oid, length)).length)
    // One more letter, which is replaced by the mark of a boundary.
    length++
  }
  const shown = new Map<string | null, string>()
  for (const [oid, { isBoundary }] of origins) {
    const id = oid ?? NULL_ID
    const isMarked = isBoundary && !options.has('root')
    const text = isMarked ? `^${id.slice(0, length - 1)}` : id.slice(0, length)
    shown.set(oid, isMarked && options.has('b') ? ' '.repeat(length) : text)
  }
  return shown
}

function showPorcelain(git: Invocation, rows: readonly Row[], isFull: boolean): void {
  const told = new Set<string>()
  const pathsOf = new Map<string | null, Set<string>>()
  for (const { origin } of rows) pathsOf.set(origin.oid, (pathsOf.get(origin.oid) ?? new Set()).add(origin.path))
  for (const [i, row] of rows.entries()) {
    const { origin, line, final, text } = row
    const id = origin.oid ?? NULL_ID
    const isFirst = !follows(rows[i - 1], row)
    const count = isFirst ? ` ${groupLength(rows, i)}` : ''
    git.line(`${id} ${line + 1} ${final + 1}${count}`)
    if (isFull || (isFirst && !told.has(id))) git.out(details(origin))
    else if (isFirst && (pathsOf.get(origin.oid)?.size ?? 0) > 1) git.line(`filename ${quoted(origin.path)}`)
    told.add(id)
    git.out(`\t${text.replace(/\n$/, '')}\n`)
  }
}

function follows(before: Row | undefined, row: Row): boolean {
  return before?.origin === row.origin && before.line + 1 === row.line && before.final + 1 === row.final
}

function groupLength(rows: readonly Row[], from: number): number {
  let end = from + 1
  for (let row = rows[end]; row && follows(rows[end - 1], row); row = rows[end]) end++
  return end - from
}

function details(origin: Origin): string {
  const lines: string[] = []
  for (const role of ['author', 'committer'] as const) {
    const { name, email, seconds, zone } = personOf(origin, role)
    lines.push(`${role} ${name}`, `${role}-mail <${email}>`, `${role}-time ${seconds}`, `${role}-tz ${zone}`)
  }
  lines.push(
    `summary ${origin.commit ? subjectOf(origin.commit.message) : `Version of ${origin.path} from ${origin.path}`}`,
  )
  if (origin.previous) lines.push(`previous ${origin.previous.oid} ${quoted(origin.previous.path)}`)
  if (origin.isBoundary) lines.push('boundary')
  return `${[...lines, `filename ${quoted(origin.path)}`].join('\n')}\n`
}

// One commit as a log shows it.

import { type DateStyle, showDate } from './dates.ts'
import { fatal } from './failure.ts'
import type { Visited } from './history.ts'
import { mailBody, mailHeader } from './mail/patch-mail.ts'
import { bodyOf, slug, subjectOf } from './message-parts.ts'
import { notesTitle, noteText, type ShownNotes } from './notes.ts'
import type { Signature } from './objects.ts'
import type { ShownEntry } from './reflog-walk.ts'
import type { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'

export interface PrettyOptions {
  /** A name such as `oneline`, or a text with placeholders behind `format:` or `tformat:`. */
  format: string
  date: DateStyle
  abbreviates: boolean
  /** Of abbreviated ids; as many letters as are needed, but seven at least, unless told otherwise. */
  idLength?: number | undefined
  /** By id; null leaves them out. */
  decorations: ReadonlyMap<string, readonly string[]> | null
  /** The entry of a log of refs that led to a commit. */
  entryOf?: (visited: Visited) => ShownEntry | null
  /** Shown below the message. */
  notes?: ShownNotes | null
  /** Of a comparison of two: on which of them a commit is, and whether that stands in front of its id. */
  sides?: { of: ((oid: string) => string) | null; isShown: boolean }
}

const NAMED = new Set(['oneline', 'short', 'medium', 'full', 'fuller', 'reference', 'raw', 'email', 'mboxrd'])

/** As `--pretty` and `--format` take it. */
export function parseFormat(given: string): string {
  if (NAMED.has(given)) return given
  if (given.startsWith('format:') || given.startsWith('tformat:')) return given
  if (given.includes('%')) return `tformat:${given}`
  if (given === '') return 'medium'
  throw fatal(`invalid --pretty format: ${given}`)
}

/** Whether commits stand apart by a line, or each of them ends in one. */
export function isSeparated(format: string): boolean {
  return !['oneline', 'reference'].includes(format) && !format.startsWith('tformat:')
}

/** Without the line end behind it. */
export async function prettyCommit(repo: Repository, visited: Visited, options: PrettyOptions): Promise<string> {
  const { format } = options
  if (/^t?format:/.test(format)) return filled(repo, visited, { ...options, format: format.replace(/^t?format:/, '') })
  const { oid, commit } = visited
  const id = options.abbreviates ? await abbreviate(repo, oid, options.idLength) : oid
  const names = decoration(options, oid)
  const decorated = names === '' ? id : `${id} ${names}`
  const mark = options.sides?.isShown ? `${options.sides.of?.(oid) ?? '>'} ` : ''
  if (format === 'email' || format === 'mboxrd') {
    const body = mailBody(commit.message).replace(/\n$/, '')
    const quoted = format === 'mboxrd' ? body.replace(/^>*From /gm, '>$&') : body
    return mailHeader(oid, commit, { tag: 'PATCH' }) + quoted
  }
  if (format === 'oneline') {
    const below = await noteLines(repo, oid, options)
    const entry = options.entryOf?.(visited)
    const what = entry ? `${entry.selector}: ${entry.message}` : subjectOf(commit.message)
    const line = `${mark}${decorated} ${what}`
    return below.length === 0 ? line : `${[line, ...below.slice(1)].join('\n')}\n`
  }
  if (format === 'reference') {
    return `${await abbreviate(repo, oid)} (${subjectOf(commit.message)}, ${showDate(commit.author, 'short')})`
  }
  return [
    ...(await headerLines(repo, visited, { ...options, decorated: `${mark}${decorated}` })),
    '',
    ...bodyLines(commit.message, format),
    ...(await noteLines(repo, oid, options)),
  ].join('\n')
}

async function noteLines(repo: Repository, oid: string, { notes, format }: PrettyOptions): Promise<string[]> {
  const text = notes && format !== 'short' ? await noteText(repo, notes, oid) : null
  if (!notes || text === null) return []
  const lines = text.replace(/\n*$/, '').split('\n')
  return ['', notesTitle(notes.ref), ...lines.map((line) => `    ${line}`)]
}

async function headerLines(
  repo: Repository,
  visited: Visited,
  options: PrettyOptions & { decorated: string },
): Promise<string[]> {
  const { format, date, decorated } = options
  const { commit } = visited
  const entry = options.entryOf?.(visited)
  const { author, committer, parents } = commit
  const lines = [`commit ${decorated}`]
  if (entry) {
    lines.push(`Reflog: ${entry.selector} (${entry.name} <${entry.email}>)`, `Reflog message: ${entry.message}`)
  }
  if (format === 'raw') return [...lines, ...rawLines(commit)]
  if (parents.length > 1)
    lines.push(
      `Merge: ${(await Promise.all(parents.map((parent) => abbreviate(repo, parent, options.idLength)))).join(' ')}`,
    )
  if (format === 'fuller') {
    return [
      ...lines,
      `Author:     ${who(author)}`,
      `AuthorDate: ${showDate(author, date)}`,
      `Commit:     ${who(committer)}`,
      `CommitDate: ${showDate(committer, date)}`,
    ]
  }
  if (format === 'full') return [...lines, `Author: ${who(author)}`, `Commit: ${who(committer)}`]
  return format === 'short'
    ? [...lines, `Author: ${who(author)}`]
    : [...lines, `Author: ${who(author)}`, `Date:   ${showDate(author, date)}`]
}

function rawLines({ author, committer, parents, tree }: Visited['commit']): string[] {
  const raw = (role: string, by: Signature) => `${role} ${who(by)} ${by.seconds} ${by.zone}`
  return [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    raw('author', author),
    raw('committer', committer),
  ]
}

const who = ({ name, email }: Signature): string => `${name} <${email}>`

function bodyLines(message: string, format: string): string[] {
  const text = format === 'short' ? subjectOf(message) : message.replace(/\s+$/, '')
  return text
    .split('\n')
    .map((line) => (TABS_EXPANDED.has(format) ? expandTabs(line) : line))
    .map((line) => (line === '' && format !== 'raw' ? '    ' : `    ${line}`))
    .map((line) => (line.trimEnd() === '' ? '    ' : line))
}

const TABS_EXPANDED: ReadonlySet<string> = new Set(['medium', 'full', 'fuller'])

/** Up to the next of the columns that are eight apart. */
function expandTabs(line: string): string {
  let shown = ''
  for (const [i, part] of line.split('\t').entries())
    shown = i === 0 ? part : shown.padEnd(shown.length + 8 - (shown.length % 8)) + part
  return shown
}

function decoration({ decorations }: PrettyOptions, oid: string, wrapped = true): string {
  const names = decorations?.get(oid) ?? []
  return names.length === 0 ? '' : wrapped ? `(${names.join(', ')})` : names.join(', ')
}

async function filled(repo: Repository, visited: Visited, options: PrettyOptions): Promise<string> {
  const { author, committer } = visited.commit
  const person = (by: Signature, what: string) => personField(by, what, options.date)
  const fields = fieldsOf(repo, visited, options)
  let text = ''
  let at = 0
  let padding: Padding | null = null
  const pattern =
    /%(?:([-+ ]?)(?:([ac])([nNeEdDrtiIslLhs])|(<|>)\((\d+)\)|((?:<\||>\||>>|[<>]|w)\([^)]*\)|\((?:trailers|describe|decorate)[:)])|x([0-9a-fA-F]{2})|(C(?:\([^)]*\)|reset|red|green|blue|auto|yellow|cyan|magenta|white|bold))|(G[?GSKFPT]|g[DdsnNeE]|[HhTtPpsbBfdDn%meNS])))/g
  for (const match of options.format.matchAll(pattern)) {
    const [whole, magic, role, what, side, width, unknown, code, , field] = match
    if (unknown !== undefined) throw fatal(`the placeholder %${unknown} of a format is not available here`)
    text += options.format.slice(at, match.index)
    at = match.index + whole.length
    if (side !== undefined) {
      padding = { isLeft: side === '>', width: Number(width) }
      continue
    }
    let filling = ''
    if (role && what) filling = person(role === 'a' ? author : committer, what)
    else if (code) filling = String.fromCharCode(Number.parseInt(code, 16))
    else if (field) filling = (await fields[field]?.()) ?? ''
    if (magic === '-' && filling === '') text = text.replace(/\n+$/, '')
    const led = filling !== '' && (magic === '+' || magic === ' ') ? (magic === '+' ? '\n' : ' ') + filling : filling
    text += padding ? padded(led, padding) : led
    padding = null
  }
  return text + options.format.slice(at)
}

/** What each placeholder of a single field stands for. */
function fieldsOf(
  repo: Repository,
  visited: Visited,
  options: PrettyOptions,
): Record<string, () => string | Promise<string>> {
  const { oid, commit } = visited
  const entry = options.entryOf?.(visited)
  const { tree, parents, message } = commit
  const short = (id: string) => abbreviate(repo, id, options.idLength)
  return {
    H: () => oid,
    h: () => short(oid),
    T: () => tree,
    t: () => short(tree),
    P: () => parents.join(' '),
    p: async () => (await Promise.all(parents.map(short))).join(' '),
    s: () => subjectOf(message),
    b: () => bodyOf(message),
    B: () => message,
    f: () => slug(subjectOf(message)),
    d: () => (decoration(options, oid) === '' ? '' : ` ${decoration(options, oid)}`),
    D: () => decoration(options, oid, false),
    n: () => '\n',
    '%': () => '%',
    m: () => options.sides?.of?.(oid) ?? '>',
    e: () => '',
    S: () => {
      throw fatal('the placeholder %S of a format is not available here')
    },
    N: async () => (options.notes ? ((await noteText(repo, options.notes, oid)) ?? '') : ''),
    gD: () => entry?.selector ?? '',
    gd: () => entry?.shortSelector ?? '',
    gs: () => entry?.message ?? '',
    gn: () => entry?.name ?? '',
    gN: () => entry?.name ?? '',
    ge: () => entry?.email ?? '',
    gE: () => entry?.email ?? '',
    'G?': () => 'N',
  }
}

/** `%<(20)` and `%>(20)`: what stands in front of the next field, or behind it. */
interface Padding {
  isLeft: boolean
  width: number
}

function padded(text: string, { isLeft, width }: Padding): string {
  const blanks = ' '.repeat(Math.max(0, width - [...text].length))
  return isLeft ? blanks + text : text + blanks
}

function personField(by: Signature, what: string, date: DateStyle): string {
  const styles: Record<string, DateStyle> = {
    d: date,
    D: 'rfc',
    r: 'relative',
    t: 'unix',
    i: 'iso',
    I: 'iso-strict',
    s: 'short',
    h: 'human',
  }
  if (what === 'n' || what === 'N') return by.name
  if (what === 'e' || what === 'E') return by.email
  return what === 'l' || what === 'L' ? (by.email.split('@')[0] ?? '') : showDate(by, styles[what] ?? date)
}

/** What `--decorate` writes behind a commit: HEAD first, and the others from the last name to the first. */
export async function decorationsOf(repo: Repository, isFull = false): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const head = await repo.refs.head()
  for (const [name, oid] of await repo.refs.list('refs/')) {
    const isTag = name.startsWith('refs/tags/')
    if (name === head.ref || !(isTag || /^refs\/(heads\/|remotes\/|stash$)/.test(name))) continue
    const short = isFull ? name : name.replace(/^refs\/(heads|remotes|tags)\//, '')
    const shown = isTag ? `tag: ${short}` : short
    const target = isTag ? await repo.peel(oid, 'commit').catch(() => oid) : oid
    found.set(target, [shown, ...(found.get(target) ?? [])])
  }
  const shown = head.ref === null ? 'HEAD' : `HEAD -> ${isFull ? head.ref : head.ref.replace(/^refs\/heads\//, '')}`
  if (head.oid !== null) found.set(head.oid, [shown, ...(found.get(head.oid) ?? [])])
  return found
}

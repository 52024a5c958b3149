// One commit in a log.

import { showDate } from './dates.ts'
import { fatal } from './failure.ts'
import type { Visited } from './history.ts'
import { mailBody, mailHeader } from './mail/patch-mail.ts'
import { subjectOf } from './message-parts.ts'
import { notesTitle, noteText } from './notes.ts'
import type { Signature } from './objects.ts'
import { decoration, filledFormat } from './placeholders.ts'
import type { PrettyOptions } from './pretty-options.ts'
import type { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'

const NAMED = new Set(['oneline', 'short', 'medium', 'full', 'fuller', 'reference', 'raw', 'email', 'mboxrd'])

/** In the form of `--pretty` and `--format`. */
export function parseFormat(given: string): string {
  if (NAMED.has(given)) return given
  if (given.startsWith('format:') || given.startsWith('tformat:')) return given
  if (given.includes('%')) return `tformat:${given}`
  if (given === '') return 'medium'
  throw fatal(`invalid --pretty format: ${given}`)
}

/** Whether commits are separated by a line, or each one ends with a line end. */
export function isSeparated(format: string): boolean {
  return !['oneline', 'reference'].includes(format) && !format.startsWith('tformat:')
}

/** Without a line end. */
export async function prettyCommit(repo: Repository, visited: Visited, options: PrettyOptions): Promise<string> {
  const { format } = options
  if (/^t?format:/.test(format))
    return filledFormat(repo, visited, { ...options, format: format.replace(/^t?format:/, '') })
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
    return `${await abbreviate(repo, oid, options.idLength)} (${subjectOf(commit.message)}, ${showDate(commit.author, options.date)})`
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

/** Up to the next tab stop; there is one every eight columns. */
function expandTabs(line: string): string {
  let shown = ''
  for (const [i, part] of line.split('\t').entries())
    shown = i === 0 ? part : shown.padEnd(shown.length + 8 - (shown.length % 8)) + part
  return shown
}

/** The refs of `--decorate`: HEAD first, the others in reverse order of their names. */
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

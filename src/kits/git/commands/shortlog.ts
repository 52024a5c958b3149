import { parseArguments } from '../arguments.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { searchHistory } from '../log-search.ts'
import { subjectOf } from '../message-parts.ts'
import type { Commit } from '../objects.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { FILTER_OPTIONS, startsOf, withCounts, withNot } from './log.ts'

const OPTIONS = [
  ...FILTER_OPTIONS.filter((name) => !/^(max-count|committer)/.test(name)),
  'max-count=',
  'summary|s',
  'numbered|n',
  'email|e',
  'committer|c',
  'group=',
  'format=',
]

/** The subjects of commits, grouped by author. */
export async function shortlog(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('shortlog', OPTIONS, withNot(withCounts(args)))
  if (options.has('format')) throw fatal('git shortlog --format is not available here')
  const group = options.value('group') ?? (options.has('committer') ? 'committer' : 'author')
  if (options.all('group').length > 1) throw fatal('git shortlog with more than one --group is not available here')
  if (group !== 'author' && group !== 'committer') throw fatal(`git shortlog --group=${group} is not available here`)
  if (git.stdin !== '' && options.rest.length === 0)
    throw fatal('git shortlog of a log that it is given is not available here; name the revisions, such as HEAD')
  const { revisions, paths } = await splitRevisions(git, options)
  const starts = await startsOf(git, options, revisions)
  const { commits } = await searchHistory(git, { options, starts, pathspec: git.pathspec(paths) })
  const rows = byPerson(commits.map(({ commit }) => commit).reverse(), { group, withEmail: options.has('email') })
  if (options.has('numbered')) rows.sort(([, a], [, b]) => b.length - a.length)
  if (options.has('summary'))
    for (const [who, subjects] of rows) git.line(`${String(subjects.length).padStart(6)}\t${who}`)
  else git.out(listed(rows, '      '))
  return 0
}

type Grouping = { group: 'author' | 'committer'; withEmail: boolean }

function byPerson(commits: readonly Commit[], { group, withEmail }: Grouping): [string, string[]][] {
  const people = new Map<string, string[]>()
  for (const commit of commits) {
    const { name, email } = commit[group]
    const who = withEmail ? `${name} <${email}>` : name
    people.set(who, [...(people.get(who) ?? []), subjectOf(commit.message).replace(/^\[PATCH[^\]]*\]\s*/, '')])
  }
  return [...people].sort(([a], [b]) => (a < b ? -1 : 1))
}

function listed(rows: readonly [string, string[]][], indent: string): string {
  return rows
    .map(
      ([who, subjects]) => `${who} (${subjects.length}):\n${subjects.map((line) => `${indent}${line}\n`).join('')}\n`,
    )
    .join('')
}

/** For a series of mails. */
export function shortlogText(commits: readonly Commit[]): string {
  const rows = byPerson(commits, { group: 'author', withEmail: false })
  return listed(
    rows.map(([who, subjects]) => [who, subjects.map(wrapped)]),
    '  ',
  )
}

const WIDTH = 72

function wrapped(subject: string): string {
  const [first = '', ...words] = subject.split(' ')
  let column = 2 + first.length
  return words.reduce((text, word) => {
    const isNext = column + 1 + word.length > WIDTH
    column = isNext ? 4 + word.length : column + 1 + word.length
    return isNext ? `${text}\n    ${word}` : `${text} ${word}`
  }, first)
}

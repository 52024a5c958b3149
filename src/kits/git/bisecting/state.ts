// The state of a bisection in `.git`, in git's format.

import { utf8 } from '../bytes.ts'
import type { Invocation } from '../invocation.ts'
import { subjectOf } from '../message-parts.ts'
import { readText, removeIfThere } from '../ref-files.ts'
import { isRefName } from '../ref-names.ts'
import type { Repository } from '../repository.ts'

export interface Terms {
  bad: string
  good: string
}

export interface Marks {
  bad: string | null
  good: string[]
  skipped: string[]
}

const FILES = [
  'BISECT_START',
  'BISECT_LOG',
  'BISECT_NAMES',
  'BISECT_TERMS',
  'BISECT_EXPECTED_REV',
  'BISECT_ANCESTORS_OK',
  'BISECT_RUN',
  'BISECT_FIRST_PARENT',
  'BISECT_HEAD',
]

export async function read(repo: Repository, name: string): Promise<string | null> {
  return (await readText(repo.fs, `${repo.gitDir}/${name}`))?.trimEnd() ?? null
}

export async function write(repo: Repository, name: string, text: string): Promise<void> {
  await repo.fs.write(`${repo.gitDir}/${name}`, utf8(text))
}

/** The branch or commit from before the search; null if there is no search. */
export function startOf(repo: Repository): Promise<string | null> {
  return read(repo, 'BISECT_START')
}

export async function termsOf(repo: Repository): Promise<Terms> {
  const [bad = 'bad', good = 'good'] = ((await read(repo, 'BISECT_TERMS')) ?? 'bad\ngood').split('\n')
  return { bad, good }
}

export async function marksOf(repo: Repository): Promise<Marks> {
  const terms = await termsOf(repo)
  const marks: Marks = { bad: null, good: [], skipped: [] }
  for (const [ref, oid] of await repo.refs.list('refs/bisect/')) {
    const name = ref.slice('refs/bisect/'.length)
    if (name === terms.bad) marks.bad = oid
    else if (name.startsWith(`${terms.good}-`)) marks.good.push(oid)
    else if (name.startsWith('skip-')) marks.skipped.push(oid)
  }
  return marks
}

const COMMANDS = 'help start skip next reset visualize view replay log run terms'.split(' ')

/** Why the terms cannot have these names; null if they can. */
export function termsRefusal({ bad, good }: Terms): string | null {
  if (bad === good) return 'please use two different terms'
  for (const [term, usual, meanings] of [
    [bad, 'bad', ['good', 'old']],
    [good, 'good', ['bad', 'new']],
  ] as const) {
    if (!isRefName(`refs/bisect/${term}`)) return `'${term}' is not a valid term`
    if (COMMANDS.includes(term)) return `can't use the builtin command '${term}' as a term`
    if (term !== usual && meanings.some((other) => other === term))
      return `can't change the meaning of the term '${term}'`
  }
  return null
}

/** The commit being tested: the checked out one, or its substitute without a checkout. */
export async function testedCommit(repo: Repository): Promise<string> {
  return (await read(repo, 'BISECT_HEAD')) ?? (await repo.refs.resolve('HEAD')) ?? ''
}

/** The paths that limit a search. */
export async function pathsOf(repo: Repository): Promise<string[]> {
  const text = (await read(repo, 'BISECT_NAMES')) ?? ''
  const words = [...text.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = '']) => word.replaceAll("'\\''", "'"))
  // Git stores the arguments as given, and reads no paths without dashes before them.
  return words[0] === '--' ? words.slice(1) : []
}

export function inQuotes(words: readonly string[]): string {
  return words.map((word) => ` '${word.replace(/['!]/g, (sign) => `'\\${sign}'`)}'`).join('')
}

export async function log(repo: Repository, line: string): Promise<void> {
  await repo.fs.append(`${repo.gitDir}/BISECT_LOG`, utf8(`${line}\n`))
}

export async function described(repo: Repository, oid: string): Promise<string> {
  return `[${oid}] ${subjectOf((await repo.commit(oid)).message)}`
}

/** Stores the state of a commit; `isLogged`: whether as a separate command. */
export async function mark(git: Invocation, state: string, oid: string, isLogged: boolean): Promise<void> {
  const repo = git.repo()
  const terms = await termsOf(repo)
  const name = state === terms.bad ? state : `${state}-${oid}`
  await repo.refs.change(`refs/bisect/${name}`, { oid, by: await git.signature('committer'), message: '' })
  await log(repo, `# ${state}: ${await described(repo, oid)}`)
  if (isLogged) await log(repo, `git bisect ${state} ${oid}`)
}

export async function forget(git: Invocation): Promise<void> {
  const repo = git.repo()
  for (const ref of (await repo.refs.list('refs/bisect/')).keys())
    await repo.refs.change(ref, { oid: null, by: await git.signature('committer'), message: '' })
  for (const name of FILES) removeIfThere(repo.fs, `${repo.gitDir}/${name}`)
}

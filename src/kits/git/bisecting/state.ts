// What a search for the commit that changed something keeps in `.git`, as git keeps it.

import { utf8 } from '../bytes.ts'
import type { Invocation } from '../invocation.ts'
import { subjectOf } from '../message-parts.ts'
import { readText, removeIfThere } from '../ref-files.ts'
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
]

export async function read(repo: Repository, name: string): Promise<string | null> {
  return (await readText(repo.fs, `${repo.gitDir}/${name}`))?.trimEnd() ?? null
}

export async function write(repo: Repository, name: string, text: string): Promise<void> {
  await repo.fs.write(`${repo.gitDir}/${name}`, utf8(text))
}

/** Where the search began: a branch or a commit; null when nothing is searched for. */
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

/** What a search is restricted to. */
export async function pathsOf(repo: Repository): Promise<string[]> {
  const text = (await read(repo, 'BISECT_NAMES')) ?? ''
  return [...text.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = '']) => word.replaceAll("'\\''", "'"))
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

/** Notes what a commit is; `isLogged` says whether as a command of its own. */
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

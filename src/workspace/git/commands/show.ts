import { parseArguments } from '../arguments.ts'
import { textOf } from '../bytes.ts'
import { showDate } from '../dates.ts'
import { fatal } from '../failure.ts'
import { walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { MODE, parseTag, parseTree } from '../objects.ts'
import { prettyCommit } from '../pretty.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { range, revision, unknownRevision } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, showChanges } from '../show-changes.ts'
import { treeChanges } from '../status.ts'
import { noCommits, prettyOptions } from './log.ts'

const OPTIONS = [
  ...CHANGE_OPTIONS,
  'oneline',
  'pretty?',
  'format=',
  'date=',
  'abbrev-commit',
  'no-abbrev-commit',
  'decorate?',
  'no-decorate',
  'relative-date',
  'm',
]

export async function show(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('show', OPTIONS, args)
  const { revisions, paths } = await splitRevisions(git, options)
  const pretty = await prettyOptions(git, options)
  const pathspec = git.pathspec(paths)
  const repo = git.repo()

  const showOne = async (oid: string, words: string): Promise<void> => {
    const { type, bytes } = await repo.objects.read(oid)
    if (type === 'blob') return git.out(bytes)
    if (type === 'tree') {
      git.line(`tree ${words}\n`)
      for (const { name, mode } of parseTree(bytes)) git.line(mode === MODE.tree ? `${name}/` : name)
      return
    }
    if (type === 'tag') {
      const { name, tagger, message, object } = parseTag(bytes)
      git.out(
        `tag ${name}\n${tagger ? `Tagger: ${tagger.name} <${tagger.email}>\nDate:   ${showDate(tagger, pretty.date)}\n` : ''}\n${message}\n`,
      )
      return showOne(object, words)
    }
    const commit = await repo.commit(oid)
    const shown = await prettyCommit(repo, { oid, commit }, pretty)
    if (shown !== '' || pretty.format !== 'tformat:') git.line(shown)
    // What a merge changed by itself is shown only by comparing it with all its parents at once, which is not done here.
    if (commit.parents.length > 1 && !asksForSummary(options)) {
      git.line()
      return
    }
    const before = commit.parents[0] === undefined ? null : (await repo.commit(commit.parents[0])).tree
    const changes = (await treeChanges(repo, before, commit.tree)).filter(({ path }) => pathspec.matches(path))
    const text = await showChanges(git, changes, options)
    git.out(text === '' || pretty.format === 'oneline' || pretty.format.startsWith('tformat:') ? text : `\n${text}`)
  }

  const words = revisions.length > 0 ? revisions : ['HEAD']
  const head = await repo.refs.head()
  if (revisions.length === 0 && head.oid === null) throw noCommits(head.ref)
  for (const [i, word] of words.entries()) {
    if (i > 0) git.line()
    if (word.includes('..')) throw fatal('git show: a range of commits is not available here; use git log')
    const oid = await revision(repo, word)
    if (oid === null) throw unknownRevision(word)
    await showOne(oid, word)
  }
  return 0
}

/** The contents, kind and size of one object. */
export async function catFile(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('cat-file', ['p', 't', 's', 'e'], args)
  const [kind, words] = options.rest.length > 1 ? options.rest : ['', options.rest[0] ?? '']
  const oid = await revision(git.repo(), words ?? '')
  if (oid === null) throw words?.includes(':') ? unknownRevision(words) : fatal(`Not a valid object name ${words}`)
  const object = await git.repo().objects.find(oid)
  if (options.has('e')) return object ? 0 : 1
  if (!object) throw fatal(`git cat-file: could not get object info`)
  if (options.has('t')) git.line(object.type)
  else if (options.has('s')) git.line(String(object.bytes.byteLength))
  else if (options.has('p') && object.type === 'tree') {
    for (const { mode, name, oid: id } of parseTree(object.bytes)) {
      const type = mode === MODE.tree ? 'tree' : mode === MODE.gitlink ? 'commit' : 'blob'
      git.line(`${mode.toString(8).padStart(6, '0')} ${type} ${id}\t${name}`)
    }
  } else {
    if (kind !== '' && kind !== object.type) throw fatal(`git cat-file ${words}: bad file`)
    git.out(object.type === 'blob' ? object.bytes : textOf(object.bytes))
  }
  return 0
}

/** How many commits, or which. */
export async function revList(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('rev-list', ['count', 'max-count|n=', 'all', 'reverse', 'no-merges'], args)
  const starts = { include: [] as string[], exclude: [] as string[] }
  for (const word of options.plain) {
    const { include, exclude } = await range(git.repo(), word)
    starts.include.push(...include)
    starts.exclude.push(...exclude)
  }
  if (options.has('all'))
    for (const [, oid] of await git.repo().refs.list('refs/')) starts.include.push(await git.repo().peel(oid, 'commit'))
  const limit = options.has('max-count') ? Number(options.value('max-count')) : Number.POSITIVE_INFINITY
  const found: string[] = []
  for await (const { oid, commit } of walkHistory(git.repo(), starts)) {
    if (found.length >= limit) break
    if (!options.has('no-merges') || commit.parents.length < 2) found.push(oid)
  }
  if (options.has('count')) git.line(String(found.length))
  else for (const oid of options.has('reverse') ? found.reverse() : found) git.line(oid)
  return 0
}

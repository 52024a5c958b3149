import { parseArguments } from '../arguments.ts'
import { mergePatches } from '../combined-patch.ts'
import { showDate } from '../dates.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { MODE, parseTag, parseTree } from '../objects.ts'
import { prettyCommit } from '../pretty.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { revision, unknownRevision } from '../revisions.ts'
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
  'abbrev?',
  'no-abbrev',
  'decorate?',
  'no-decorate',
  'relative-date',
  'notes?',
  'show-notes',
  'no-notes',
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
    if (commit.parents.length > 1 && !asksForSummary(options)) {
      const trees: string[] = []
      for (const parent of commit.parents) trees.push((await repo.commit(parent)).tree)
      const matches = (path: string) => pathspec.matches(path)
      const text = await mergePatches(repo, trees, { result: commit.tree, matches })
      git.out(`\n${text}`)
      return
    }
    const before = commit.parents[0] === undefined ? null : (await repo.commit(commit.parents[0])).tree
    const changes = (await treeChanges(repo, before, commit.tree)).filter(({ path }) => pathspec.matches(path))
    const text = await showChanges(git, changes, options)
    git.out(text === '' || pretty.format === 'oneline' || pretty.format === 'tformat:' ? text : `\n${text}`)
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

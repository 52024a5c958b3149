import { type Arguments, parseArguments } from '../arguments.ts'
import { mergePatches } from '../combined-patch.ts'
import { showDate } from '../dates.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { FORMAT_OPTIONS, prettyOptions } from '../log-format.ts'
import { searchHistory } from '../log-search.ts'
import { type Commit, MODE, parseTag, parseTree, type Signature } from '../objects.ts'
import type { Pathspec } from '../pathspec.ts'
import { isSeparated, prettyCommit } from '../pretty.ts'
import type { PrettyOptions } from '../pretty-options.ts'
import { withRenames } from '../renames.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { range, revision, unknownRevision } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, changesBelow, contextOf, showChanges, withLetters } from '../show-changes.ts'
import { changeKind, treeChanges } from '../status.ts'
import { noCommits, refuseColoredWords, startsOf, withCounts } from './log.ts'

const OPTIONS = [...CHANGE_OPTIONS, ...FORMAT_OPTIONS, 'max-count|n=', 'first-parent', 'cc', 'quiet|q']

/** The author and date of a tag; formats that show less of a commit show less of a tag. */
function taggerLines(tagger: Signature, { format, date }: PrettyOptions): string {
  const who = `${tagger.name} <${tagger.email}>\n`
  if (format === 'oneline') return ''
  if (format === 'email') return `From: ${who}Date: ${showDate(tagger, 'rfc')}\n`
  if (format === 'fuller') return `Tagger:     ${who}TaggerDate: ${showDate(tagger, date)}\n`
  return format === 'medium' ? `Tagger: ${who}Date:   ${showDate(tagger, date)}\n` : `Tagger: ${who}`
}

/** Shows one object after another; each commit only once. */
class Shower {
  readonly #git: Invocation
  readonly #options: Arguments
  readonly #pretty: PrettyOptions
  readonly #pathspec: Pathspec
  readonly #seen = new Set<string>()
  #hasShown = false

  constructor(git: Invocation, { options, pretty, pathspec }: Showing) {
    this.#git = git
    this.#options = options
    this.#pretty = pretty
    this.#pathspec = pathspec
  }

  async show(oid: string, words: string): Promise<void> {
    const { type, bytes } = await this.#git.repo().objects.read(oid)
    if (type === 'blob') this.#git.out(bytes)
    else if (type === 'tree') this.#tree(bytes, words)
    else if (type === 'tag') await this.#tag(bytes, words)
    else if (!this.#seen.has(oid)) await this.#commit(oid)
  }

  #tree(bytes: Uint8Array, words: string): void {
    this.#separate()
    this.#git.line(`tree ${words}\n`)
    for (const { name, mode } of parseTree(bytes)) this.#git.line(mode === MODE.tree ? `${name}/` : name)
  }

  async #tag(bytes: Uint8Array, words: string): Promise<void> {
    const { name, tagger, message, object } = parseTag(bytes)
    this.#separate()
    this.#git.out(`tag ${name}\n${tagger ? taggerLines(tagger, this.#pretty) : ''}\n${message}`)
    await this.show(object, words)
  }

  /** A commit without changes after the filters for paths and letters is not shown. */
  async #isLeftOut(commit: Commit): Promise<boolean> {
    const isFiltered = !this.#pathspec.isEmpty || this.#options.has('diff-filter')
    if (!isFiltered || this.#options.has('no-patch')) return false
    const repo = this.#git.repo()
    const counts: number[] = []
    for (const parent of commit.parents.length === 0 ? [null] : commit.parents) {
      const before = parent === null ? null : (await repo.commit(parent)).tree
      const changes = await treeChanges(repo, before, commit.tree)
      const chosen = changes.filter(({ path }) => this.#pathspec.matches(path))
      const paired = this.#options.has('no-renames') ? chosen : await withRenames(repo, chosen)
      counts.push(withLetters(paired, this.#options.value('diff-filter')).length)
    }
    return counts.some((count) => count === 0)
  }

  /** For a merge, the paths that differ from all parents, with a letter for each. */
  async #mergedNames(commit: Commit): Promise<void> {
    const repo = this.#git.repo()
    if (this.#options.has('raw') || this.#options.has('patch'))
      throw fatal('git show --raw or --patch with names of a merge is not available here')
    const letters = new Map<string, string>()
    for (const parent of commit.parents) {
      const changes = await treeChanges(repo, (await repo.commit(parent)).tree, commit.tree)
      for (const change of changes) letters.set(change.path, (letters.get(change.path) ?? '') + changeKind(change))
    }
    const end = this.#options.has('null') ? '\0' : '\n'
    const paths = [...letters].filter(
      ([path, all]) => all.length === commit.parents.length && this.#pathspec.matches(path),
    )
    const name = (path: string) => (end === '\0' ? path : repo.quoted(path))
    const text = paths.map(
      ([path, all]) =>
        `${this.#options.has('name-status') ? `${all}${end === '\0' ? end : '\t'}` : ''}${name(path)}${end}`,
    )
    const { format } = this.#pretty
    const isBare = format === 'tformat:' || (format === 'oneline' && text.length > 0)
    this.#git.out(`${isBare ? '' : '\n'}${text.join('')}`)
  }

  async #commit(oid: string): Promise<void> {
    const [git, pretty] = [this.#git, this.#pretty]
    this.#seen.add(oid)
    if (await this.#isLeftOut(await git.repo().commit(oid))) return
    this.#separate(isSeparated(pretty.format), this.#options.has('null') ? '\0' : '\n')
    const commit = await git.repo().commit(oid)
    const shown = await prettyCommit(git.repo(), { oid, commit }, pretty)
    // A format without line ends has one only before following output.
    if (pretty.format.startsWith('format:')) git.out(shown)
    else if (shown !== '' || pretty.format !== 'tformat:') git.line(shown)
    const isMerge = commit.parents.length > 1 && !this.#options.has('first-parent')
    if (isMerge && this.#options.has('no-patch')) return
    const joint = ['patch-with-raw', 'patch-with-stat'].find((name) => this.#options.has(name))
    if (isMerge && joint !== undefined) throw fatal(`git show --${joint} of a merge is not available here`)
    if (isMerge && ['name-only', 'name-status', 'raw'].some((name) => this.#options.has(name)))
      return this.#mergedNames(commit)
    if (isMerge && !asksForSummary(this.#options)) return this.#mergeChanges(commit)
    const before = commit.parents[0] === undefined ? null : (await git.repo().commit(commit.parents[0])).tree
    const changes = await treeChanges(git.repo(), before, commit.tree)
    const chosen = changes.filter(({ path }) => this.#pathspec.matches(path))
    const text = await showChanges(git, chosen, this.#options)
    git.out(
      text === '' || pretty.format === 'oneline' || pretty.format === 'tformat:'
        ? text
        : changesBelow(text, this.#options),
    )
  }

  async #mergeChanges(commit: Commit): Promise<void> {
    const repo = this.#git.repo()
    const trees: string[] = []
    for (const parent of commit.parents) trees.push((await repo.commit(parent)).tree)
    const matches = (path: string) => this.#pathspec.matches(path)
    const text = await mergePatches(repo, trees, { result: commit.tree, matches, context: contextOf(this.#options) })
    this.#git.out(`\n${text}`)
  }

  #separate(isWanted = true, line = '\n'): void {
    if (this.#hasShown && isWanted) this.#git.out(line)
    this.#hasShown = true
  }
}

interface Showing {
  options: Arguments
  pretty: PrettyOptions
  pathspec: Pathspec
}

/** Ranges are walked, like in a log. */
const namesRange = (word: string): boolean => /^[^:]*\.\.|^\^|\^(?:!|-\d*)$/.test(word)

export async function show(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('show', OPTIONS, withCounts(args))
  if (options.has('quiet')) options.add('no-patch', '')
  refuseColoredWords(options)
  const limit = Number(options.value('max-count') ?? Number.POSITIVE_INFINITY)
  if (options.has('max-count') && !(Number.isInteger(limit) && limit >= 0))
    throw fatal(`git show -n ${options.value('max-count')} is not available here`)

  const { revisions, paths } = await splitRevisions(git, options)
  const shower = new Shower(git, {
    options,
    pretty: await prettyOptions(git, options),
    pathspec: git.pathspec(paths),
  })
  if (options.has('max-count') || revisions.some(namesRange)) {
    const starts = await startsOf(git, options, revisions)
    const { commits } = await searchHistory(git, { options, starts, pathspec: git.pathspec(paths) })
    for (const { oid } of commits) await shower.show(oid, oid)
    return 0
  }
  const words = revisions.length > 0 ? revisions : ['HEAD']
  const head = await git.repo().refs.head()
  if (revisions.length === 0 && head.oid === null) throw noCommits(head.ref)
  for (const word of words) {
    const parents = word.endsWith('^@') ? (await range(git.repo(), word)).include : null
    const oids = parents ?? [await revision(git.repo(), word)]
    for (const oid of oids) {
      if (oid === null) throw unknownRevision(word)
      await shower.show(oid, word)
    }
  }
  return 0
}

import { joinBytes } from '../../../lib/bytes.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { changeSummary, diffstat } from '../diffstat.ts'
import { fatal } from '../failure.ts'
import { type Visited, walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { MAIL_WIDTH, mailBody, mailHeader, signatureText } from '../mail/patch-mail.ts'
import { slug, subjectOf } from '../message-parts.ts'
import type { Pathspec } from '../pathspec.ts'
import { withRenames } from '../renames.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { commitId, ranges } from '../revisions.ts'
import { renameThreshold, showPaired } from '../show-changes.ts'
import { treeChanges } from '../status.ts'
import { signOffLine, withTrailer } from '../trailers.ts'
import { GIT_VERSION } from '../version.ts'
import { withCounts } from './log.ts'
import { shortlogText } from './shortlog.ts'

const OPTIONS = [
  'stdout',
  'output-directory|o=',
  'numbered|n',
  'no-numbered|N',
  'start-number=',
  'numbered-files',
  'keep-subject|k',
  'signoff|s',
  'subject-prefix=',
  'rfc',
  'reroll-count|v=',
  'cover-letter',
  'no-cover-letter',
  'root',
  'zero-commit',
  'signature=',
  'no-signature',
  'suffix=',
  'in-reply-to=',
  'no-stat|p',
  'max-count=',
  'quiet|q',
  'full-index',
  'unified|U?',
  'no-renames',
  'find-renames|M?',
  'text|a',
  'no-prefix',
  'ignore-all-space|w',
  'ignore-space-change|b',
  'ignore-space-at-eol',
  'histogram',
  'diff-algorithm=',
  'always',
]

/** Longer file names are cut. */
const MAX_NAME = 64

interface Series {
  options: Arguments
  pathspec: Pathspec
  /** The number of the first mail, and the number of mails. */
  first: number
  total: number
  signature: string
}

export async function formatPatch(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('format-patch', OPTIONS, withCounts(args))
  options.assertOne('stdout', 'output-directory')
  options.assertOne('keep-subject', 'numbered')
  const { revisions, paths } = await splitRevisions(git, options)
  const pathspec = git.pathspec(paths)
  const commits = await commitsOf(git, { options, revisions, pathspec })
  const first = Number(options.value('start-number') ?? 1)
  if (!Number.isInteger(first) || first < 0) throw fatal('--start-number expects a number')
  const signature =
    options.latest('signature', 'no-signature') === 'no-signature'
      ? ''
      : (options.value('signature') ?? (await git.setting('format.signature')) ?? GIT_VERSION)
  const series = { options, pathspec, first, total: commits.length + first - 1, signature }
  const hasCover = options.has('cover-letter') && !options.has('no-cover-letter')
  if (hasCover && commits.length > 0)
    await put(git, series, { number: 0, subject: 'cover-letter', text: await cover(git, commits, series) })
  for (const [i, visited] of commits.entries()) {
    const number = first + i
    const text = await mailOf(git, visited, { ...series, number })
    await put(git, series, { number, subject: slug(subjectOf(visited.commit.message)), text })
  }
  return 0
}

type SeriesRequest = { options: Arguments; revisions: readonly string[]; pathspec: Pathspec }

/** The oldest first. A single revision is the start of the series, unless a number or `--root` is given. */
async function commitsOf(git: Invocation, { options, revisions, pathspec }: SeriesRequest): Promise<Visited[]> {
  const repo = git.repo()
  let starts = { include: [] as string[], exclude: [] as string[] }
  const limit = Number(options.value('max-count') ?? Number.POSITIVE_INFINITY)
  const [only] = revisions
  const isSince = revisions.length === 1 && only !== undefined && !only.includes('..') && !only.startsWith('^')
  if (isSince && !options.has('max-count') && !options.has('root')) {
    starts.include.push(await commitId(repo, 'HEAD'))
    starts.exclude.push(await commitId(repo, only))
  } else {
    starts = await ranges(repo, revisions.length > 0 ? revisions : ['HEAD'])
    if (revisions.length === 0 && !options.has('max-count') && !options.has('root')) return []
  }
  const found: Visited[] = []
  for await (const visited of walkHistory(repo, starts)) {
    if (found.length >= limit) break
    if (visited.commit.parents.length > 1) continue
    if (options.has('always') || pathspec.isEmpty || (await changesOf(git, visited, pathspec)).length > 0)
      found.push(visited)
  }
  return found.reverse()
}

async function changesOf(git: Invocation, { commit }: Visited, pathspec: Pathspec) {
  const repo = git.repo()
  const [parent] = commit.parents
  const before = parent === undefined ? null : (await repo.commit(parent)).tree
  return (await treeChanges(repo, before, commit.tree)).filter(({ path }) => pathspec.matches(path))
}

async function mailOf(git: Invocation, visited: Visited, series: Series & { number: number }): Promise<string> {
  const { options, pathspec, signature } = series
  const repo = git.repo()
  const changes = await changesOf(git, visited, pathspec)
  if (changes.length === 0 && !options.has('always')) return ''
  const paired = options.has('no-renames') ? [...changes] : await withRenames(repo, changes, renameThreshold(options))
  const patch = await showPaired(git, paired, options)
  if (/^Binary files .* differ$/m.test(patch)) {
    const binary = /^Binary files (?:a\/)?(.*) and /m.exec(patch)?.[1] ?? ''
    throw fatal(`format-patch of a binary file (${binary}) is not available here`)
  }
  const { author, message } = visited.commit
  const signed = options.has('signoff') ? withTrailer(message, await signOffLine(git)) : message
  const oid = options.has('zero-commit') ? '0'.repeat(40) : visited.oid
  const head = mailHeader(oid, { author, message: signed }, { tag: tagOf(series), inReplyTo: replyOf(options) })
  if (paired.length === 0) return `${head}${mailBody(signed)}${signatureText(signature)}`
  const table = `---\n${await diffstat(repo, paired, { width: MAIL_WIDTH })}${changeSummary(repo, paired)}\n`
  const stat = options.has('no-stat') ? '\n' : table
  return `${head}${mailBody(signed)}${stat}${patch}${signatureText(signature)}`
}

function replyOf(options: Arguments): string | null {
  const id = options.value('in-reply-to')
  return id === null ? null : `<${id.replace(/^<|>$/g, '')}>`
}

function tagOf({ options, number, total, first }: Series & { number: number }): string | null {
  if (options.has('keep-subject')) return null
  const version = options.has('reroll-count') ? ` v${options.value('reroll-count')}` : ''
  const prefix = `${options.has('rfc') ? 'RFC ' : ''}${options.value('subject-prefix') ?? 'PATCH'}${version}`
  const isMany = total - first + 1 > 1 || options.has('cover-letter')
  const isNumbered = options.has('numbered') || (isMany && !options.has('no-numbered'))
  if (!isNumbered) return prefix
  return `${prefix}${prefix === '' ? '' : ' '}${String(number).padStart(String(total).length, '0')}/${total}`
}

type Mail = { number: number; subject: string; text: string }

async function put(git: Invocation, { options, first }: Series, { number, subject, text }: Mail): Promise<void> {
  if (options.has('stdout')) return git.out(number > first && text !== '' ? `\n${text}` : text)
  const folder = options.value('output-directory') ?? (await git.setting('format.outputDirectory'))
  const version = options.has('reroll-count') ? `v${options.value('reroll-count')}-` : ''
  const suffix = options.value('suffix') ?? (await git.setting('format.suffix')) ?? '.patch'
  const start = `${version}${String(number).padStart(4, '0')}-`
  const name = options.has('numbered-files')
    ? String(number)
    : `${(start + subject).slice(0, MAX_NAME - suffix.length - 1)}${suffix}`
  const shown = folder === null ? name : `${folder.replace(/\/+$/, '')}/${name}`
  const path = git.resolve(shown)
  git.fs.makeDirectory(path.replace(/\/[^/]*$/, '') || '/', { recursive: true })
  await git.fs.write(path, joinBytes([utf8(text)]))
  if (!options.has('quiet')) git.line(shown)
}

/** A cover letter template, before the other mails. */
async function cover(git: Invocation, commits: readonly Visited[], series: Series): Promise<string> {
  const repo = git.repo()
  const [first, last] = [commits[0], commits.at(-1)]
  if (!first || !last) return ''
  const by = await git.signature('committer')
  const message = '*** SUBJECT HERE ***\n\n*** BLURB HERE ***\n'
  const texts = commits.map(({ commit }) => commit.message).join('')
  const tag = tagOf({ ...series, number: 0 })
  const head = mailHeader(last.oid, { author: by, message }, { tag, says: texts })
  const [parent] = first.commit.parents
  const before = parent === undefined ? null : (await repo.commit(parent)).tree
  const changes = (await treeChanges(repo, before, last.commit.tree)).filter(({ path }) =>
    series.pathspec.matches(path),
  )
  const paired = await withRenames(repo, changes)
  const stat = `${await diffstat(repo, paired, { width: MAIL_WIDTH })}${changeSummary(repo, paired)}`
  return `${head}${mailBody(message)}\n${shortlogText(commits.map(({ commit }) => commit))}${stat}\n${signatureText(series.signature)}`
}

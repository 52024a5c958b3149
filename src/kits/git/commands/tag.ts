import { type Arguments, parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { editFile } from '../editor.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { type Cleanup, tidyMessage } from '../message-cleanup.ts'
import { formatTag, parseCommit, parseTag } from '../objects.ts'
import { readText } from '../ref-files.ts'
import { RefFormat } from '../ref-format.ts'
import { isRefName } from '../ref-names.ts'
import { sortKeys, sortRefs } from '../ref-sorting.ts'
import { abbreviate, revision } from '../revisions.ts'
import { refuseColor } from '../show-changes.ts'
import { wildcard } from '../wildcards.ts'
import { refuseColumns } from './columns.ts'
import { refFilter } from './for-each-ref.ts'

const OPTIONS = [
  'list|l',
  'annotate|a',
  'message|m=',
  'file|F=',
  'delete|d',
  'force|f',
  'n?',
  'sort=',
  'points-at=?',
  'contains=?',
  'no-contains=?',
  'merged=?',
  'no-merged=?',
  'format=',
  'no-sign',
  'cleanup=',
  'ignore-case|i',
  'color?',
  'no-color',
  'column?',
  'no-column',
]

export async function tag(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('tag', OPTIONS, args)
  const [name, words] = options.rest
  if (options.has('delete')) return deleteTags(git, options.rest)
  const makes = ['annotate', 'message', 'file', 'force'].find((other) => options.has(other))
  if (makes !== undefined && (name === undefined || options.has('list')))
    throw new GitFailure('usage: git tag [-a] [-f] [-m <msg> | -F <file>] <tagname> [<commit> | <object>]', 129)
  if (
    name === undefined ||
    options.has('list') ||
    ['n', 'points-at', 'contains', 'no-contains', 'merged', 'no-merged'].some((other) => options.has(other))
  )
    return list(git, options)
  const repo = git.repo()
  const ref = `refs/tags/${name}`
  if (!isRefName(ref) || name.startsWith('-')) throw fatal(`'${name}' is not a valid tag name.`)
  const before = await repo.refs.resolve(ref)
  if (before !== null && !options.has('force')) throw fatal(`tag '${name}' already exists`)
  const target = await revision(repo, words ?? 'HEAD')
  if (target === null) throw fatal(`Failed to resolve '${words ?? 'HEAD'}' as a valid ref.`)
  const oid = await tagObject(git, { options, name, target, words })
  await repo.refs.change(ref, { oid, by: await git.signature('committer'), message: `tag: tagging ${target}` })
  if (before !== null && before !== oid) git.line(`Updated tag '${name}' (was ${await abbreviate(repo, before)})`)
  return 0
}

async function tagObject(
  git: Invocation,
  { options, name, target, words }: { options: Arguments; name: string; target: string; words: string | undefined },
): Promise<string> {
  if (!options.has('annotate') && !options.has('message') && !options.has('file')) return target
  const file = options.value('file')
  const given = options.has('message')
    ? options.all('message').join('\n\n')
    : file === '-'
      ? git.stdin
      : file === null
        ? null
        : await readText(git.fs, git.resolve(file))
  if (given === null && file !== null) throw fatal(`could not open or read '${file}': No such file or directory`)
  const { type } = await git.repo().objects.read(target)
  const message = given === null ? await writtenMessage(git, name) : tidyMessage(given, cleanupOf(options))
  if (type === 'tag') git.err(nestedAdvice(name, words ?? 'HEAD'))
  const bytes = formatTag({
    object: target,
    type,
    name,
    tagger: await git.signature('committer'),
    message,
  })
  return git.repo().objects.write('tag', bytes)
}

function cleanupOf(options: Arguments): Cleanup {
  const mode = options.value('cleanup') ?? 'strip'
  if (mode !== 'strip' && mode !== 'whitespace' && mode !== 'verbatim') throw fatal(`Invalid cleanup mode ${mode}`)
  return mode
}

async function writtenMessage(git: Invocation, name: string): Promise<string> {
  const path = `${git.repo().gitDir}/TAG_EDITMSG`
  const advice = `\n#\n# Write a message for tag:\n#   ${name}\n# Lines starting with '#' will be ignored.\n`
  await git.fs.write(path, utf8(advice))
  const message = tidyMessage(await editFile(git, path, 'message'), 'strip')
  if (message === '') throw fatal('no tag message?')
  git.fs.remove(path)
  return message
}

function nestedAdvice(name: string, words: string): string {
  return `hint: You have created a nested tag. The object referred to by your new tag is
hint: already a tag. If you meant to tag the object that it points to, use:
hint: 
hint: \tgit tag -f ${name} ${words}^{}
hint: Disable this message with "git config advice.nestedTag false"`
}

async function list(git: Invocation, options: Arguments): Promise<number> {
  const repo = git.repo()
  refuseColor(options)
  refuseColumns(options)
  const words = [...options.rest]
  const isListed = await refFilter(git, options)
  const patterns = words.map((pattern) => wildcard(pattern, { ignoresCase: options.has('ignore-case') }))
  const given = options.value('format')
  const format = given === null ? null : new RefFormat({ repo, env: git.env }, given)
  const tags = [...(await repo.refs.list('refs/tags/'))].map(([ref, oid]) => ({ ref, oid }))
  for (const { ref, oid } of await sortRefs(repo, tags, await sortKeys(git, options, 'tag.sort'))) {
    const name = ref.slice('refs/tags/'.length)
    if (patterns.length > 0 && !patterns.some((pattern) => pattern.test(name))) continue
    if (!(await isListed(oid))) continue
    if (format) git.line(await format.fill({ ref, oid }))
    else
      git.line(
        options.has('n') ? `${name.padEnd(15)} ${await firstLines(git, oid, Number(options.value('n') || 1))}` : name,
      )
  }
  return 0
}

/** Further lines are shown indented below the first one, an empty one without blanks. */
async function firstLines(git: Invocation, oid: string, count: number): Promise<string> {
  if (!Number.isInteger(count)) throw fatal("option `n' expects a numerical value")
  const { type, bytes } = await git.repo().objects.read(oid)
  const message = type === 'tag' ? parseTag(bytes).message : type === 'commit' ? parseCommit(bytes).message : ''
  return message.replace(/\n$/, '').split('\n').slice(0, count).join('\n    ')
}

async function deleteTags(git: Invocation, names: readonly string[]): Promise<number> {
  const repo = git.repo()
  let exitCode = 0
  for (const name of names) {
    const oid = await repo.refs.resolve(`refs/tags/${name}`)
    if (oid === null) {
      git.err(failed(`tag '${name}' not found.`).message)
      exitCode = 1
      continue
    }
    await repo.refs.change(`refs/tags/${name}`, { oid: null, by: await git.signature('committer'), message: '' })
    git.line(`Deleted tag '${name}' (was ${await abbreviate(repo, oid)})`)
  }
  return exitCode
}

import { type Arguments, parseArguments } from '../arguments.ts'
import { tidyMessage } from '../commits.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { isAncestor } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { formatTag, parseCommit, parseTag } from '../objects.ts'
import { subjectOf } from '../pretty.ts'
import { sortRefs } from '../ref-sorting.ts'
import { isRefName, readText } from '../refs.ts'
import { abbreviate, commitId, revision } from '../revisions.ts'

export async function tag(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments(
    'tag',
    [
      'list|l',
      'annotate|a',
      'message|m=',
      'file|F=',
      'delete|d',
      'force|f',
      'n?',
      'sort=',
      'points-at=',
      'contains?',
      'no-sign',
    ],
    args,
  )
  const [name, words] = options.rest
  if (options.has('delete')) return deleteTags(git, options.rest)
  if (
    name === undefined ||
    options.has('list') ||
    options.has('n') ||
    options.has('points-at') ||
    options.has('contains')
  )
    return list(git, options)
  const repo = git.repo()
  const ref = `refs/tags/${name}`
  if (!isRefName(ref) || name.startsWith('-')) throw fatal(`'${name}' is not a valid tag name.`)
  const before = await repo.refs.resolve(ref)
  if (before !== null && !options.has('force')) throw fatal(`tag '${name}' already exists`)
  const target = await revision(repo, words ?? 'HEAD')
  if (target === null) throw fatal(`Failed to resolve '${words ?? 'HEAD'}' as a valid ref.`)
  const oid = await tagObject(git, { options, name, target })
  await repo.refs.change(ref, { oid, by: await git.signature('committer'), message: `tag: tagging ${target}` })
  if (before !== null && before !== oid) git.line(`Updated tag '${name}' (was ${await abbreviate(repo, before)})`)
  return 0
}

async function tagObject(
  git: Invocation,
  { options, name, target }: { options: Arguments; name: string; target: string },
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
  if (given === null)
    throw new GitFailure(
      'error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.',
      1,
    )
  const { type } = await git.repo().objects.read(target)
  const bytes = formatTag({
    object: target,
    type,
    name,
    tagger: await git.signature('committer'),
    message: tidyMessage(given),
  })
  return git.repo().objects.write('tag', bytes)
}

async function list(git: Invocation, options: Arguments): Promise<number> {
  const repo = git.repo()
  const words = [...options.rest]
  const contained = options.has('contains') ? options.value('contains') || words.shift() || 'HEAD' : null
  const patterns = words
    .filter((pattern) => pattern.length <= 200)
    .map(
      (pattern) =>
        new RegExp(
          `^${pattern
            .replace(/[.+^${}()|[\]\\]/g, '\\$&')
            .replace(/\*+/g, '.*')
            .replaceAll('?', '.')}$`,
        ),
    )
  const pointsAt = options.has('points-at') ? await revision(repo, options.value('points-at') ?? '') : null
  const contains = contained === null ? null : await commitId(repo, contained)
  const tags = [...(await repo.refs.list('refs/tags/'))].map(([ref, oid]) => ({ ref, oid }))
  for (const { ref, oid } of await sortRefs(repo, tags, options.all('sort'))) {
    const name = ref.slice('refs/tags/'.length)
    if (patterns.length > 0 && !patterns.some((pattern) => pattern.test(name))) continue
    if (pointsAt !== null && oid !== pointsAt && (await repo.peel(oid, 'commit')) !== pointsAt) continue
    if (contains !== null && !(await isAncestor(repo, contains, await repo.peel(oid, 'commit')))) continue
    git.line(options.has('n') ? `${name.padEnd(15)} ${await firstLine(git, oid)}` : name)
  }
  return 0
}

async function firstLine(git: Invocation, oid: string): Promise<string> {
  const { type, bytes } = await git.repo().objects.read(oid)
  return type === 'tag'
    ? subjectOf(parseTag(bytes).message)
    : type === 'commit'
      ? subjectOf(parseCommit(bytes).message)
      : ''
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

// Small commands that programs call.

import { parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import { walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { type ObjectType, objectId } from '../objects.ts'
import { subjectOf } from '../pretty.ts'
import { removeIfThere } from '../refs.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { range, revision } from '../revisions.ts'
import { statAt } from '../worktree.ts'

export async function hashObject(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('hash-object', ['w', 't=', 'stdin', 'no-filters', 'path='], args)
  const type = options.value('t') ?? 'blob'
  if (!isType(type)) throw fatal(`invalid object type "${type}"`)
  const contents: Uint8Array[] = options.has('stdin') ? [utf8(git.stdin)] : []
  for (const name of options.rest) {
    const path = git.resolve(name)
    if (statAt(git.fs, path)?.kind !== 'file')
      throw fatal(`could not open '${name}' for reading: No such file or directory`)
    contents.push(await git.fs.read(path))
  }
  for (const bytes of contents)
    git.line(options.has('w') ? await git.repo().objects.write(type, bytes) : objectId(type, bytes))
  return 0
}

function isType(type: string): type is ObjectType {
  return ['blob', 'tree', 'commit', 'tag'].includes(type)
}

export async function updateRef(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('update-ref', ['d', 'm=', 'no-deref', 'create-reflog'], args)
  const { refs, gitDir, fs } = git.repo()
  const repo = git.repo()
  const [name, ...words] = options.rest
  const [value, expected] = options.has('d') ? [undefined, words[0]] : words
  if (name === undefined || (value === undefined && !options.has('d')))
    throw new GitFailure('usage: git update-ref [<options>] <refname> <new-oid> [<old-oid>]', 129)
  if (options.has('no-deref') && name === 'HEAD') throw fatal('update-ref --no-deref of HEAD is not available here')
  const ref = name === 'HEAD' ? ((await refs.head()).ref ?? 'HEAD') : name
  const before = await refs.resolve(ref)
  if (expected !== undefined) {
    const old = /^0*$/.test(expected) ? null : await revision(repo, expected)
    if (old !== before)
      throw fatal(
        `update_ref failed for ref '${name}': cannot lock ref '${name}': is at ${before} but expected ${expected}`,
      )
  }
  const by = await git.signature('committer')
  const message = options.value('m') ?? ''
  if (options.has('d')) {
    if (/^[A-Z_]+$/.test(ref)) removeIfThere(fs, `${gitDir}/${ref}`)
    else await refs.change(ref, { oid: null, by, message })
    return 0
  }
  const oid = await revision(repo, value ?? '')
  if (oid === null) throw fatal(`${value}: not a valid SHA1`)
  await refs.change(ref, { oid, by, message })
  return 0
}

/** Loose objects are counted by what they take on a disk. */
const BLOCK = 4096

export async function countObjects(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('count-objects', ['verbose|v', 'human-readable|H'], args)
  if (options.has('human-readable')) throw fatal('count-objects -H is not available here')
  const repo = git.repo()
  const folder = `${repo.gitDir}/objects`
  let [count, sizeBytes, packs, packBytes] = [0, 0, 0, 0]
  for (const { name, kind } of git.fs.list(folder)) {
    if (kind !== 'directory' || !/^[0-9a-f]{2}$|^pack$/.test(name)) continue
    for (const file of git.fs.list(`${folder}/${name}`)) {
      const size = statAt(git.fs, `${folder}/${name}/${file.name}`)?.sizeBytes ?? 0
      if (name !== 'pack') [count, sizeBytes] = [count + 1, sizeBytes + Math.ceil(size / BLOCK) * BLOCK]
      else if (/\.(pack|idx)$/.test(file.name))
        [packs, packBytes] = [packs + Number(file.name.endsWith('.pack')), packBytes + size]
    }
  }
  const kilobytes = Math.floor(sizeBytes / 1024)
  if (!options.has('verbose')) git.line(`${count} objects, ${kilobytes} kilobytes`)
  else git.out(`count: ${count}\nsize: ${kilobytes}\npacks: ${packs}\nsize-pack: ${Math.floor(packBytes / 1024)}\n`)
  return 0
}

export async function shortlog(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments(
    'shortlog',
    ['summary|s', 'numbered|n', 'email|e', 'committer|c', 'all', 'no-merges', 'merges'],
    args,
  )
  const { revisions, paths } = await splitRevisions(git, options)
  if (paths.length > 0) throw fatal('git shortlog: paths are not available here')
  const repo = git.repo()
  const starts = { include: [] as string[], exclude: [] as string[] }
  for (const word of revisions.length > 0 || options.has('all') ? revisions : ['HEAD']) {
    const { include, exclude } = await range(repo, word)
    starts.include.push(...include)
    starts.exclude.push(...exclude)
  }
  if (options.has('all'))
    for (const [, oid] of await repo.refs.list('refs/')) starts.include.push(await repo.peel(oid, 'commit'))
  const people = new Map<string, string[]>()
  for await (const { commit } of walkHistory(repo, starts)) {
    const isMerge = commit.parents.length > 1
    if ((isMerge && options.has('no-merges')) || (!isMerge && options.has('merges'))) continue
    const { name, email } = options.has('committer') ? commit.committer : commit.author
    const who = options.has('email') ? `${name} <${email}>` : name
    people.set(who, [...(people.get(who) ?? []), subjectOf(commit.message)])
  }
  const rows = [...people].sort(([a], [b]) => (a < b ? -1 : 1))
  if (options.has('numbered')) rows.sort(([, a], [, b]) => b.length - a.length)
  for (const [who, subjects] of rows) {
    if (options.has('summary')) git.line(`${String(subjects.length).padStart(6)}\t${who}`)
    else
      git.out(
        `${who} (${subjects.length}):\n${subjects
          .reverse()
          .map((line) => `      ${line}\n`)
          .join('')}\n`,
      )
  }
  return 0
}

export async function worktree(): Promise<number> {
  throw new GitFailure('git worktree: more than one working tree is not available here', 1)
}

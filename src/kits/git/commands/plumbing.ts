// Small commands for scripts.

import { lstatAt } from '../../../workspace/stat.ts'
import { parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { type ObjectType, objectId } from '../objects.ts'
import { removeIfThere } from '../ref-files.ts'
import { revision } from '../revisions.ts'

export async function hashObject(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('hash-object', ['w', 't=', 'stdin', 'no-filters', 'path='], args)
  if (options.all('stdin').length > 1) throw new GitFailure('error: Multiple --stdin arguments are not supported', 129)
  const type = options.value('t') ?? 'blob'
  if (!isType(type)) throw fatal(`invalid object type "${type}"`)
  const contents: Uint8Array[] = options.has('stdin') ? [utf8(git.stdin)] : []
  for (const name of options.rest) {
    const path = git.resolve(name)
    if (lstatAt(git.fs, path)?.kind !== 'file')
      throw fatal(`could not open '${name}' for reading: No such file or directory`)
    const bytes = await git.fs.read(path)
    const isPlain = options.has('no-filters') || type !== 'blob'
    contents.push(isPlain ? bytes : await storedBytes(git, options.value('path') ?? name, bytes))
  }
  for (const bytes of contents)
    git.line(options.has('w') ? await git.repo().objects.write(type, bytes) : objectId(type, bytes))
  return 0
}

/** The bytes that `add` would store for a file with this name. */
async function storedBytes(git: Invocation, name: string, bytes: Uint8Array): Promise<Uint8Array> {
  const path = git.resolve(name)
  const root = git.hasRepo() && !git.repo().isBare ? git.repo().root : null
  if (root === null || !path.startsWith(`${root === '/' ? '' : root}/`)) return bytes
  return git.repo().stored(path.slice(root === '/' ? 1 : root.length + 1), bytes)
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

/** The size of loose objects is counted in disk blocks. */
const BLOCK = 4096

export async function countObjects(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('count-objects', ['verbose|v', 'human-readable|H'], args)
  if (options.has('human-readable')) throw fatal('count-objects -H is not available here')
  const repo = git.repo()
  const folder = `${repo.gitDir}/objects`
  let [count, sizeBytes, packs, packBytes, packed] = [0, 0, 0, 0, 0]
  for (const { name, kind } of git.fs.list(folder)) {
    if (kind !== 'directory' || !/^[0-9a-f]{2}$|^pack$/.test(name)) continue
    for (const file of git.fs.list(`${folder}/${name}`)) {
      const size = lstatAt(git.fs, `${folder}/${name}/${file.name}`)?.sizeBytes ?? 0
      if (name !== 'pack') [count, sizeBytes] = [count + 1, sizeBytes + Math.ceil(size / BLOCK) * BLOCK]
      else if (/\.(pack|idx)$/.test(file.name)) {
        packBytes += size
        if (file.name.endsWith('.pack')) packs++
        else packed += await packedCount(git, `${folder}/pack/${file.name}`)
      }
    }
  }
  const kilobytes = Math.floor(sizeBytes / 1024)
  if (!options.has('verbose')) git.line(`${count} objects, ${kilobytes} kilobytes`)
  else
    git.out(
      `count: ${count}\nsize: ${kilobytes}\nin-pack: ${packed}\npacks: ${packs}\nsize-pack: ${Math.floor(packBytes / 1024)}\n` +
        'prune-packable: 0\ngarbage: 0\nsize-garbage: 0\n',
    )
  return 0
}

/** The last number of the table at the start of an index: the number of objects. */
async function packedCount(git: Invocation, path: string): Promise<number> {
  const bytes = await git.fs.read(path)
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(8 + 255 * 4)
}

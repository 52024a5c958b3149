import { gzipSync } from 'node:zlib'
import { type ArchiveEntry, tarArchive, zipArchive } from '../archiving.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { Attributes } from '../attributes.ts'
import { textOf } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { MODE, parseTree } from '../objects.ts'
import type { Pathspec } from '../pathspec.ts'
import { readText } from '../ref-files.ts'
import { isRefName } from '../ref-names.ts'
import type { Repository } from '../repository.ts'
import { revision } from '../revisions.ts'

const OPTIONS = ['format=', 'list|l', 'prefix=', 'output|o=', 'verbose|v', 'mtime=']
const FORMATS = ['tar', 'tgz', 'tar.gz', 'zip'] as const
/** An archive is built in memory. */
const MAX_BYTES = 64 * 1024 * 1024

/** Writes the files of a tree to one archive. */
export async function archive(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('archive', OPTIONS, args)
  if (options.has('list')) {
    git.out(FORMATS.map((name) => `${name}\n`).join(''))
    return 0
  }
  const [name, ...paths] = options.rest
  if (name === undefined) throw new GitFailure('fatal: must specify tree-ish', 128)
  const format = formatOf(options)
  const repo = git.repo()
  const oid = await revision(repo, name)
  if (oid === null) throw fatal(`not a valid object name: ${name}`)
  const { type } = await repo.objects.read(oid)
  const commit = type === 'commit' || type === 'tag' ? await repo.peel(oid, 'commit') : null
  const seconds = commit === null ? Math.floor(Date.now() / 1000) : (await repo.commit(commit)).committer.seconds
  const pathspec = git.pathspec(paths)
  const entries = await entriesOf(git, await repo.peel(oid, 'tree'), { options, pathspec })
  const [missing] = pathspec.unmatched()
  if (missing !== undefined) throw fatal(`pathspec '${missing}' did not match any files`)
  if (options.has('verbose')) for (const { path } of entries) git.err(path)
  const made = (format === 'zip' ? zipArchive : tarArchive)(entries, { commit, seconds })
  const bytes = format === 'tar' || format === 'zip' ? made : new Uint8Array(gzipSync(made))
  const output = options.value('output')
  if (output === null) git.out(bytes)
  else await git.fs.write(git.resolve(output), bytes)
  return 0
}

function formatOf(options: Arguments): (typeof FORMATS)[number] {
  if (options.has('mtime')) throw fatal('git archive --mtime is not available here')
  const output = options.value('output') ?? ''
  const given = options.value('format') ?? [...FORMATS].reverse().find((name) => output.endsWith(`.${name}`)) ?? 'tar'
  const format = FORMATS.find((name) => name === given)
  if (format === undefined) throw fatal(`Unknown archive format '${given}'`)
  return format
}

type ArchiveRequest = { options: Arguments; pathspec: Pathspec }

async function entriesOf(
  git: Invocation,
  tree: string,
  { options, pathspec }: ArchiveRequest,
): Promise<ArchiveEntry[]> {
  const prefix = options.value('prefix') ?? ''
  const below = git.cwd === git.repo().root ? '' : `${git.cwd.slice(git.repo().root.length + 1)}/`
  if (prefix.startsWith('/') || !isRefName(`refs/${prefix.replace(/[^/]/g, 'x').replace(/\/+$/, '') || 'x'}`))
    throw fatal(`the prefix '${prefix}' is not available here`)
  const entries: ArchiveEntry[] = prefix.endsWith('/')
    ? [{ path: prefix, oid: tree, mode: MODE.tree, bytes: new Uint8Array() }]
    : []
  const left = { bytes: MAX_BYTES }
  const attributes = new Attributes((folder) => textIn(git.repo(), tree, folder))
  const add = async (oid: string, folder: string): Promise<ArchiveEntry[]> => {
    const found: ArchiveEntry[] = []
    for (const entry of parseTree((await git.repo().objects.read(oid)).bytes)) {
      const path = folder + entry.name
      const said = await attributes.of(path)
      if (said.get('export-ignore') === true) continue
      if (said.get('export-subst') === true) throw fatal(`the attribute export-subst of ${path} is not available here`)
      const shown = path.startsWith(below) ? prefix + path.slice(below.length) : null
      const isFolder = entry.mode === MODE.tree || entry.mode === MODE.gitlink
      if (isFolder) {
        const inner = entry.mode === MODE.tree ? await add(entry.oid, `${path}/`) : []
        const isWanted = inner.length > 0 || (entry.mode === MODE.gitlink && pathspec.matches(path))
        if (isWanted && shown !== null)
          found.push({ path: `${shown}/`, oid: entry.oid, mode: MODE.tree, bytes: new Uint8Array() })
        found.push(...inner)
      } else if (shown !== null && pathspec.matches(path)) {
        const { bytes } = await git.repo().objects.read(entry.oid)
        left.bytes -= bytes.byteLength
        if (left.bytes < 0) throw fatal('the tree is too large to be made an archive of here')
        found.push({ path: shown, oid: entry.oid, mode: entry.mode, bytes })
      }
    }
    return found
  }
  return [...entries, ...(await add(tree, ''))]
}

/** The attributes of a folder in the tree. */
async function textIn(repo: Repository, tree: string, folder: string | null): Promise<string | null> {
  if (folder === null) return readText(repo.fs, `${repo.gitDir}/info/attributes`)
  const oid = await revision(repo, `${tree}:${folder === '' ? '' : `${folder}/`}.gitattributes`)
  const object = oid === null ? null : await repo.objects.find(oid)
  return object?.type === 'blob' ? textOf(object.bytes) : null
}

import { parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { type GitObject, MODE, parseTree } from '../objects.ts'
import { revision, unknownRevision } from '../revisions.ts'

/** The contents, kind and size of one object, or of each object named in the input. */
export async function catFile(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('cat-file', ['p', 't', 's', 'e', 'batch?', 'batch-check?', 'buffer'], args)
  const modes = ['p', 't', 's', 'e'].filter((name) => options.has(name))
  const [asked, ...more] = options.inOrder('batch', 'batch-check')
  if (asked) {
    if (more.length > 0) throw new GitFailure('error: only one batch option may be specified', 129)
    const [mode] = modes
    if (mode !== undefined) throw new GitFailure(`fatal: '-${mode}' is incompatible with batch mode`, 129)
    if (options.rest.length > 0) throw new GitFailure('fatal: batch modes take no arguments', 129)
    return batch(git, asked.value || DEFAULT_FORMAT, asked.name === 'batch')
  }
  const words = options.rest
  const [kind, name] = modes.length > 0 ? ['', words[0]] : words
  if (name === undefined || modes.length > 1 || words.length > (modes.length > 0 ? 1 : 2))
    throw new GitFailure('usage: git cat-file <type> <object>\n   or: git cat-file (-e | -p | -t | -s) <object>', 129)
  const oid = await revision(git.repo(), name)
  if (oid === null) throw name.includes(':') ? unknownRevision(name) : fatal(`Not a valid object name ${name}`)
  const object = await git.repo().objects.find(oid)
  if (options.has('e')) return object ? 0 : 1
  if (!object) throw fatal('git cat-file: could not get object info')
  if (options.has('t')) git.line(object.type)
  else if (options.has('s')) git.line(String(object.bytes.byteLength))
  else if (options.has('p') && object.type === 'tree') listTree(git, object)
  else git.out((await objectAsked(git, { object, oid, kind: kind ?? '', name })).bytes)
  return 0
}

type ObjectRequest = { object: GitObject; oid: string; kind: string; name: string }

/** Tags and commits are followed to the requested kind. */
async function objectAsked(git: Invocation, { object, oid, kind, name }: ObjectRequest): Promise<GitObject> {
  if (kind === '' || kind === object.type) return object
  if (kind !== 'tree' && kind !== 'commit') {
    if (!['blob', 'tag'].includes(kind)) throw fatal(`invalid object type "${kind}"`)
    throw fatal(`git cat-file ${name}: bad file`)
  }
  return git.repo().objects.read(await git.repo().peel(oid, kind))
}

function listTree(git: Invocation, { bytes }: GitObject): void {
  for (const { mode, name, oid } of parseTree(bytes)) {
    const type = mode === MODE.tree ? 'tree' : mode === MODE.gitlink ? 'commit' : 'blob'
    git.line(`${mode.toString(8).padStart(6, '0')} ${type} ${oid}\t${git.repo().quoted(name)}`)
  }
}

const DEFAULT_FORMAT = '%(objectname) %(objecttype) %(objectsize)'

const FIELDS: ReadonlySet<string> = new Set(['objectname', 'objecttype', 'objectsize', 'rest'])

/** Git looks at a format before it shows anything. */
function assertFormat(format: string): void {
  const open = format.lastIndexOf('%(')
  if (open >= 0 && !format.includes(')', open))
    throw fatal(`format element '${format.slice(open + 1)}' does not end in ')'`)
  for (const [, field = ''] of format.matchAll(/%\(([^)]*)\)/g)) {
    if (field === 'objectsize:disk' || field === 'deltabase')
      throw fatal(`the format element ${field} is not available here`)
    if (!FIELDS.has(field)) throw fatal(`unknown format element: ${field}`)
  }
}

async function batch(git: Invocation, format: string, showsContents: boolean): Promise<number> {
  assertFormat(format)
  const isSplit = format.includes('%(rest)')
  for (const line of git.stdin.replace(/\n$/, '').split('\n')) {
    if (line === '' && git.stdin === '') break
    const [name = '', rest = ''] = isSplit ? line.split(/\s+(.*)/s) : [line]
    const oid = await revision(git.repo(), name)
    const object = oid === null ? null : await git.repo().objects.find(oid)
    if (oid === null || !object) {
      git.line(`${line} missing`)
      continue
    }
    const fields: Record<string, string> = {
      objectname: oid,
      objecttype: object.type,
      objectsize: String(object.bytes.byteLength),
      rest,
    }
    git.line(format.replace(/%\(([^)]*)\)/g, (_, field: string) => fields[field] ?? ''))
    if (!showsContents) continue
    git.out(object.bytes)
    git.line()
  }
  return 0
}

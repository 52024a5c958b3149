// A tree as comparable text: type and content of each path. Of a repository only its meaning for git is compared, not
// its storage: HEAD, the refs, the index, and operations in progress.

import { createHash } from 'node:crypto'
import type { TreeSummary } from './real-shell-types.ts'

export interface TreeReader {
  list(path: string): Promise<{ name: string; kind: 'file' | 'directory' | 'symlink'; executable: boolean }[]>
  read(path: string): Promise<Uint8Array>
  readLink(path: string): Promise<string>
}

const SHOWN_BYTES = 2000

export async function summaryOf(reader: TreeReader, root: string): Promise<TreeSummary> {
  const summary: TreeSummary = {}
  await addFolder(summary, { reader, root, path: '' })
  return summary
}

type TreePath = { reader: TreeReader; root: string; path: string }

async function addFolder(summary: TreeSummary, { reader, root, path }: TreePath): Promise<void> {
  for (const { name, kind, executable } of await reader.list(`${root}${path}`)) {
    const child = `${path}/${name}`
    const full = `${root}${child}`
    if (kind === 'directory' && name === '.git') {
      const state = await gitStateOf(reader, full)
      for (const [key, value] of Object.entries(state)) summary[`${child} ${key}`] = value
    } else if (kind === 'directory') {
      summary[child] = 'folder'
      await addFolder(summary, { reader, root, path: child })
    } else if (kind === 'symlink') summary[child] = `link to ${await reader.readLink(full)}`
    else summary[child] = `${executable ? 'program' : 'file'} ${await heldBy(reader, full)}`
  }
}

/** No two programs compress alike; what is in an archive is compared where a command takes it out again. */
const ARCHIVE = /\.(tar|tgz|gz|zip|bundle)$/

async function heldBy(reader: TreeReader, path: string): Promise<string> {
  const bytes = await reader.read(path)
  if (!ARCHIVE.test(path)) return shownBytes(bytes)
  return bytes.byteLength === 0 ? 'without contents' : 'an archive'
}

function shownBytes(bytes: Uint8Array): string {
  if (bytes.byteLength <= SHOWN_BYTES) {
    try {
      return JSON.stringify(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }
  return `of ${bytes.byteLength} bytes, ${createHash('sha1').update(bytes).digest('hex')}`
}

const UNDER_WAY = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD']

async function gitStateOf(reader: TreeReader, folder: string): Promise<TreeSummary> {
  const names = new Set((await reader.list(folder)).map(({ name }) => name))
  const text = async (path: string) => new TextDecoder().decode(await reader.read(`${folder}/${path}`))
  const state: TreeSummary = {}
  for (const name of ['HEAD', ...UNDER_WAY]) if (names.has(name)) state[name] = (await text(name)).trim()
  if (names.has('rebase-merge') || names.has('rebase-apply')) state.rebase = 'under way'
  if (names.has('packed-refs')) {
    for (const [, oid = '', ref = ''] of (await text('packed-refs')).matchAll(/^(\w{40}) (\S+)$/gm)) state[ref] = oid
  }
  if (names.has('refs')) await addRefs(state, { reader, root: folder, path: '/refs' })
  if (names.has('index')) {
    for (const [key, value] of indexEntries(await reader.read(`${folder}/index`))) state[`index ${key}`] = value
  }
  return state
}

async function addRefs(state: TreeSummary, { reader, root, path }: TreePath): Promise<void> {
  for (const { name, kind } of await reader.list(`${root}${path}`)) {
    const child = `${path}/${name}`
    if (kind === 'directory') await addRefs(state, { reader, root, path: child })
    else state[child.slice(1)] = new TextDecoder().decode(await reader.read(`${root}${child}`)).trim()
  }
}

const HEADER_BYTES = 12
const STAT_BYTES = 40
const OID_BYTES = 20
const HAS_MORE_FLAGS = 0x4000

/** Versions 2 and 3 of the format, as git's `index-format` tells it: `path stage` to `mode oid`. */
export function* indexEntries(bytes: Uint8Array): Generator<[string, string]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.byteLength < HEADER_BYTES) return
  const version = view.getUint32(4)
  if (version !== 2 && version !== 3) throw new Error(`an index of version ${version}`)
  let at = HEADER_BYTES
  for (let left = view.getUint32(8); left > 0; left--) {
    const mode = view.getUint32(at + 24).toString(8)
    const oid = hex(bytes.subarray(at + STAT_BYTES, at + STAT_BYTES + OID_BYTES))
    const flags = view.getUint16(at + STAT_BYTES + OID_BYTES)
    const from = at + STAT_BYTES + OID_BYTES + (flags & HAS_MORE_FLAGS ? 4 : 2)
    const end = bytes.indexOf(0, from)
    const path = new TextDecoder().decode(bytes.subarray(from, end))
    yield [`${path} ${(flags >> 12) & 3}`, `${mode} ${oid}`]
    // Each entry ends with one to eight NULs, and starts at a multiple of eight from the first.
    at += Math.floor((end - at + 8) / 8) * 8
  }
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

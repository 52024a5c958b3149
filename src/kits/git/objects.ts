// The four kinds of objects as bytes and as values.

import { createHash } from 'node:crypto'
import { joinBytes } from '../../lib/bytes.ts'
import { byteOrder, bytesOfHex, hexOf, textOf, utf8 } from './bytes.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface GitObject {
  type: ObjectType
  bytes: Uint8Array
}

/** The stored data is not in git's format. */
export class CorruptObjectError extends Error {
  override readonly name = 'CorruptObjectError'
}

export const NULL_ID = '0'.repeat(40)
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export const MODE = { file: 0o100644, executable: 0o100755, link: 0o120000, tree: 0o040000, gitlink: 0o160000 } as const

export interface TreeEntry {
  mode: number
  name: string
  oid: string
}

/** The state of a path: its mode and the id of its contents. */
export interface FileState {
  mode: number
  oid: string
}

export interface Signature {
  name: string
  email: string
  /** Since the epoch. */
  seconds: number
  /** In the form `+0130`. */
  zone: string
}

export interface Commit {
  tree: string
  parents: string[]
  author: Signature
  committer: Signature
  message: string
}

export interface Tag {
  object: string
  type: string
  name: string
  tagger: Signature | null
  message: string
}

export function objectId(type: ObjectType, bytes: Uint8Array): string {
  return createHash('sha1').update(`${type} ${bytes.byteLength}\0`).update(bytes).digest('hex')
}

export function sameState(a: FileState | null | undefined, b: FileState | null | undefined): boolean {
  return a && b ? a.oid === b.oid && a.mode === b.mode : !a && !b
}

export function parseTree(bytes: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.byteLength; ) {
    const blank = bytes.indexOf(0x20, at)
    const nul = bytes.indexOf(0, blank)
    if (blank < 0 || nul < 0 || nul + 21 > bytes.byteLength) throw new CorruptObjectError('malformed tree object')
    let mode = 0
    for (let i = at; i < blank; i++) mode = mode * 8 + ((bytes[i] ?? 0) - 48)
    const name = textOf(bytes.subarray(blank + 1, nul))
    entries.push({ mode, name, oid: hexOf(bytes.subarray(nul + 1, nul + 21)) })
    at = nul + 21
  }
  return entries
}

/** Folders are sorted as if their names ended in a slash. */
export function formatTree(entries: readonly TreeEntry[]): Uint8Array {
  const key = ({ name, mode }: TreeEntry) => (mode === MODE.tree ? `${name}/` : name)
  const sorted = [...entries].sort((a, b) => byteOrder(key(a), key(b)))
  return joinBytes(sorted.flatMap(({ mode, name, oid }) => [utf8(`${mode.toString(8)} ${name}\0`), bytesOfHex(oid)]))
}

export function parseCommit(bytes: Uint8Array): Commit {
  const { headers, message } = headed(textOf(bytes))
  const first = (name: string) => headers.find(([key]) => key === name)?.[1] ?? ''
  return {
    tree: first('tree'),
    parents: headers.filter(([key]) => key === 'parent').map(([, value]) => value),
    author: parseSignature(first('author')),
    committer: parseSignature(first('committer')),
    message,
  }
}

export function formatCommit({ tree, parents, author, committer, message }: Commit): Uint8Array {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
  ]
  return utf8(`${lines.join('\n')}\n\n${message}`)
}

export function parseTag(bytes: Uint8Array): Tag {
  const { headers, message } = headed(textOf(bytes))
  const value = (name: string) => headers.find(([key]) => key === name)?.[1]
  const tagger = value('tagger')
  return {
    object: value('object') ?? '',
    type: value('type') ?? '',
    name: value('tag') ?? '',
    tagger: tagger === undefined ? null : parseSignature(tagger),
    message,
  }
}

export function formatTag({ object, type, name, tagger, message }: Tag): Uint8Array {
  const by = tagger ? `\ntagger ${formatSignature(tagger)}` : ''
  return utf8(`object ${object}\ntype ${type}\ntag ${name}${by}\n\n${message}`)
}

export function formatSignature({ name, email, seconds, zone }: Signature): string {
  return `${name} <${email}> ${seconds} ${zone}`
}

function parseSignature(text: string): Signature {
  const match = /^(.*?) ?<([^>]*)> ?(-?\d+)? ?([+-]\d{4})?$/.exec(text)
  return {
    name: match?.[1] ?? '',
    email: match?.[2] ?? '',
    seconds: Number(match?.[3] ?? 0),
    zone: match?.[4] ?? '+0000',
  }
}

/** The lines before the first empty one, with continuation lines joined, and the rest. */
function headed(text: string): { headers: [string, string][]; message: string } {
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text.replace(/\n$/, '') : text.slice(0, end)
  const headers: [string, string][] = []
  for (const line of head.split('\n')) {
    const last = headers.at(-1)
    if (line.startsWith(' ') && last) last[1] += `\n${line.slice(1)}`
    else headers.push([line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)])
  }
  return { headers, message: end < 0 ? '' : text.slice(end + 2) }
}

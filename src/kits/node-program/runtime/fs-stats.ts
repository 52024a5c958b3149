// What `node:fs` tells of an entry.

import type { TreeNode } from './tree.ts'

const TYPES = { file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const
const TYPE_BITS = 0o170000
const BLOCK_BYTES = 4096
const SECTOR_BYTES = 512
const OWNER = 1000

const inodes = new WeakMap<TreeNode, number>()
let lastInode = 1

function inodeOf(node: TreeNode): number {
  const known = inodes.get(node)
  if (known !== undefined) return known
  inodes.set(node, ++lastInode)
  return lastInode
}

function sizeOf(node: TreeNode): number {
  if (node.kind === 'symlink') return node.target.length
  return node.kind === 'directory' ? BLOCK_BYTES : (node.bytes?.length ?? node.size ?? 0)
}

export class Stats {
  declare readonly mode: number | bigint

  constructor(node: TreeNode, bigint = false) {
    const number = bigint ? BigInt : Number
    const size = sizeOf(node)
    Object.assign(this, {
      dev: number(1),
      mode: number(TYPES[node.kind] | node.mode),
      nlink: number(1),
      uid: number(OWNER),
      gid: number(OWNER),
      rdev: number(0),
      blksize: number(BLOCK_BYTES),
      ino: number(inodeOf(node)),
      size: number(size),
      blocks: number(Math.ceil(size / SECTOR_BYTES)),
    })
    const ms = bigint ? BigInt(Math.floor(node.mtimeMs)) : node.mtimeMs
    for (const name of ['atime', 'mtime', 'ctime', 'birthtime'])
      Object.assign(this, { [`${name}Ms`]: ms, [name]: new Date(node.mtimeMs) })
  }

  #type(): number {
    return Number(this.mode) & TYPE_BITS
  }
  isFile(): boolean {
    return this.#type() === TYPES.file
  }
  isDirectory(): boolean {
    return this.#type() === TYPES.directory
  }
  isSymbolicLink(): boolean {
    return this.#type() === TYPES.symlink
  }
  isFIFO(): boolean {
    return false
  }
  isSocket(): boolean {
    return false
  }
  isBlockDevice(): boolean {
    return false
  }
  isCharacterDevice(): boolean {
    return false
  }
}

export class Dirent {
  readonly name: string
  readonly parentPath: string
  readonly path: string
  readonly #kind: TreeNode['kind']

  constructor(name: string, kind: TreeNode['kind'], parentPath: string) {
    this.name = name
    this.#kind = kind
    this.parentPath = parentPath
    this.path = parentPath
  }
  isFile(): boolean {
    return this.#kind === 'file'
  }
  isDirectory(): boolean {
    return this.#kind === 'directory'
  }
  isSymbolicLink(): boolean {
    return this.#kind === 'symlink'
  }
  isFIFO(): boolean {
    return false
  }
  isSocket(): boolean {
    return false
  }
  isBlockDevice(): boolean {
    return false
  }
  isCharacterDevice(): boolean {
    return false
  }
}

// Two trees as the summaries read them: what the service has, and what stands on the disk.

import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { TreeReader } from '../../../test/support/shell-tree.ts'
import type { Node } from '../support/stand-in-tree.ts'

export function nodesReader(nodes: ReadonlyMap<string, Node>): TreeReader {
  const at = (path: string) => {
    const node = nodes.get(path.slice(1))
    if (node === undefined) throw new Error(`nothing at ${path}`)
    return node
  }
  return {
    list: async (path) =>
      [...nodes]
        .filter(([name]) => name.startsWith(path === '' ? '' : `${path.slice(1)}/`))
        .map(([name, node]) => ({ name: name.slice(path.length === 0 ? 0 : path.length), node }))
        .filter(({ name }) => !name.includes('/'))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, node }) => ({
          name,
          kind: node.kind,
          executable: node.kind === 'file' && (node.mode & 0o100) !== 0,
        })),
    read: async (path) => {
      const node = at(path)
      return node.kind === 'file' ? new Uint8Array(node.bytes) : new Uint8Array()
    },
    readLink: async (path) => {
      const node = at(path)
      return node.kind === 'symlink' ? node.target : ''
    },
  }
}

/** Pipes and devices are no files of a workspace. */
export const DISK: TreeReader = {
  async list(path) {
    const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
    const found = entries.filter((entry) => entry.isFile() || entry.isDirectory() || entry.isSymbolicLink())
    return Promise.all(
      found.map(async (entry) => ({
        name: entry.name,
        kind: entry.isDirectory()
          ? ('directory' as const)
          : entry.isSymbolicLink()
            ? ('symlink' as const)
            : ('file' as const),
        executable: entry.isFile() && ((await lstat(join(path, entry.name))).mode & 0o100) !== 0,
      })),
    )
  },
  read: async (path) => new Uint8Array(await readFile(path)),
  readLink: (path) => readlink(path),
}

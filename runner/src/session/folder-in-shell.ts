import { statSync } from 'node:fs'
import { join, posix } from 'node:path'

const OBJECT_ROOT = '/workspace'

/** The object's folder as the shell sees it; null when it is not in the workspace or not there: the shell begins at its top. */
export function folderInShell(cwd: string, root: string, rootInShell: string): string | null {
  const inTree = posix.relative(OBJECT_ROOT, posix.resolve(OBJECT_ROOT, cwd))
  if (inTree === '' || inTree.startsWith('..')) return null
  return statSync(join(root, inTree), { throwIfNoEntry: false })?.isDirectory() ? join(rootInShell, inTree) : null
}

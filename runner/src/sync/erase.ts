import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Folder } from './folder.ts'
import { removeBelow } from './remove.ts'

/** No conversation's name starts with a dot. */
const TRASH = '.trash'

/**
 * Deletes one of the runner's folders with everything that programs left in it, including unreadable folders and names
 * that are not valid text.
 */
export function erase(parent: string, name: string): void {
  if (!existsSync(join(parent, name))) return
  mkdirSync(join(parent, TRASH), { recursive: true, mode: 0o700 })
  const [folder, trash] = [Folder.root(parent), Folder.root(join(parent, TRASH))]
  try {
    removeBelow(folder, name, trash)
  } finally {
    folder.close()
    trash.close()
  }
}

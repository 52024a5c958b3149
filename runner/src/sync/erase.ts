import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Folder } from './folder.ts'
import { removeBelow } from './remove.ts'

/** No conversation's name begins with a dot. */
const TRASH = '.trash'

/** Deletes a folder of the runner's own with all that programs left in it, closed folders and names that are no text as well. */
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

// The folders of a transfer: opened one below the other, never through a link, and created if they are missing. Their
// permissions are set at the end, because a read-only folder could not be filled.

import { Folder, isCode, openBelow } from './folder.ts'
import { kindOf, type Manifest, stampOf } from './manifest.ts'
import { removeBelow, writable } from './remove.ts'

/** Of a folder without a description. */
const USUAL_MODE = 0o755

export class TreeFolders {
  readonly #root: string
  readonly #manifest: Manifest
  readonly #trash: Folder
  readonly #modes = new Map<string, number>()
  /** The most recently used one: entries of the same folder are consecutive. */
  #parent: { path: string; folder: Folder } | null = null

  constructor(root: string, manifest: Manifest, trash: Folder) {
    this.#root = root
    this.#manifest = manifest
    this.#trash = trash
  }

  /** Stores the final permissions of the folder. */
  describe(path: string, mode: number): void {
    this.#modes.set(path, mode)
  }

  madeParentOf(path: string): [Folder, string] {
    const found = this.parentOf(path, true)
    if (found === null) throw new Error(`the folder of ${path} cannot be made`)
    return found
  }

  /** The open folder of the path, and the name in it; null if it is missing and must not be created. */
  parentOf(path: string, isMade: boolean): [Folder, string] | null {
    const cut = path.lastIndexOf('/')
    const [parent, name] = [path.slice(0, Math.max(cut, 0)), path.slice(cut + 1)]
    if (this.#parent?.path === parent) return [this.#parent.folder, name]
    this.forgetParent()
    const names = parent === '' ? [] : parent.split('/')
    const folder = isMade ? this.#madeBelow(names) : openedBelow(this.#root, names)
    if (folder === null) return null
    this.#parent = { path: parent, folder }
    return [folder, name]
  }

  forgetParent(): void {
    this.#parent?.folder.close()
    this.#parent = null
  }

  /** Makes sure that the folder exists: a file or a link in its place is deleted. */
  ensure(folder: Folder, name: string, path: string): void {
    const stats = folder.stat(name)
    if (stats !== null && kindOf(stats) === 'directory') {
      // A folder without a description: its current permissions are used.
      const isKnown = this.#manifest.has(path) || this.#modes.has(path)
      if (!isKnown) this.#manifest.set(path, { kind: 'directory', stamp: stampOf(stats), hash: '' })
      return
    }
    if (stats !== null) removeBelow(folder, name, this.#trash)
    writable(folder, () => folder.mkdir(name))
    this.#modes.set(path, USUAL_MODE)
  }

  setModes(): void {
    // The deepest first: the folders below an inaccessible one cannot be reached.
    for (const [path, mode] of [...this.#modes].sort(([a], [b]) => b.length - a.length)) {
      const folder = openedBelow(this.#root, path.split('/'))
      if (folder === null) continue
      folder.chmod(mode)
      const stats = folder.stat('.')
      folder.close()
      if (stats !== null) this.#manifest.set(path, { kind: 'directory', stamp: stampOf(stats), hash: '' })
    }
  }

  #madeBelow(names: readonly string[]): Folder {
    let folder = Folder.root(this.#root)
    names.forEach((name, index) => {
      const outer = folder
      try {
        this.ensure(outer, name, names.slice(0, index + 1).join('/'))
        folder = outer.open(name)
      } finally {
        outer.close()
      }
    })
    return folder
  }
}

function openedBelow(root: string, names: readonly string[]): Folder | null {
  try {
    return openBelow(root, names)
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return null
    throw error
  }
}

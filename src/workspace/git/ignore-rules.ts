// Which untracked files git does not talk about: what the `.gitignore` files and `.git/info/exclude` say.

import type { FileSystem } from '../file-system.ts'
import { ignoreRules, type Rules } from '../ignore.ts'
import { statAt } from './worktree.ts'

type Level = { rules: Rules; folder: string }

export class IgnoreRules {
  readonly #fs: FileSystem
  readonly #root: string
  readonly #gitDir: string
  /** By folder; the rules nearest to it come first. */
  readonly #levels = new Map<string, Promise<Level[]>>()

  constructor(fs: FileSystem, root: string, gitDir: string) {
    this.#fs = fs
    this.#root = root
    this.#gitDir = gitDir
  }

  /** Says it for one entry of a folder that is not ignored itself. */
  async ignoresEntry(path: string, isFolder: boolean): Promise<boolean> {
    const slash = path.lastIndexOf('/')
    const asked = isFolder ? `${path}/` : path
    for (const { rules, folder } of await this.#levelsOf(slash < 0 ? '' : path.slice(0, slash))) {
      const verdict = rules.test(folder === '' ? asked : asked.slice(folder.length + 1))
      if (verdict.ignored || verdict.unignored) return verdict.ignored
    }
    return false
  }

  /** Says it for any path: what is in an ignored folder is ignored. */
  async ignores(path: string, isFolder: boolean): Promise<boolean> {
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
      if (await this.ignoresEntry(path.slice(0, slash), true)) return true
    }
    return this.ignoresEntry(path, isFolder)
  }

  #levelsOf(folder: string): Promise<Level[]> {
    const known = this.#levels.get(folder)
    if (known) return known
    const reading = this.#readLevels(folder)
    this.#levels.set(folder, reading)
    return reading
  }

  async #readLevels(folder: string): Promise<Level[]> {
    const path = `${this.#root}${folder === '' ? '' : `/${folder}`}/.gitignore`
    // A link could lead to rules from anywhere; git does not follow it either.
    const own = statAt(this.#fs, path)?.kind === 'file' ? await ignoreRules(this.#fs, path) : null
    const here = own ? [{ rules: own, folder }] : []
    if (folder === '') {
      const exclude = await ignoreRules(this.#fs, `${this.#gitDir}/info/exclude`)
      return exclude ? [...here, { rules: exclude, folder }] : here
    }
    const slash = folder.lastIndexOf('/')
    return [...here, ...(await this.#levelsOf(slash < 0 ? '' : folder.slice(0, slash)))]
  }
}

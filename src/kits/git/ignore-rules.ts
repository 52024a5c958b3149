// The untracked files that git ignores, by the `.gitignore` files and `.git/info/exclude`.

import type { FileSystem } from '../../workspace/file-system.ts'
import { decidingRule, ignoreRules, type Rules } from '../../workspace/ignore.ts'
import { lstatAt } from '../../workspace/stat.ts'

export interface IgnoreDecision {
  /** The file that contains the rule, relative to the top of the working tree. */
  source: string
  /** Counted from 1. */
  line: number
  rule: string
}

type Level = { rules: Rules; folder: string }

export class IgnoreRules {
  readonly #fs: FileSystem
  readonly #root: string
  readonly #gitDir: string
  /** By folder; the nearest rules come first. */
  readonly #levels = new Map<string, Promise<Level[]>>()

  constructor(fs: FileSystem, root: string, gitDir: string) {
    this.#fs = fs
    this.#root = root
    this.#gitDir = gitDir
  }

  /** For one entry of a folder that is not ignored itself. */
  async ignoresEntry(path: string, isFolder: boolean): Promise<boolean> {
    const slash = path.lastIndexOf('/')
    const asked = isFolder ? `${path}/` : path
    for (const { rules, folder } of await this.#levelsOf(slash < 0 ? '' : path.slice(0, slash))) {
      const verdict = rules.test(folder === '' ? asked : asked.slice(folder.length + 1))
      if (verdict.ignored || verdict.unignored) return verdict.ignored
    }
    return false
  }

  /** For any path: everything in an ignored folder is ignored. */
  async ignores(path: string, isFolder: boolean): Promise<boolean> {
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
      if (await this.ignoresEntry(path.slice(0, slash), true)) return true
    }
    return this.ignoresEntry(path, isFolder)
  }

  /** The rule that decides about the path, in either direction; null if there is none. */
  async decision(path: string, isFolder: boolean): Promise<IgnoreDecision | null> {
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
      const found = await this.#decisionOf(path.slice(0, slash), true)
      if (found && !found.rule.startsWith('!')) return found
    }
    return this.#decisionOf(path, isFolder)
  }

  async #decisionOf(path: string, isFolder: boolean): Promise<IgnoreDecision | null> {
    const folders = path.split('/').slice(0, -1)
    for (let depth = folders.length; depth >= 0; depth--) {
      const folder = folders.slice(0, depth).join('/')
      const source = `${folder === '' ? '' : `${folder}/`}.gitignore`
      const asked = (folder === '' ? path : path.slice(folder.length + 1)) + (isFolder ? '/' : '')
      const found = await decidingRule(this.#fs, `${this.#root}/${source}`, asked)
      if (found) return { source, ...found }
    }
    const found = await decidingRule(this.#fs, `${this.#gitDir}/info/exclude`, path + (isFolder ? '/' : ''))
    return found && { source: '.git/info/exclude', ...found }
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
    const own = lstatAt(this.#fs, path)?.kind === 'file' ? await ignoreRules(this.#fs, path) : null
    const here = own ? [{ rules: own, folder }] : []
    if (folder === '') {
      const exclude = await ignoreRules(this.#fs, `${this.#gitDir}/info/exclude`)
      return exclude ? [...here, { rules: exclude, folder }] : here
    }
    const slash = folder.lastIndexOf('/')
    return [...here, ...(await this.#levelsOf(slash < 0 ? '' : folder.slice(0, slash)))]
  }
}

// The files that `rg` searches: in folders without hidden and ignored files, and those excluded by `-g` and `-t`.

import {
  type DirectoryEntry,
  type FileErrorCode,
  type FileStat,
  type FileSystemError,
  isFileError,
} from '../../../../workspace/file-system.ts'
import { ignoreRules, type Rules } from '../../../../workspace/ignore.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { isDevice, pathOf, readInput } from '../inputs.ts'
import { isOfType, verdict } from './rules.ts'
import type { RgSettings } from './settings.ts'

export interface RgTarget {
  name: string
  /** Given explicitly, and so always searched. */
  isNamed: boolean
  read: () => Promise<Uint8Array>
}

export type RgMatch = { target: RgTarget } | { problem: string }

interface Level {
  rules: Rules
  folder: string
}

const IGNORE_FILES = ['.ignore', '.rgignore']

export class RgTargets {
  readonly #settings: RgSettings
  readonly #call: ShellCall

  constructor(settings: RgSettings, call: ShellCall) {
    this.#settings = settings
    this.#call = call
  }

  async *all(operands: readonly string[]): AsyncGenerator<RgMatch> {
    for (const name of operands.length > 0 ? operands : ['']) {
      const path = operands.length === 0 ? this.#call.cwd : pathOf(this.#call, name)
      if (name === '-' || isDevice(path)) {
        yield { target: { name: '<stdin>', isNamed: true, read: () => readInput(this.#call, name) } }
        continue
      }
      let stat: FileStat
      try {
        stat = this.#call.fs.stat(path)
      } catch (error) {
        if (!isFileError(error)) throw error
        yield { problem: osProblem(name, error) }
        continue
      }
      if (stat.kind === 'directory')
        yield* this.#folder({ path, shown: name, depth: 1 }, await this.#levelsAbove(path), [])
      else yield { target: { name, isNamed: true, read: () => this.#call.fs.read(path) } }
    }
  }

  async *#folder(
    place: { path: string; shown: string; depth: number },
    above: readonly Level[],
    ways: readonly number[],
  ): AsyncGenerator<RgMatch> {
    const { path, shown, depth } = place
    const { fs } = this.#call
    if (depth > this.#settings.maxDepth) return
    const { inode } = fs.stat(path)
    if (ways.includes(inode)) return
    const levels = [...above, ...(await this.#levelsOf(path, this.#isInRepository(path)))]
    let entries: DirectoryEntry[]
    try {
      entries = fs.list(path)
    } catch (error) {
      if (!isFileError(error, 'EACCES')) throw error
      yield { problem: osProblem(shown, error) }
      return
    }
    for (const { name, kind: own } of this.#settings.isReversed ? entries.reverse() : entries) {
      const inside = `${path === '/' ? '' : path}/${name}`
      const named = shown === '' ? name : `${shown.replace(/\/$/, '')}/${name}`
      if (own === 'symlink' && !this.#settings.has('L')) continue
      let kind = own
      try {
        if (own === 'symlink') kind = fs.stat(inside).kind
      } catch (error) {
        if (!isFileError(error)) throw error
        yield { problem: osProblem(named, error) }
        continue
      }
      const isFolder = kind === 'directory'
      if (!this.#isTaken(inside, { isFolder, levels })) continue
      if (isFolder) yield* this.#folder({ path: inside, shown: named, depth: depth + 1 }, levels, [...ways, inode])
      else yield { target: { name: named, isNamed: false, read: () => fs.read(inside) } }
    }
  }

  #isTaken(path: string, { isFolder, levels }: { isFolder: boolean; levels: readonly Level[] }): boolean {
    const { rules, types, otherTypes, readsHidden } = this.#settings
    const name = path.slice(path.lastIndexOf('/') + 1)
    const { cwd } = this.#call
    const relative = path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path.slice(1)
    const asked = verdict(rules, relative, isFolder)
    if (asked !== null) return asked === 'taken'
    if (!isFolder && rules.some(({ isNegative }) => !isNegative)) return false
    const ignored = this.#ignored(path, isFolder, levels)
    if (ignored === true || (ignored === null && !readsHidden && name.startsWith('.'))) return false
    if (isFolder) return true
    if (otherTypes.some((type) => isOfType(name, type))) return false
    return types.length === 0 || types.some((type) => isOfType(name, type))
  }

  /** The result of the nearest file with a matching rule. */
  #ignored(path: string, isFolder: boolean, levels: readonly Level[]): boolean | null {
    for (const { rules, folder } of levels.toReversed()) {
      const { ignored, unignored } = rules.test(
        path.slice(folder === '/' ? 1 : folder.length + 1) + (isFolder ? '/' : ''),
      )
      if (ignored || unignored) return ignored
    }
    return null
  }

  async #levelsAbove(path: string): Promise<Level[]> {
    const names = path.split('/').filter((name) => name !== '')
    const isInRepository = this.#isInRepository(path)
    const levels: Level[] = []
    for (let depth = 0; depth < names.length; depth++) {
      levels.push(...(await this.#levelsOf(`/${names.slice(0, depth).join('/')}`, isInRepository)))
    }
    return levels
  }

  async #levelsOf(folder: string, isInRepository: boolean): Promise<Level[]> {
    if (!this.#settings.heedsIgnores) return []
    const heedsGit = isInRepository && !this.#settings.has('no-ignore-vcs')
    const levels: Level[] = []
    for (const file of [...(heedsGit ? ['.gitignore'] : []), ...IGNORE_FILES]) {
      const rules = await ignoreRules(this.#call.fs, `${folder === '/' ? '' : folder}/${file}`)
      if (rules) levels.push({ rules, folder })
    }
    return levels
  }

  #isInRepository(folder: string): boolean {
    for (let at = folder; ; at = at.slice(0, at.lastIndexOf('/'))) {
      try {
        this.#call.fs.lstat(`${at === '/' ? '' : at}/.git`)
        return true
      } catch (error) {
        if (!isFileError(error)) throw error
      }
      if (at === '' || at === '/') return false
    }
  }
}

function osProblem(name: string, error: FileSystemError): string {
  return `${name}: ${shellMessage(error)} (os error ${OS_ERRORS[error.code] ?? 2})`
}

const OS_ERRORS: Partial<Record<FileErrorCode, number>> = { EACCES: 13, ENOTDIR: 20 }

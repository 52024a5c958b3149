// A file visited by `find`. Its data is read when it is needed.

import { type FileKind, type FileStat, isFileError } from '../../../../workspace/file-system.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { kindLetter } from '../file-facts.ts'

export interface EntryLocation {
  /** The operand that contains it. */
  root: string
  /** The displayed path. */
  shown: string
  path: string
  depth: number
  kind: FileKind
}

export class Entry {
  readonly root: string
  readonly shown: string
  readonly path: string
  readonly depth: number
  /** Of the path itself: a link is a link. */
  readonly ownKind: FileKind
  isPruned = false
  readonly #call: ShellCall
  readonly #follows: boolean
  #stat: FileStat | null = null

  constructor(place: EntryLocation, call: ShellCall, follows: boolean) {
    this.root = place.root
    this.shown = place.shown
    this.path = place.path
    this.depth = place.depth
    this.ownKind = place.kind
    this.#call = call
    this.#follows = follows
  }

  /** The last name, without trailing slashes. */
  get name(): string {
    const bare = this.shown.replace(/(?<=[^/])\/+$/, '')
    return bare === '/' ? bare : bare.slice(bare.lastIndexOf('/') + 1)
  }

  /** The kind, with links followed if the command follows them. */
  get kind(): FileKind {
    return this.ownKind === 'symlink' && this.#follows ? this.stat.kind : this.ownKind
  }

  /** For its kind. Only for system files it must be read separately. */
  get letter(): string {
    const { kind } = this
    const mayBeDevice = kind === 'file' && (this.ownKind === 'symlink' || this.path.startsWith('/dev/'))
    return kindLetter(mayBeDevice ? this.stat : { kind })
  }

  get stat(): FileStat {
    this.#stat ??= (this.#follows ? this.target : null) ?? this.#call.fs.lstat(this.path)
    return this.#stat
  }

  /** The target of a link; null if it does not exist. */
  get target(): FileStat | null {
    try {
      return this.#call.fs.stat(this.path)
    } catch (error) {
      if (isFileError(error)) return null
      throw error
    }
  }

  /** Whether it is a followed link in a loop. */
  get isLoop(): boolean {
    if (this.ownKind !== 'symlink' || !this.#follows) return false
    try {
      this.#call.fs.stat(this.path)
      return false
    } catch (error) {
      return isFileError(error, 'ELOOP')
    }
  }

  get linkTarget(): string {
    return this.kind === 'symlink' ? this.#call.fs.readLink(this.path) : ''
  }

  get isEmpty(): boolean {
    if (this.kind === 'directory') return this.#call.fs.list(this.path).length === 0
    return this.kind === 'file' && this.stat.sizeBytes === 0
  }

  /** 1 for a file; a folder has one for itself and one for each subfolder. */
  get links(): number {
    if (this.kind !== 'directory') return 1
    return 2 + this.#call.fs.list(this.path).filter(({ kind }) => kind === 'directory').length
  }
}

// A file as `find` comes upon it. What is known about it is looked up when it is asked for.

import { type FileKind, type FileStat, isFileError } from '../../../../workspace/file-system.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { kindLetter } from '../file-facts.ts'

export interface EntryLocation {
  /** The operand below which it was found. */
  root: string
  /** As it is shown. */
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
  /** Of what is at the place: a link is a link. */
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

  /** The last name, without slashes behind it. */
  get name(): string {
    const bare = this.shown.replace(/(?<=[^/])\/+$/, '')
    return bare === '/' ? bare : bare.slice(bare.lastIndexOf('/') + 1)
  }

  /** As the command looks at links. */
  get kind(): FileKind {
    return this.ownKind === 'symlink' && this.#follows ? this.stat.kind : this.ownKind
  }

  /** Of its kind. Only what may be beside the tree must be looked at for it. */
  get letter(): string {
    const { kind } = this
    const mayBeDevice = kind === 'file' && (this.ownKind === 'symlink' || this.path.startsWith('/dev/'))
    return kindLetter(mayBeDevice ? this.stat : { kind })
  }

  get stat(): FileStat {
    this.#stat ??= (this.#follows ? this.target : null) ?? this.#call.fs.lstat(this.path)
    return this.#stat
  }

  /** Of what a link leads to; null where that is nothing. */
  get target(): FileStat | null {
    try {
      return this.#call.fs.stat(this.path)
    } catch (error) {
      if (isFileError(error)) return null
      throw error
    }
  }

  /** Whether it is a link that is followed, in a circle. */
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

  /** A file has one; a folder has its own, and one of each folder inside. */
  get links(): number {
    if (this.kind !== 'directory') return 1
    return 2 + this.#call.fs.list(this.path).filter(({ kind }) => kind === 'directory').length
  }
}

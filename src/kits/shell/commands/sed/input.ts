// Reads the lines of the files one after another. Whether a line is the last is known only after the next non-empty
// file was opened, so files are opened in advance.

import { isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { losslessBytes } from '../../lossless-text.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { readText } from '../text-files.ts'

interface OpenFile {
  name: string
  text: string
  at: number
}

export interface InputOptions {
  files: readonly string[]
  /** Each file has its own last line and line numbers. */
  isSeparate: boolean
  separator: string
  report: (message: string, exitCode: number) => void
  /** Called at the first line of each separate file. */
  onFile: () => void
}

export class SedInput {
  lineNumber = 0
  /** Whether the last read line ended with a separator. */
  hasEnd = true
  /** Null until a line has been read. */
  file: string | null = null
  readonly #call: ShellCall
  readonly #options: InputOptions
  #current: OpenFile | null = null
  /** The next non-empty file. */
  #ahead: OpenFile | null = null
  #next = 0

  constructor(call: ShellCall, options: InputOptions) {
    this.#call = call
    this.#options = options
  }

  /** If it returns a promise, it must be awaited before `isLast` and `read` are used. */
  prepare(): Promise<void> | null {
    const hasLine = this.#current !== null && this.#current.at < this.#current.text.length
    return hasLine || this.#ahead !== null || this.#next >= this.#options.files.length ? null : this.#lookAhead()
  }

  get isLast(): boolean {
    const isFileEnd = this.#current === null || this.#current.at >= this.#current.text.length
    if (!isFileEnd) return false
    return this.#ahead === null || (this.#options.isSeparate && this.#current !== null)
  }

  /** The number of bytes read from the standard input; null for all or nothing. */
  get stdinTaken(): number | null {
    if (this.#current?.name !== '-') return null
    return losslessBytes(this.#current.text.slice(0, this.#current.at)).byteLength
  }

  /** Null if there is none. */
  read(): string | null {
    if (!this.#current || this.#current.at >= this.#current.text.length) {
      if (!this.#ahead) return null
      this.#current = this.#ahead
      this.#ahead = null
      this.file = this.#current.name
      if (this.#options.isSeparate) {
        this.lineNumber = 0
        this.#options.onFile()
      }
    }
    const { text, at } = this.#current
    const found = text.indexOf(this.#options.separator, at)
    const end = found < 0 ? text.length : found
    this.hasEnd = found >= 0
    this.#current.at = end + 1
    this.lineNumber++
    return text.slice(at, end)
  }

  async #lookAhead(): Promise<void> {
    const { files, report } = this.#options
    while (this.#ahead === null && this.#next < files.length) {
      const name = files[this.#next++] ?? ''
      try {
        const text = await readText(this.#call, name)
        if (text !== '') this.#ahead = { name, text, at: 0 }
      } catch (error) {
        if (isFileError(error, 'EISDIR')) report(`read error on ${name}: Is a directory`, EXIT_READ)
        else report(`can't read ${name}: ${shellMessage(error)}`, EXIT_MISSING)
      }
    }
  }
}

const EXIT_MISSING = 2
const EXIT_READ = 4

// The file names of text commands: a dash and `/dev/stdin` for the standard input, and the usual devices.

import { type FileSystem, isFileError } from '../../../workspace/file-system.ts'
import { byteText, isByteLocale } from '../byte-locale.ts'
import { losslessBytes, losslessText } from '../lossless-text.ts'
import { resolvePath } from '../named-path.ts'
import type { ShellCall } from '../shell-extensions.ts'

const INPUTS = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])
const EMPTY = new Set(['/dev/null'])

/** Throws the file error if it cannot be read. */
export async function readText(call: ShellCall, name: string): Promise<string> {
  const { fs, cwd } = call
  if (INPUTS.has(name)) return textIn(call, call.stdinBytes)
  const path = resolvePath(cwd, name)
  return EMPTY.has(path) ? '' : textIn(call, await fs.read(path))
}

/** In the locale of the command. */
export function textIn({ env }: Pick<ShellCall, 'env'>, bytes: Uint8Array): string {
  const text = losslessText(bytes)
  return isByteLocale((name) => env[name]) ? byteText(text) : text
}

/** A word of the command line, in the same way. */
export function wordIn({ env }: Pick<ShellCall, 'env'>, word: string): string {
  return isByteLocale((name) => env[name]) ? byteText(word) : word
}

export type Outlet = 'stdout' | 'stderr' | 'nothing'

/** The output for a name that is not a file of the tree. */
export function outletOf(name: string): Outlet | null {
  if (name === '/dev/stdout' || name === '/dev/fd/1') return 'stdout'
  if (name === '/dev/stderr' || name === '/dev/fd/2') return 'stderr'
  return name === '/dev/null' ? 'nothing' : null
}

/** A file that is being written: buffered in memory, and written to the tree now and then. */
export class GrowingFile {
  readonly #fs: FileSystem
  readonly #path: string
  #waiting: string[] = []
  #size = 0

  constructor(fs: FileSystem, path: string) {
    this.#fs = fs
    this.#path = path
  }

  /** Truncates or creates the file. */
  async open(): Promise<void> {
    await this.#fs.write(this.#path, new Uint8Array())
  }

  /** Creates the file if it does not exist. */
  async openAtEnd(): Promise<void> {
    try {
      if (this.#fs.stat(this.#path).kind === 'directory') await this.open()
    } catch (error) {
      if (!isFileError(error, 'ENOENT')) throw error
      await this.open()
    }
  }

  add(text: string): void {
    this.#waiting.push(text)
    this.#size += text.length
  }

  /** Whether the buffer is so large that it should be written to the tree. */
  get isFull(): boolean {
    return this.#size > FULL_CHARS
  }

  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const text = this.#waiting.join('')
    this.#waiting = []
    this.#size = 0
    await this.#fs.append(this.#path, losslessBytes(text))
  }
}

const FULL_CHARS = 1024 * 1024

/**
 * The output of a command, with a limit: it is kept until the command ends. The command's own output is buffered, like
 * in a program that does not write to a terminal; the output of its child commands is written at once.
 */
export class CommandOutput {
  readonly #stdout: string[] = []
  #waiting: string[] = []
  #stderr = ''
  #size = 0

  add(text: string): void {
    this.#count(text)
    this.#waiting.push(text)
  }

  addAtOnce(text: string): void {
    this.#count(text)
    this.#stdout.push(text)
  }

  flush(): void {
    if (this.#waiting.length === 0) return
    this.#stdout.push(this.#waiting.join(''))
    this.#waiting = []
  }

  addError(text: string): void {
    if (this.#stderr.length < MAX_OUTPUT_CHARS) this.#stderr += text
  }

  result(exitCode: number): { stdout: string; bytes: Uint8Array | null; stderr: string; exitCode: number } {
    this.flush()
    const stdout = this.#stdout.join('')
    const bytes = stdout.isWellFormed() ? null : losslessBytes(stdout)
    return { stdout: bytes ? '' : stdout, bytes, stderr: this.#stderr.toWellFormed(), exitCode }
  }

  #count(text: string): void {
    this.#size += text.length
    if (this.#size <= MAX_OUTPUT_CHARS) return
    // The beginning is enough to find the error.
    this.flush()
    const start = this.#stdout.join('').slice(0, KEPT_CHARS)
    this.#stdout.splice(0, this.#stdout.length, start)
    throw new OutputLimitError()
  }
}

const MAX_OUTPUT_CHARS = 32 * 1024 * 1024
const KEPT_CHARS = 64 * 1024

export class OutputLimitError extends Error {
  override readonly name = 'OutputLimitError'
  override readonly message = `the output is longer than ${MAX_OUTPUT_CHARS / 1024 / 1024} MiB`
}

// The outputs of lines: the standard output, an edited file, and the files of `w`.

import { isFileError, replaceContents } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { type CommandOutput, GrowingFile, outletOf } from '../text-files.ts'
import { SedError } from './script.ts'

const EXIT_PANIC = 4

/** A line without a line end gets one when another line follows. */
export class LineWriter {
  readonly #put: (text: string) => void
  readonly #separator: string
  #lacksEnd = false

  constructor(put: (text: string) => void, separator: string) {
    this.#put = put
    this.#separator = separator
  }

  line(text: string, hasEnd = true): void {
    this.#put((this.#lacksEnd ? this.#separator : '') + text + (hasEnd ? this.#separator : ''))
    this.#lacksEnd = !hasEnd
  }

  /** Ends an incomplete line, and writes the text unchanged. */
  raw(text: string): void {
    if (text !== '') this.added(text)
  }

  /** Appended text ends the line, even if it is empty (`$a\`). */
  added(text: string): void {
    this.#put((this.#lacksEnd ? this.#separator : '') + text)
    this.#lacksEnd = false
  }
}

export class WrittenFiles {
  readonly #call: ShellCall
  readonly #output: CommandOutput
  readonly #separator: string
  readonly #writers = new Map<string, LineWriter>()
  readonly #files: GrowingFile[] = []

  constructor(call: ShellCall, output: CommandOutput, separator: string) {
    this.#call = call
    this.#output = output
    this.#separator = separator
  }

  /** All files of a script are created before its first line. */
  async open(name: string, stdout: LineWriter): Promise<void> {
    if (this.#writers.has(name)) return
    const outlet = outletOf(name)
    if (outlet === 'stdout') this.#writers.set(name, stdout)
    else if (outlet)
      this.#writers.set(
        name,
        this.#writer((text) => outlet === 'stderr' && this.#output.addError(text)),
      )
    else {
      const file = new GrowingFile(this.#call.fs, resolvePath(this.#call.cwd, name))
      try {
        await file.open()
      } catch (error) {
        throw new SedError(`couldn't open file ${name}: ${shellMessage(error)}`, EXIT_PANIC)
      }
      this.#files.push(file)
      this.#writers.set(
        name,
        this.#writer((text) => file.add(text)),
      )
    }
  }

  write(name: string, line: string, hasEnd: boolean): void {
    this.#writers.get(name)?.line(line, hasEnd)
  }

  get isFull(): boolean {
    return this.#files.some((file) => file.isFull)
  }

  async flush(): Promise<void> {
    for (const file of this.#files) await file.flush()
  }

  #writer(put: (text: string) => void): LineWriter {
    return new LineWriter(put, this.#separator)
  }
}

/** Replaces a file when its new contents are complete; the old ones are kept under another name if a suffix is given. */
export async function replaceFile(
  { fs, cwd }: ShellCall,
  name: string,
  { bytes, suffix }: { bytes: Uint8Array; suffix: string },
): Promise<void> {
  const path = resolvePath(cwd, name)
  if (suffix !== '') {
    const copy = copyOf(path, suffix)
    await fs.write(copy, await fs.read(path), { mode: fs.stat(path).mode })
    fs.chmod(copy, fs.stat(path).mode)
  }
  await replaceContents(fs, path, { bytes })
}

/** A star in the suffix stands for the name, and a slash leads to another folder. */
function copyOf(path: string, suffix: string): string {
  if (!suffix.includes('*')) return path + suffix
  const slash = path.lastIndexOf('/') + 1
  const copied = suffix.replaceAll('*', path.slice(slash))
  return copied.includes('/') ? resolvePath(path.slice(0, slash), copied) : path.slice(0, slash) + copied
}

const OWNER_WRITE = 0o200

/** Why the file cannot be edited in place, with the exit code; null if it can. */
export function editProblem({ fs, cwd }: ShellCall, name: string): { message: string; exitCode: number } | null {
  try {
    const path = resolvePath(cwd, name)
    if (fs.stat(path).kind === 'file') {
      const folder = fs.stat(path.slice(0, path.lastIndexOf('/')) || '/')
      if ((folder.mode & OWNER_WRITE) !== 0) return null
      const shown = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '.'
      return { message: `couldn't open temporary file ${shown}/sedXXXXXX: Permission denied`, exitCode: EXIT_PANIC }
    }
    return { message: `couldn't edit ${name}: not a regular file`, exitCode: EXIT_PANIC }
  } catch (error) {
    if (!isFileError(error)) throw error
    return { message: `can't read ${name}: ${shellMessage(error)}`, exitCode: 2 }
  }
}

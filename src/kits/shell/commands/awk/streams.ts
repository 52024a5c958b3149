// The files and commands that an awk program reads and writes by name.

import { isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { losslessBytes } from '../../lossless-text.ts'
import { resolvePath } from '../../named-path.ts'
import type { RegexCache } from '../../posix-regex/posix-regex.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { type CommandOutput, GrowingFile, outletOf, readText, textIn } from '../text-files.ts'
import { RecordReader } from './reader.ts'
import { AwkError } from './syntax.ts'

type Writer =
  | { kind: 'file'; file: GrowingFile }
  | { kind: 'command'; text: string[] }
  | { kind: 'stdout' | 'stderr' | 'nothing' }

interface Deps {
  call: ShellCall
  output: CommandOutput
  regexes: RegexCache
}

/** The result of `close` for a name that is not open. */
const NOT_OPEN = -1

export class Streams {
  readonly #deps: Deps
  readonly #writers = new Map<string, Writer>()
  readonly #readers = new Map<string, { reader: RecordReader; exitCode: number }>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Returns a promise if it must be awaited. */
  write(to: '>' | '>>' | '|', name: string, text: string): Promise<void> | null {
    const writer = this.#writers.get(name)
    if (!writer) return this.#open(to, name, text)
    this.#add(writer, text)
    return writer.kind === 'file' && writer.file.isFull ? writer.file.flush() : null
  }

  /** A reader of the file, or null if it cannot be read. */
  async file(name: string): Promise<RecordReader | null> {
    const open = this.#readers.get(`<${name}`)
    if (open) return open.reader
    // Makes the program's own output readable.
    await this.#flushFiles()
    try {
      const reader = new RecordReader(await readText(this.#deps.call, name), this.#deps.regexes)
      this.#readers.set(`<${name}`, { reader, exitCode: 0 })
      return reader
    } catch (error) {
      if (isFileError(error)) return null
      throw error
    }
  }

  async command(command: string): Promise<RecordReader> {
    const open = this.#readers.get(`|${command}`)
    if (open) return open.reader
    this.#deps.output.flush()
    const { bytes, exitCode } = await this.#execute(command)
    const reader = new RecordReader(textIn(this.#deps.call, bytes), this.#deps.regexes)
    this.#readers.set(`|${command}`, { reader, exitCode })
    return reader
  }

  async system(command: string): Promise<number> {
    this.#deps.output.flush()
    const { bytes, exitCode } = await this.#execute(command)
    this.#deps.output.addAtOnce(textIn(this.#deps.call, bytes))
    return exitCode
  }

  /** The exit code of a command, 0 for a file, -1 if it is not open. */
  async close(name: string): Promise<number> {
    let exitCode = NOT_OPEN
    for (const key of [`<${name}`, `|${name}`]) {
      exitCode = this.#readers.get(key)?.exitCode ?? exitCode
      this.#readers.delete(key)
    }
    const writer = this.#writers.get(name)
    if (!writer) return exitCode
    this.#writers.delete(name)
    if (writer.kind === 'file') await writer.file.flush()
    return writer.kind === 'command' ? this.#runWith(name, writer.text) : 0
  }

  async flush(): Promise<void> {
    this.#deps.output.flush()
    await this.#flushFiles()
  }

  async #flushFiles(): Promise<void> {
    for (const writer of this.#writers.values()) if (writer.kind === 'file') await writer.file.flush()
  }

  async end(): Promise<void> {
    await this.#flushFiles()
    for (const [name, writer] of [...this.#writers]) if (writer.kind === 'command') await this.close(name)
  }

  async #open(to: '>' | '>>' | '|', name: string, text: string): Promise<void> {
    // Earlier output is written before the output of the command.
    if (to === '|') this.#deps.output.flush()
    const writer = to === '|' ? { kind: 'command' as const, text: [] } : await this.#openFile(to, name)
    this.#writers.set(name, writer)
    this.#add(writer, text)
  }

  async #openFile(to: '>' | '>>', name: string): Promise<Writer> {
    const outlet = name === '-' ? 'stdout' : outletOf(name)
    if (outlet) return { kind: outlet }
    const { fs, cwd } = this.#deps.call
    try {
      const file = new GrowingFile(fs, resolvePath(cwd, name))
      if (to === '>') await file.open()
      else await file.openAtEnd()
      return { kind: 'file', file }
    } catch (error) {
      throw new AwkError(`cannot open "${name}" for output (${shellMessage(error)})`)
    }
  }

  #add(writer: Writer, text: string): void {
    if (writer.kind === 'file') writer.file.add(text)
    else if (writer.kind === 'command') writer.text.push(text)
    else if (writer.kind === 'stdout') this.#deps.output.add(text)
    else if (writer.kind === 'stderr') this.#deps.output.addError(text)
  }

  async #runWith(command: string, text: readonly string[]): Promise<number> {
    const { bytes, exitCode } = await this.#execute(command, losslessBytes(text.join('')))
    this.#deps.output.addAtOnce(textIn(this.#deps.call, bytes))
    return exitCode
  }

  async #execute(command: string, stdin?: Uint8Array): Promise<{ bytes: Uint8Array; exitCode: number }> {
    await this.#flushFiles()
    const { call, output } = this.#deps
    const { stdoutBytes, stderr, exitCode } = await call.execute(command, call.cwd, stdin)
    output.addError(stderr)
    return { bytes: stdoutBytes, exitCode }
  }
}

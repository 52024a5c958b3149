// One run of a text command: its inputs, its output, and its error messages.

import { bytesToText } from '../../../../workspace/text-encodings.ts'
import { isByteLocale } from '../../byte-locale.ts'
import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { outputOf } from '../../standard-streams.ts'
import { bytesOf, pipedBytes } from './bytes.ts'
import { Misuse } from './misuse.ts'

export type TextCommand = (call: TextCall) => Promise<void> | void

/** A promise to await if other work should get a turn; it rejects if the script was stopped. */
export type Pause = () => Promise<void> | null

const IS_STDIN = /^\/dev\/stdin$|^\/(?:dev|proc\/self)\/fd\/0$/

/** The output is joined to one string, which the interpreter limits as well. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

interface CallDeps {
  args: readonly string[]
  context: Context
  pause: Pause
  readsFile: boolean
}

export class TextCall {
  /** The prefix of error messages: the command, or the one that does its work. */
  name: string
  readonly args: readonly string[]
  readonly context: Context
  readonly pause: Pause
  /** Whether the standard input is a file, whose size is known before it is read. */
  readonly readsFile: boolean
  exitCode = 0
  /** The exit code of an invalid command line. */
  misuseExit = 1
  /** The text before the hint to read about options. */
  hintPrefix = ''
  /** How much of the standard input the command uses; the rest is left for the next command. Null is all. */
  stdinTaken: number | null = null
  #hasReadStdin = false
  #output: string[] = []
  #size = 0
  #errors = ''

  constructor(name: string, { args, context, pause, readsFile }: CallDeps) {
    this.name = name
    this.args = args
    this.context = context
    this.pause = pause
    this.readsFile = readsFile
  }

  /** Bytes, one character each. */
  write(bytes: string): void {
    this.#size += bytes.length
    if (this.#size > MAX_OUTPUT_BYTES) {
      throw new Misuse(`more than ${MAX_OUTPUT_BYTES} bytes of output are not kept here`, { showsHint: false })
    }
    this.#output.push(bytes)
  }

  writeText(text: string): void {
    this.write(bytesOf(text))
  }

  /** Continues after an error of one input. */
  complain(message: string, exitCode = 1): void {
    this.#errors += `${this.name}: ${message}\n`
    this.exitCode = Math.max(this.exitCode, exitCode)
  }

  /** Without the command's name, and without failing. */
  complainPlainly(message: string): void {
    this.#errors += `${message}\n`
  }

  /** Characters are bytes. */
  get isByteLocale(): boolean {
    const { exportedEnv, env } = this.context
    return isByteLocale((name) => (exportedEnv ? exportedEnv[name] : env.get(name)))
  }

  get stdin(): string {
    this.#hasReadStdin = true
    return pipedBytes(String(this.context.stdin))
  }

  path(name: string): string {
    return this.context.fs.resolvePath(this.context.cwd, name)
  }

  /** The bytes of a file, or of the standard input for `-`. Throws the errors of the file tree. */
  async read(name: string): Promise<string> {
    if (name === '-' || IS_STDIN.test(name)) return this.stdin
    return bytesToText(await this.context.fs.readFileBuffer(this.path(name)), 'latin1')
  }

  /** The same, or null after an error message. */
  async input(name: string, worded = (reason: string) => `${name}: ${reason}`): Promise<string | null> {
    try {
      return await this.read(name)
    } catch (error) {
      this.complain(worded(shellMessage(error)))
      return null
    }
  }

  /** For a command that cannot continue without the file. */
  async mustRead(name: string, worded = (reason: string) => `${name}: ${reason}`, exitCode = 1): Promise<string> {
    try {
      return await this.read(name)
    } catch (error) {
      throw new Misuse(worded(shellMessage(error)), { showsHint: false, exitCode })
    }
  }

  async save(name: string, bytes: string, failing = ''): Promise<void> {
    try {
      await this.context.fs.writeFile(this.path(name), bytes, 'binary')
    } catch (error) {
      throw new Misuse(`${failing}${name}: ${shellMessage(error)}`, { showsHint: false })
    }
  }

  refuse(misuse: Misuse): void {
    const hint = misuse.showsHint ? `\n${this.hintPrefix}Try '${this.name} --help' for more information.` : ''
    this.#errors += misuse.message === '' ? '' : `${this.name}: ${misuse.message}${hint}\n`
    this.exitCode = misuse.exitCode ?? this.misuseExit
  }

  result(): Result {
    return {
      ...outputOf(this.#output.join('')),
      stderr: this.#errors,
      exitCode: this.exitCode,
      ...(this.#hasReadStdin ? { internalStdinConsumed: this.stdinTaken ?? String(this.context.stdin).length } : {}),
    }
  }
}

export async function runTextCommand(command: TextCommand, call: TextCall): Promise<Result> {
  try {
    await command(call)
  } catch (error) {
    if (!(error instanceof Misuse)) throw error
    call.refuse(error)
  }
  return call.result()
}

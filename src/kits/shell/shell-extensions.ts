// Commands added to the shell's own. They work directly on the file tree instead of the interpreter's view of it, and
// are paused and stopped like everything else that a script runs.

import type { defineCommand } from 'just-bash/browser'
import { type FileSystem, FileSystemError } from '../../workspace/file-system.ts'
import { bytesToText, textToBytes } from '../../workspace/text-encodings.ts'
import { inBytes, nestedTooDeeply } from './interpreter-command.ts'
import type { Pacer } from './shell-pacer.ts'
import type { StoppedOutput } from './stopped-output.ts'
import { isDescriptor, type SystemFiles } from './system-files.ts'
import { SystemTree } from './system-tree.ts'

export interface ShellCommand {
  name: string
  run(args: readonly string[], call: ShellCall): Promise<ShellResult>
}

export interface ShellCall {
  fs: FileSystem
  /** The same, with `/bin`, `/usr` and `/dev` added. */
  wholeTree: FileSystem
  cwd: string
  /** Exported variables. */
  env: Readonly<Record<string, string>>
  stdin: string
  /** The same as bytes, for a command that does not read text. */
  stdinBytes: Uint8Array
  /** A promise to await if other work should get a turn. Must be called in every long loop. */
  pause: () => Promise<void> | null
  signal: AbortSignal
  /** In epoch milliseconds: when the signal will report the timeout. */
  deadline: number
  /** Runs a script in the same shell, as a separate command. */
  execute: (script: string, cwd: string, stdin?: Uint8Array) => Promise<Executed>
}

export interface Executed {
  stdout: string
  /** The same, as it would be written to a pipe. */
  stdoutBytes: Uint8Array
  stderr: string
  exitCode: number
}

export interface ShellResult {
  stdout: string
  /** Instead of `stdout`, for output that is not text. */
  bytes?: Uint8Array | null
  stderr: string
  exitCode: number
  /** The number of input bytes that it used; without it, all if it has read the input. */
  stdinTaken?: number
}

type Command = ReturnType<typeof defineCommand>
type Execute = Parameters<typeof defineCommand>[1]
type Context = Parameters<Execute>[1]
type Result = Awaited<ReturnType<Execute>>

interface ExtensionDeps {
  commands: readonly ShellCommand[]
  fs: FileSystem
  system: SystemFiles
  pacer: Pacer
  signal: AbortSignal
  deadline: number
  /** The output for a terminal. */
  show: (text: string) => void
  stopped: StoppedOutput
}

/** The shell treats it as the exit code of a stopped command; the outcome contains the reason. */
const EXIT_STOPPED = 124

/** The time that a stopped command has for its cleanup: the shell does not wait for it. */
const TIDY_UP_MS = 2000

export class ShellExtensions {
  /** In the interpreter's form. */
  readonly commands: Command[]
  readonly #deps: ExtensionDeps
  readonly #files: ClosableFiles
  readonly #wholeTree: SystemTree
  readonly #fs: FileSystem
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  constructor(define: typeof defineCommand, deps: ExtensionDeps) {
    this.#deps = deps
    this.#files = new ClosableFiles(deps.fs)
    this.#wholeTree = new SystemTree(this.#files.fs, deps.system)
    this.#fs = withDescriptors(this.#files.fs, this.#wholeTree)
    this.commands = deps.commands.map((command) =>
      define(command.name, (args, context) => this.#start(command, args, context)),
    )
  }

  /** Removes the file access of commands that still run, after they had time for their cleanup. */
  async close(): Promise<void> {
    if (this.#running.size > 0) {
      const late = new Promise((resolve) => setTimeout(resolve, TIDY_UP_MS))
      await Promise.race([Promise.allSettled(this.#running), late])
    }
    this.#isClosed = true
    this.#files.close()
  }

  async #start(command: ShellCommand, args: string[], context: Context): Promise<Result> {
    const running = this.#run(command, args, context)
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async #run({ name, run }: ShellCommand, args: string[], context: Context): Promise<Result> {
    const { cwd, exportedEnv } = context
    const { pacer, deadline } = this.#deps
    // `timeout 5 command` stops its command with a separate signal.
    const signal = context.signal ? AbortSignal.any([this.#deps.signal, context.signal]) : this.#deps.signal
    const pause = () => {
      signal.throwIfAborted()
      return pacer.pauseIfDue()
    }
    // Piped input comes as one character per byte. A command that reads it consumes it.
    let given: Uint8Array | null = null
    const input = () => (given ??= textToBytes(String(context.stdin), 'latin1'))
    try {
      const { stdout, stderr, exitCode, bytes, stdinTaken } = await run(args, {
        fs: this.#fs,
        wholeTree: this.#wholeTree,
        cwd,
        env: exportedEnv ?? {},
        get stdin() {
          return new TextDecoder().decode(input())
        },
        get stdinBytes() {
          return input()
        },
        pause,
        signal,
        deadline,
        execute: (script, folder, input) => execute(script, { cwd: folder, input }, context),
      })
      // The interpreter discards the output of a stopped command, whatever its destination.
      if (signal.aborted) return this.#shown({ stdout, stderr, exitCode, ...(bytes && { bytes }) })
      const taken = stdinTaken === undefined ? {} : { internalStdinConsumed: stdinTaken }
      return bytes
        ? { stdout: bytesToText(bytes, 'latin1'), stdoutKind: 'bytes', stderr, exitCode, ...taken }
        : { stdout, stdoutKind: 'text', stderr, exitCode, ...taken }
    } catch (error) {
      if (!signal.aborted) return nestedTooDeeply(name, error)
      return { stdout: '', stderr: '', exitCode: EXIT_STOPPED }
    }
  }

  #shown({ stdout, stderr, exitCode, bytes }: ShellResult): Result {
    const written = () => bytesToText(bytes ?? new TextEncoder().encode(stdout), 'latin1')
    const isTaken = !this.#deps.signal.aborted && this.#deps.stopped.lay(() => ({ stdout: written(), stderr }))
    if (!isTaken && !this.#isClosed) this.#deps.show(stdout + stderr)
    return { stdout: '', stderr: '', exitCode }
  }
}

type ScriptInput = { cwd: string; input: Uint8Array | undefined }

async function execute(script: string, { cwd, input }: ScriptInput, context: Context): Promise<Executed> {
  const { exec, exportedEnv, signal } = context
  if (!exec) throw new Error('the interpreter cannot run a script from a command')
  const piped = input && { stdin: bytesToText(input, 'latin1'), stdinKind: 'bytes' as const }
  // Variables set only for this command apply to its child commands too.
  const result = await exec(script, {
    cwd,
    ...(exportedEnv && { env: exportedEnv }),
    ...(signal && { signal }),
    ...piped,
  })
  const { stdout, stderr, exitCode } = result
  return { stdout, stdoutBytes: textToBytes(inBytes(result), 'latin1'), stderr, exitCode }
}

const LOOKS: ReadonlySet<PropertyKey> = new Set(['exists', 'stat', 'lstat', 'realPath', 'read', 'readParts'])

/** Makes the output of process substitutions readable for every command, even for one that only uses the workspace's tree. */
function withDescriptors(files: FileSystem, wholeTree: FileSystem): FileSystem {
  return new Proxy(files, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function' || !LOOKS.has(name)) return method
      const look: unknown = Reflect.get(wholeTree, name)
      return (...args: unknown[]) => {
        const isOfShell = typeof args[0] === 'string' && isDescriptor(args[0])
        return isOfShell && typeof look === 'function' ? look.apply(wholeTree, args) : method.apply(target, args)
      }
    },
  })
}

/** A file tree whose access can be revoked. */
class ClosableFiles {
  readonly fs: FileSystem
  #isClosed = false

  constructor(fs: FileSystem) {
    this.fs = new Proxy(fs, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          if (this.#isClosed) throw new FileSystemError('EIO', String(args[0]), { detail: 'the script has ended' })
          return method.apply(target, args)
        }
      },
    })
  }

  close(): void {
    this.#isClosed = true
  }
}

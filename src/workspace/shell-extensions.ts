// Commands that are added to the shell's own. They work on the file tree itself instead of the interpreter's view of
// it, and are paused and cut off like everything else that a script runs.

import type { defineCommand } from 'just-bash/browser'
import { type FileSystem, FileSystemError } from './file-system.ts'
import type { Pacer } from './shell-pacer.ts'
import { bytesToText } from './text-encodings.ts'

export interface ShellCommand {
  name: string
  run(args: readonly string[], call: ShellCall): Promise<ShellResult>
}

export interface ShellCall {
  fs: FileSystem
  cwd: string
  /** Exported variables. */
  env: Readonly<Record<string, string>>
  stdin: string
  /** A promise to wait for when others should have their turn. To be asked in every long loop. */
  pause: () => Promise<void> | null
  signal: AbortSignal
}

export interface ShellResult {
  stdout: string
  /** Instead of `stdout`, for output that is no text. */
  bytes?: Uint8Array | null
  stderr: string
  exitCode: number
}

type Command = ReturnType<typeof defineCommand>

interface Extending {
  commands: readonly ShellCommand[]
  fs: FileSystem
  pacer: Pacer
  signal: AbortSignal
}

const EXIT_INTERRUPTED = 130

/** The commands as the interpreter takes them, and how to keep those that still run from the files. */
export function extensions(
  define: typeof defineCommand,
  { commands, fs, pacer, signal }: Extending,
): { added: Command[]; close: () => void } {
  const closable = new ClosableFiles(fs)
  const added = commands.map(({ name, run }) =>
    define(name, async (args, { cwd, exportedEnv, stdin }) => {
      try {
        const pause = () => {
          signal.throwIfAborted()
          return pacer.pauseIfDue()
        }
        const result = await run(args, {
          fs: closable.fs,
          cwd,
          env: exportedEnv ?? {},
          stdin: textOf(String(stdin)),
          pause,
          signal,
        })
        const { stderr, exitCode, bytes } = result
        return bytes
          ? { stdout: bytesToText(bytes, 'latin1'), stdoutKind: 'bytes' as const, stderr, exitCode }
          : { stdout: result.stdout, stdoutKind: 'text' as const, stderr, exitCode }
      } catch (error) {
        if (!signal.aborted) throw error
        return { stdout: '', stderr: '', exitCode: EXIT_INTERRUPTED }
      }
    }),
  )
  return { added, close: () => closable.close() }
}

/** What is piped in comes as one character a byte. */
function textOf(piped: string): string {
  return new TextDecoder().decode(Uint8Array.from(piped, (char) => char.charCodeAt(0)))
}

/** A file tree that can be taken away from who uses it. */
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

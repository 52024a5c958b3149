// Runs one script with the interpreter, with everything needed to pause, stop and watch it.

import type { Bash, IFileSystem } from 'just-bash/browser'
import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { PermittedFiles } from '../../workspace/permitted-files.ts'
import { BashFs } from './bash-fs.ts'
import { bashCommand, type StartWith } from './commands/bash.ts'
import { echo } from './commands/echo.ts'
import { env } from './commands/env.ts'
import { FILE_COMMANDS } from './commands/file-commands.ts'
import { ls } from './commands/ls.ts'
import { printf } from './commands/printf/printf.ts'
import { SEARCH_COMMANDS } from './commands/search-commands.ts'
import { sleep } from './commands/sleep.ts'
import { SMALL_COMMANDS } from './commands/small.ts'
import { SYSTEM_COMMANDS } from './commands/system/all.ts'
import { TEXT_COMMANDS, textCommands } from './commands/text/all.ts'
import { TEXT_PROCESSORS } from './commands/text-processors.ts'
import { timeoutCommand } from './commands/timeout.ts'
import { WRAPPER_COMMANDS } from './commands/wrappers.ts'
import { xargs } from './commands/xargs/xargs.ts'
import { CreationMask } from './creation-mask.ts'
import { unveiled, veiled } from './interpreter/arithmetic/veil.ts'
import type { Interpreter } from './interpreter/shape.ts'
import { runReadable } from './interpreter/syntax/diagnosis.ts'
import { ScriptWatch } from './interpreter/watch.ts'
import { type ShellCommand, ShellExtensions } from './shell-extensions.ts'
import { Gate } from './shell-gate.ts'
import type { ShellOutput } from './shell-output.ts'
import { Pacer } from './shell-pacer.ts'
import { loadMarkedParser } from './shell-parser.ts'
import { BASE_ENV, captureState, type ShellState, secretTest } from './shell-state.ts'
import type { StopSwitch } from './shell-stop.ts'
import { withStandardStreams } from './standard-streams.ts'
import { StoppedOutput } from './stopped-output.ts'
import { SystemFiles } from './system-files.ts'

type Library = typeof import('./lazy/just-bash.ts')
type MarkedParser = Awaited<ReturnType<typeof loadMarkedParser>>
type Options = NonNullable<ConstructorParameters<typeof Bash>[0]>

export interface Interpretation {
  fs: FileSystem
  script: string
  /** In addition to those of every shell. */
  commands: readonly ShellCommand[]
  secrets: Readonly<Record<string, string>>
  progress: Progress
  output: ShellOutput
  stop: StopSwitch
  timeoutMs: number
}

/** Updated while the script runs, so that it is valid whatever happens to the script. */
export interface Progress {
  /** As of the last finished statement of the script itself. */
  state: ShellState
  /** Variables too large to be kept. */
  dropped: string[]
}

/** Replacements of the interpreter's commands, and additional ones. */
const OWN_COMMANDS = { echo, env, ls, printf, sleep, xargs, ...SMALL_COMMANDS, ...WRAPPER_COMMANDS, ...FILE_COMMANDS }

type Named = (typeof TEXT_PROCESSORS | typeof SEARCH_COMMANDS | typeof SYSTEM_COMMANDS)[number]

/** The commands of ours in every shell. */
export type OwnCommand =
  | 'bash'
  | 'sh'
  | 'timeout'
  | keyof typeof OWN_COMMANDS
  | keyof typeof TEXT_COMMANDS
  | Named['name']

const MEBIBYTE = 1024 * 1024

/** Loops are limited by time; memory is limited by an isolate's 128 MB. */
const LIMITS = {
  /** Of functions; bash has no limit. */
  maxCallDepth: 1000,
  /** The parser accepts a million characters, each up to three bytes. */
  maxSourceBytes: 3 * MEBIBYTE,
  maxCommandCount: 100_000_000,
  maxLoopIterations: 100_000_000,
  maxAwkIterations: 100_000_000,
  maxStringLength: 32 * MEBIBYTE,
  maxLiveBytes: 64 * MEBIBYTE,
  maxOutputSize: 64 * MEBIBYTE,
  maxHeredocSize: 4 * MEBIBYTE,
}
/** The interpreter's own deadline is only a fallback, after ours. */
const BACKSTOP_MS = 5000

/** The script's exit code, or null if it did not end after it was stopped. */
export async function interpret(run: Interpretation): Promise<number | null> {
  const library = await import('./lazy/just-bash.ts')
  await library.ready
  const assembly = assembled(library, run, await loadMarkedParser())
  const { watch, gate, extensions, show } = assembly
  const ended = execution(run, assembly)
  try {
    const result = await Promise.race([ended, run.stop.overdue])
    if (!result) return null
    // Output that no command has sent to the terminal: errors of the whole script, output of an interrupted
    // redirection.
    show(result.stdout)
    show(result.stderr)
    return result.exitCode
  } finally {
    await watch.unwritten.write().catch((error: unknown) => {
      if (!isFileError(error)) throw error
      show(`bash: ${error.message}\n`)
    })
    gate.close()
    await extensions.close()
  }
}

/** A shell with its environment. */
type Assembly = {
  bash: Bash
  watch: ScriptWatch
  gate: Gate
  extensions: ShellExtensions
  show: (text: string) => void
}

function assembled(library: Library, run: Interpretation, parse: MarkedParser): Assembly {
  const { stop } = run
  const stopped = new StoppedOutput()
  const pacer = new Pacer(() => stop.pull('stuck'))
  const show = shownBy(run, stopped)
  const commands = [...TEXT_PROCESSORS, ...SEARCH_COMMANDS, ...SYSTEM_COMMANDS, ...run.commands]
  const system = new SystemFiles(namesOf(library, commands), show)
  const mask = new CreationMask()
  const tree = mask.over(new PermittedFiles(run.fs))
  const fs = new BashFs(tree, system)
  const gate = new Gate(fs, pacer)
  const extensions = new ShellExtensions(library.defineCommand, {
    ...run,
    fs: tree,
    commands,
    system,
    pacer,
    signal: stop.signal,
    deadline: stop.deadline,
    show,
    stopped,
  })
  const isSecret = secretTest(Object.values(run.secrets))
  const watch = new ScriptWatch({
    pacer,
    mask,
    show,
    stopped,
    wordsFor: (path) => fs.wordsFor(path),
    textOf: library.textOfScript,
    parse,
    onStatement: (shell) => keepState(shell, run.progress, isSecret),
  })
  const bash = openShell(library, { run, fs: gate.fs, watch, pacer, stopped, added: extensions.commands })
  return { bash, watch, gate, extensions, show }
}

/** The interpreter's message about being stopped is replaced by the outcome's; until then, such text is the script's own. */
function shownBy({ output, stop }: Interpretation, stopped: StoppedOutput): (text: string) => void {
  return (text) => output.write(cleaned(stop.reason || stopped.isStopping ? withoutStop(text) : text))
}

function namesOf(library: Library, commands: readonly ShellCommand[]): string[] {
  const added = ['timeout', ...Object.keys({ ...OWN_COMMANDS, ...TEXT_COMMANDS }), ...commands.map(({ name }) => name)]
  return [...new Set([...library.getCommandNames(), ...added])]
}

function execution({ script, progress, stop }: Interpretation, { bash, watch }: Assembly) {
  const { cwd, env, variables } = progress.state
  // Otherwise the library would set its own folder there.
  const previous = { OLDPWD: env.OLDPWD ?? '' }
  const options = {
    ...{ cwd, rawScript: true, signal: stop.signal },
    env: { ...variables, ...previous, PWD: cwd },
  }
  return runReadable(script, {
    source: 'bash',
    run: async (text, error) => {
      if (error !== null) watch.nextShellHas({ options: [], text: null, file: null, isInput: false, error })
      const result = await bash.exec(veiled(text), options)
      return { result, isRead: watch.begun > 0 }
    },
  })
}

type Shell = {
  run: Interpretation
  fs: IFileSystem
  watch: ScriptWatch
  pacer: Pacer
  stopped: StoppedOutput
  added: ShellExtensions['commands']
}

function openShell(library: Library, { run, fs, watch, pacer, stopped, added }: Shell): Bash {
  const { cwd, env } = run.progress.state
  const startWith: StartWith = (start) => watch.nextShellHas(start)
  const inherited = Object.keys({ ...BASE_ENV, ...run.secrets, ...env }).filter((name) => name !== 'PATH')
  return new library.Bash({
    fs,
    cwd,
    env: { ...BASE_ENV, ...run.secrets, ...env },
    // It replaces globals of the whole isolate, in which other requests run at the same time.
    defenseInDepth: false,
    executionLimits: { ...LIMITS, maxExecutionTimeMs: run.timeoutMs + BACKSTOP_MS },
    customCommands: [
      ...(['bash', 'sh'] as const).map((name) =>
        library.defineCommand(
          name,
          withStandardStreams(name, bashCommand(name, { startWith, begun: () => watch.begun, inherited })),
        ),
      ),
      library.defineCommand('timeout', withStandardStreams('timeout', timeoutCommand(stopped))),
      ...Object.entries(OWN_COMMANDS).map(([name, command]) =>
        library.defineCommand(name, withStandardStreams(name, command)),
      ),
      ...textCommands(library.defineCommand, { pacer, signal: run.stop.signal, readsFile: () => watch.inputIsFile }),
      ...added,
    ],
    coverage: watch,
  } satisfies Options)
}

function keepState(shell: Interpreter, progress: Progress, isSecret: (value: string) => boolean): void {
  const { cwd, env: all } = shell.ctx.state
  const { dropped, ...state } = captureState({ cwd, all, exported: shell.buildExportedEnv() }, isSecret)
  progress.state = state
  progress.dropped = dropped
}

const LIMIT_ADVICE = /, increase executionLimits\.\w+/g
const STOPPED = /^(bash: )?(\S+ )?execution (aborted|stopped|exceeded .*)\n?/gm
/** The message is at the end; searching all output of a program takes a second. */
const LAST_CHARS = 10_000

function withoutStop(text: string): string {
  return text.slice(0, -LAST_CHARS) + text.slice(-LAST_CHARS).replace(STOPPED, '')
}

const ABSENT =
  /command not available in browser environments\. Exclude '[^']*' from your commands or use the Node\.js bundle\./g

const NO_COPROC = "syntax error near unexpected token `coproc'"

/** In bash's form. Nearly every text contains none of this, and is only searched. */
function cleaned(text: string): string {
  let clean = unveiled(text.includes('browser environments') ? text.replace(ABSENT, 'command not found') : text)
  if (clean.includes(NO_COPROC)) clean = clean.replace(NO_COPROC, 'coproc is not available here')
  return clean.includes('executionLimits.') ? clean.replace(LIMIT_ADVICE, '') : clean
}

// One script, run by the interpreter with everything that it needs to be paused, stopped and watched.

import type { Bash, IFileSystem } from 'just-bash/browser'
import { BashFs, GUARDED_PATH } from './bash-fs.ts'
import { env } from './commands/env.ts'
import { grep } from './commands/grep.ts'
import { ls } from './commands/ls.ts'
import { printf } from './commands/printf.ts'
import { rm } from './commands/rm.ts'
import { runFile } from './commands/run-file.ts'
import { sed } from './commands/sed.ts'
import { SMALL_COMMANDS } from './commands/small.ts'
import { xargs } from './commands/xargs.ts'
import type { FileSystem } from './file-system.ts'
import { type ShellCommand, ShellExtensions } from './shell-extensions.ts'
import { Gate } from './shell-gate.ts'
import type { ShellOutput } from './shell-output.ts'
import { Pacer } from './shell-pacer.ts'
import {
  type Additions,
  additions,
  addMarks,
  addPauses,
  guardRedirections,
  MARK_COMMAND,
  PAUSE_COMMAND,
  PAUSE_COUNTER,
  RUN_COMMAND,
  runFilesOurselves,
  sendToTerminal,
} from './shell-script.ts'
import { BASE_ENV, captureState, type ShellState, secretTest } from './shell-state.ts'
import type { StopSwitch } from './shell-stop.ts'
import { SystemFiles } from './system-files.ts'

type Library = typeof import('./lazy/just-bash.ts')
type Options = NonNullable<ConstructorParameters<typeof Bash>[0]>

export interface Interpretation {
  fs: FileSystem
  script: string
  /** Besides those that every shell has. */
  commands: readonly ShellCommand[]
  secrets: Readonly<Record<string, string>>
  progress: Progress
  output: ShellOutput
  stop: StopSwitch
  timeoutMs: number
}

/** Filled in while the script runs, so that it holds whatever becomes of the script. */
export interface Progress {
  /** As of the last of the script's own statements that ended. */
  state: ShellState
  /** Variables too large to last. */
  dropped: string[]
}

/** Loaded when it is used, for the library behind it. */
const diff: typeof import('./commands/diff.ts').diff = async (args, context) =>
  (await import('./commands/diff.ts')).diff(args, context)

/** Instead of the interpreter's, and besides them. */
const OWN_COMMANDS = { diff, env, grep, ls, printf, rm, sed, xargs, ...SMALL_COMMANDS }

const MEBIBYTE = 1024 * 1024

/** Loops are bounded by time; what costs memory is bounded by what an isolate of 128 MB has. */
const LIMITS = {
  maxSourceBytes: 2 * MEBIBYTE,
  maxCommandCount: 100_000_000,
  maxLoopIterations: 100_000_000,
  maxAwkIterations: 100_000_000,
  maxStringLength: 32 * MEBIBYTE,
  maxLiveBytes: 64 * MEBIBYTE,
  maxOutputSize: 64 * MEBIBYTE,
  maxHeredocSize: 4 * MEBIBYTE,
}
/** The interpreter's own deadline only stands behind ours. */
const BACKSTOP_MS = 5000

/** The script's exit code, or null when it did not end although it was stopped. */
export async function interpret(run: Interpretation): Promise<number | null> {
  const library = await import('./lazy/just-bash.ts')
  const { output, stop } = run
  const pacer = new Pacer(() => stop.pull('stuck'))
  // What the interpreter says about being stopped is said better by the outcome; before that it is the script's own text.
  const show = (text: string) => output.write(cleaned(stop.reason ? text.replace(STOPPED, '') : text, fs))
  const added = [...Object.keys(OWN_COMMANDS), ...run.commands.map(({ name }) => name)]
  const names = [...new Set([...library.getCommandNames(), ...added])]
  const system = new SystemFiles(names, [PAUSE_COMMAND, MARK_COMMAND, RUN_COMMAND], show)
  const fs: BashFs = new BashFs(run.fs, system)
  const gate = new Gate(fs, pacer)
  const { cwd, env, variables } = run.progress.state
  const extensions = new ShellExtensions(library.defineCommand, { ...run, pacer, signal: stop.signal })
  const bash = openShell(library, { run, fs: gate.fs, pacer, added: extensions.commands })
  const previous = env.OLDPWD === undefined ? {} : { OLDPWD: env.OLDPWD }
  const ended = bash.exec(run.script, {
    cwd,
    env: { ...variables, ...previous, PWD: cwd, [PAUSE_COUNTER]: '0' },
    rawScript: true,
    signal: stop.signal,
  })
  try {
    const result = await Promise.race([ended, stop.overdue])
    if (!result) return null
    // What no command sent to the terminal by itself: errors of the script as a whole, output caught on the way.
    show(result.stdout)
    show(result.stderr)
    return result.exitCode
  } finally {
    gate.close()
    await extensions.close()
  }
}

type Shell = { run: Interpretation; fs: IFileSystem; pacer: Pacer; added: ShellExtensions['commands'] }

function openShell(library: Library, { run, fs, pacer, added }: Shell): Bash {
  const { cwd, env } = run.progress.state
  const isSecret = secretTest(Object.values(run.secrets))
  const pause = library.defineCommand(PAUSE_COMMAND, async (args) => {
    await pacer.pauseIfDue()
    return unchanged(args)
  })
  const mark = library.defineCommand(MARK_COMMAND, async (args, context) => {
    await pacer.pauseIfDue()
    const { cwd, env: all, exportedEnv: exported = {} } = context
    const { dropped, ...state } = captureState({ cwd, all, exported }, isSecret)
    run.progress.state = state
    run.progress.dropped = dropped
    return unchanged(args)
  })
  const bash = new library.Bash({
    fs,
    cwd,
    env: { ...BASE_ENV, ...run.secrets, ...env },
    // It replaces globals of the whole isolate, and other requests run in it at the same time.
    defenseInDepth: false,
    executionLimits: { ...LIMITS, maxExecutionTimeMs: run.timeoutMs + BACKSTOP_MS },
    customCommands: [
      pause,
      mark,
      library.defineCommand(RUN_COMMAND, runFile),
      ...Object.entries(OWN_COMMANDS).map(([name, command]) => library.defineCommand(name, command)),
      ...added,
    ],
    coverage: pacer,
  } satisfies Options)
  bash.registerTransformPlugin(instrumentation(library, run.script))
  return bash
}

let parsedAdditions: Additions | null = null

/** The whole of the additions for the script itself, pauses alone for those that its commands run. */
function instrumentation(library: Library, script: string): Parameters<Bash['registerTransformPlugin']>[0] {
  parsedAdditions ??= additions((text) => new library.Bash({ defenseInDepth: false }).transform(text).ast)
  const added = parsedAdditions
  const errexit = /\berrexit\b|\bset\s+[-\w\s]*-\w*e/.test(script)
  let isOuter = true
  return {
    name: 'bellwether',
    transform: ({ ast }) => {
      addPauses(ast, added)
      guardRedirections(ast)
      runFilesOurselves(ast)
      if (isOuter) {
        isOuter = false
        sendToTerminal(ast, added)
        addMarks(ast, added, errexit)
      }
      return { ast }
    },
  }
}

/** Leaves status and `PIPESTATUS` as the arguments tell that they were; the last argument is `$_`. */
function unchanged([status, ...rest]: string[]) {
  const pipeStatus = rest.slice(0, -1).map(Number)
  return {
    stdout: '',
    stderr: '',
    exitCode: Number(status),
    ...(pipeStatus.length > 0 ? { internalPipeStatusOverride: pipeStatus } : {}),
  }
}

const TRACE = new RegExp(`^\\++ (${PAUSE_COMMAND}|${MARK_COMMAND}) .*\\n?`, 'gm')
const RUN_TRACE = new RegExp(`^(\\++ )${RUN_COMMAND} `, 'gm')
const REFUSED = new RegExp(`: ${GUARDED_PATH}(.*): cannot open redirect target`, 'g')
const LIMIT_ADVICE = /, increase executionLimits\.\w+/g
const STOPPED = /^(bash: )?(\S+ )?execution (aborted|stopped|exceeded .*)\n?/gm
const ABSENT =
  /command not available in browser environments\. Exclude '[^']*' from your commands or use the Node\.js bundle\./g

/** As bash would show it, without traces of what was added. Nearly every text has none, and is only searched. */
function cleaned(text: string, fs: BashFs): string {
  let clean = text
  if (clean.includes(GUARDED_PATH)) {
    clean = clean.replace(REFUSED, (_, target) => `: ${target}: ${fs.refusalOf(target)}`).replaceAll(GUARDED_PATH, '')
  }
  if (clean.includes('__')) clean = clean.replace(TRACE, '').replace(RUN_TRACE, '$1')
  if (clean.includes('browser environments')) clean = clean.replace(ABSENT, 'command not found')
  return clean.includes('executionLimits.') ? clean.replace(LIMIT_ADVICE, '') : clean
}

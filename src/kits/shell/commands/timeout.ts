// `timeout` like GNU's. The interpreter's version supports few options. The output of a stopped program is kept, and so
// is the terminal output of a shell; other output is lost, which is reported.

import { type Context, inBytes, passedFunctions, quoted, type Result, withVariables } from '../interpreter-command.ts'
import { outputOf } from '../standard-streams.ts'
import type { StoppedOutput } from '../stopped-output.ts'
import { type GnuSpec, misuse, readGnuOptions } from './gnu-options.ts'

const EXIT_TIMED_OUT = 124
const EXIT_FAILED = 125
const SPEC: GnuSpec = {
  name: 'timeout',
  letters: 'k:s:v',
  long: {
    ...{ foreground: 'foreground', 'kill-after=': 'k', 'preserve-status': 'preserve', 'signal=': 's', verbose: 'v' },
    help: 'help',
  },
  stopsAtOperand: true,
  exitCode: EXIT_FAILED,
}
const ABORTED = /^(?:bash: )?execution aborted\n/gm
const LOST = 'timeout: the command was stopped; what it had written until then is not available here\n'
const HELP = 'Usage: timeout [OPTION] DURATION COMMAND [ARG]...\n'
/** All that is said where an operand is missing. */
const HINT = "Try 'timeout --help' for more information.\n"
const SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }
/** The maximum of a timer. */
const LONGEST_MS = 2 ** 31 - 1
const KILL = 9
const SIGNALS: Readonly<Record<string, number>> = {
  ...{ HUP: 1, INT: 2, QUIT: 3, ILL: 4, TRAP: 5, ABRT: 6, BUS: 7, FPE: 8, KILL, USR1: 10, SEGV: 11, USR2: 12 },
  ...{ PIPE: 13, ALRM: 14, TERM: 15, CHLD: 17, CONT: 18, STOP: 19, TSTP: 20, TTIN: 21, TTOU: 22 },
}

export const timeoutCommand =
  (stopped: StoppedOutput) =>
  (args: string[], context: Context): Promise<Result> =>
    timeout(args, context, stopped)

async function timeout(args: string[], context: Context, stopped: StoppedOutput): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('help')) return { stdout: HELP, stderr: '', exitCode: 0 }
  const [duration, ...command] = read.operands
  if (duration === undefined || command.length === 0) return { stdout: '', stderr: HINT, exitCode: EXIT_FAILED }
  const [ms, later] = [duration, read.value('k') ?? '0'].map(durationMs)
  if (ms === undefined || ms === null) return misuse(SPEC, `invalid time interval ‘${duration}’`)
  if (later === null) return misuse(SPEC, `invalid time interval ‘${read.value('k')}’`)
  const signal = signalNumber(read.value('s') ?? 'TERM')
  if (signal === null) return misuse(SPEC, `‘${read.value('s')}’: invalid signal`)
  const written = stopped.begin()
  const { result, isStopped } = await runFor(ms, command, { context, written }).finally(() => stopped.end(written))
  if (!isStopped) return result
  const name = Object.keys(SIGNALS).find((one) => SIGNALS[one] === signal) ?? String(signal)
  const told = read.has('v') ? `timeout: sending signal ${name} to command ‘${command[0]}’\n` : ''
  const isAnything = written.isLaid || written.stdout !== '' || result.stdout !== ''
  const said = told + (command[0] === 'sleep' || isAnything ? '' : LOST)
  const exitCode = read.has('preserve') || signal === KILL ? 128 + signal : EXIT_TIMED_OUT
  const stderr = (result.stderr + written.stderr).replaceAll(ABORTED, '') + said
  return { ...outputOf(inBytes(result) + written.stdout), stderr, exitCode }
}

type TimedContext = { context: Context; written: { isStopping: boolean } }

/** Zero means no limit. */
async function runFor(ms: number, command: readonly string[], { context, written }: TimedContext) {
  const run = context.execWithInheritedStdin ?? context.exec
  if (!run) throw new Error('the interpreter cannot run a script from a command')
  const stopping = new AbortController()
  const stop = () => {
    written.isStopping = true
    stopping.abort()
  }
  const timer = ms === 0 ? null : setTimeout(stop, Math.min(ms, LONGEST_MS))
  const signal = context.signal ? AbortSignal.any([context.signal, stopping.signal]) : stopping.signal
  try {
    const script = withVariables(command.map(quoted).join(' '), context)
    const result = await run(script, { cwd: context.cwd, ...passedFunctions(context), signal })
    return { result, isStopped: stopping.signal.aborted && !context.signal?.aborted }
  } finally {
    if (timer !== null) clearTimeout(timer)
  }
}

function durationMs(text: string): number | null {
  const [, number, unit = ''] = /^([+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)([smhd]?)$/i.exec(text) ?? []
  return number === undefined ? null : Number(number) * 1000 * (SECONDS[unit] ?? 1)
}

function signalNumber(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text) <= 64 ? Number(text) : null
  return SIGNALS[text.toUpperCase().replace(/^SIG/, '')] ?? null
}

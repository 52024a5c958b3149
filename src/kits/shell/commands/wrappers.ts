// Commands that run another one: `nice`, `nohup`, `setsid`, `stdbuf`. Nothing runs in parallel, and output is passed on
// complete, so priority, hangups, sessions and buffers have no effect here; their options are parsed anyway.

import { type Context, passedFunctions, quoted, type Result, withVariables } from '../interpreter-command.ts'
import { type GnuSpec, misuse, readGnuOptions } from './gnu-options.ts'
import { inOwnWords } from './not-found.ts'

const EXIT_FAILED = 125
const EXIT_SETSID = 1

type Wrapper = { spec: GnuSpec; problem: (has: (name: string) => boolean, value: Value) => string | null }
type Value = (name: string) => string | undefined

const spec = (name: string, letters: string, long: Record<string, string>, exitCode = EXIT_FAILED): GnuSpec => ({
  ...{ name, letters, long: { ...long, help: 'help' }, stopsAtOperand: true, exitCode },
})

const NICE = spec('nice', 'n:', { 'adjustment=': 'n' })
const NOHUP = spec('nohup', '', {})
const SETSID = spec('setsid', 'cfw', { ctty: 'c', fork: 'f', wait: 'w' }, EXIT_SETSID)
const STDBUF = spec('stdbuf', 'i:o:e:', { 'input=': 'i', 'output=': 'o', 'error=': 'e' })
const MODE = /^(?:L|0|\d+(?:[kKMG]B?)?)$/

const WRAPPERS: Readonly<Record<'nice' | 'nohup' | 'setsid' | 'stdbuf', Wrapper>> = {
  nice: {
    spec: NICE,
    problem: (_, value) => (/^[-+]?\d+$/.test(value('n') ?? '0') ? null : `invalid adjustment ‘${value('n')}’`),
  },
  nohup: { spec: NOHUP, problem: () => null },
  setsid: { spec: SETSID, problem: () => null },
  stdbuf: {
    spec: STDBUF,
    problem: (has, value) => {
      const modes = ['i', 'o', 'e'].filter(has)
      if (modes.length === 0) return 'you must specify a buffering mode option'
      const wrong = modes.find((one) => !MODE.test(value(one) ?? ''))
      return wrong === undefined ? null : `invalid mode ‘${value(wrong)}’`
    },
  },
}

const running = (wrapper: Wrapper) => (args: string[], context: Context) => run(wrapper, args, context)

export const WRAPPER_COMMANDS = {
  nice: running(WRAPPERS.nice),
  nohup: running(WRAPPERS.nohup),
  setsid: running(WRAPPERS.setsid),
  stdbuf: running(WRAPPERS.stdbuf),
}

async function run(wrapper: Wrapper, args: string[], context: Context): Promise<Result> {
  const { spec: own } = wrapper
  // `nice -5 command`, the old form.
  const words =
    own === NICE ? args.map((arg, i) => (i === 0 && /^-[-+]?\d+$/.test(arg) ? `-n${arg.slice(1)}` : arg)) : args
  const read = readGnuOptions(words, own)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('help')) return { stdout: `Usage: ${own.name} [OPTION]... COMMAND [ARG]...\n`, stderr: '', exitCode: 0 }
  if (read.operands.length === 0) {
    if (own === NICE && !read.has('n')) return { stdout: '0\n', stderr: '', exitCode: 0 }
    return misuse(own, own === SETSID ? 'no command specified' : 'missing operand')
  }
  const problem = wrapper.problem(read.has, read.value)
  return problem === null ? runCommand(own.name, read.operands, context) : misuse(own, problem)
}

async function runCommand(name: string, words: readonly string[], context: Context): Promise<Result> {
  const execute = context.execWithInheritedStdin ?? context.exec
  if (!execute) throw new Error('the interpreter cannot run a script from a command')
  const [command = ''] = words
  const script = withVariables(words.map(quoted).join(' '), context)
  const result = await execute(script, {
    cwd: context.cwd,
    ...passedFunctions(context),
    ...(context.signal && { signal: context.signal }),
  })
  const why =
    name === 'nohup' || name === 'stdbuf'
      ? `failed to run command ‘${command}’`
      : name === 'setsid'
        ? `failed to execute ${command}`
        : `‘${command}’`
  return inOwnWords(result, command, `${name}: ${why}`)
}

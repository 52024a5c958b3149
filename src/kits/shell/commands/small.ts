// Small commands that users and scripts expect, and that the interpreter does not have.

import type { Context, Result } from '../interpreter-command.ts'
import { misuse, readGnuOptions } from './gnu-options.ts'
import { mktemp } from './mktemp.ts'

type Run = (args: string[], context: Context) => Promise<Result>

/** Elsewhere `yes` is endless; here the next command of a pipe starts after all output was read. */
const YES_CHARS = 1024 * 1024
const CLEARED = '\x1b[2J\x1b[H'
const SYSTEM = {
  s: 'Linux',
  n: 'localhost',
  r: '6.0.0-bellwether',
  v: '#1',
  m: 'x86_64',
  p: 'unknown',
  i: 'unknown',
  o: 'GNU/Linux',
}

const said = (stdout: string): Result => ({ stdout, stderr: '', exitCode: 0 })
const failed = (stderr: string, exitCode = 1): Result => ({ stdout: '', stderr: `${stderr}\n`, exitCode })

export const SMALL_COMMANDS = {
  mktemp,
  uname,
  yes: async (given) => {
    const read = readGnuOptions(given, { name: 'yes', letters: '' })
    if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
    const line = `${read.operands.length > 0 ? read.operands.join(' ') : 'y'}\n`
    return said(line.repeat(Math.max(1, Math.floor(YES_CHARS / line.length))))
  },
  id,
  printenv,
  whoami: async (args) => withoutOptions('whoami', args, 'user\n'),
  hostname: async (args) =>
    withoutOptions(
      'hostname',
      args.filter((arg) => !/^(-[sf]|--short|--fqdn|--long)$/.test(arg)),
      'localhost\n',
    ),
  clear: async (args) =>
    withoutOptions(
      'clear',
      args.filter((arg) => arg !== '-x'),
      CLEARED,
    ),
  nproc: async (args) => {
    const spec = { name: 'nproc', letters: '', long: { all: 'all', 'ignore=': 'ignore' } }
    const read = readGnuOptions(args, spec)
    if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
    const [extra] = read.operands
    const ignored = read.value('ignore') ?? '0'
    if (!/^\+?\d+$/.test(ignored)) return failed(`nproc: invalid number: \u2018${ignored}\u2019`)
    return extra === undefined ? said('1\n') : misuse(spec, `extra operand \u2018${extra}\u2019`)
  },
  arch: async (args) => withoutOptions('arch', args, 'x86_64\n'),
  groups: async (args) => {
    const [name = 'user', ...more] = args
    if (name.startsWith('-')) return failed(`groups: option ${name} is not available here`)
    if (name !== 'user' || more.length > 0) return failed(`groups: ‘${name}’: no such user`)
    return said(args.length > 0 ? 'user : user\n' : 'user\n')
  },
  logname: async (args) => withoutOptions('logname', args, 'user\n'),
  // No user is logged in.
  users: async (args) => {
    const read = readGnuOptions(args, { name: 'users', letters: '' })
    if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
    const [, extra] = read.operands
    return extra === undefined ? said('') : misuse({ name: 'users' }, `extra operand \u2018${extra}\u2019`)
  },
  who: async (args) => withoutArguments('who', args, ''),
  // Nothing runs in parallel, so there is nothing to list or to end.
  jobs: async () => said(''),
  kill: async (args) => {
    const process = args.findLast((arg) => !arg.startsWith('-'))
    return failed(
      process === undefined ? 'kill: usage: kill [-SIGNAL] PID...' : `bash: kill: (${process}) - No such process`,
    )
  },
} satisfies Readonly<Record<string, Run>>

/** The error of a command that takes neither options nor operands here. */
function withoutOptions(name: string, args: readonly string[], stdout: string): Result {
  const read = readGnuOptions(args, { name, letters: '' })
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const [extra] = read.operands
  if (extra === undefined) return said(stdout)
  return misuse({ name }, `extra operand \u2018${extra}\u2019`)
}

/** The exported variables of the command. */
async function printenv(args: string[], { exportedEnv = {} }: Context): Promise<Result> {
  const spec = { name: 'printenv', letters: '0', long: { null: '0' }, stopsAtOperand: true, exitCode: 2 }
  const read = readGnuOptions(args, spec)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const end = read.has('0') ? '\0' : '\n'
  const all = Object.entries(exportedEnv).map(([name, value]) => `${name}=${value}`)
  const values = read.operands.map((name) => (Object.hasOwn(exportedEnv, name) ? exportedEnv[name] : undefined))
  const shown = read.operands.length === 0 ? all : values.filter((value) => value !== undefined)
  const stdout = shown.map((value) => `${value}${end}`).join('')
  return { stdout, stderr: '', exitCode: values.includes(undefined) ? 1 : 0 }
}

function withoutArguments(name: string, [first]: readonly string[], stdout: string): Result {
  if (first === undefined) return said(stdout)
  return failed(`${name}: ${first.startsWith('-') ? `option ${first} is` : 'operands are'} not available here`)
}

async function id(args: string[]): Promise<Result> {
  const spec = {
    name: 'id',
    letters: 'agGnruzZ',
    long: { user: 'u', group: 'g', groups: 'G', name: 'n', real: 'r', zero: 'z', context: 'Z' },
  }
  const read = readGnuOptions(args, spec)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('Z')) return failed('id: --context (-Z) works only on an SELinux-enabled kernel')
  const chosen = new Set(read.given.map(({ name }) => name).filter((name) => 'ugG'.includes(name)))
  if (chosen.size > 1) return failed('id: cannot print "only" of more than one choice')
  const isPlain = chosen.size === 0
  if (isPlain && (read.has('n') || read.has('r')))
    return failed('id: cannot print only names or real IDs in default format')
  if (isPlain && read.has('z')) return failed('id: option --zero not permitted in default format')
  const unknown = read.operands.filter((name) => name !== 'user' && name !== '1000')
  const shown = isPlain ? 'uid=1000(user) gid=1000(user) groups=1000(user)' : read.has('n') ? 'user' : '1000'
  const times = Math.max(read.operands.length, 1) - unknown.length
  const stderr = unknown.map((name) => `id: \u2018${name}\u2019: no such user\n`).join('')
  const stdout = `${shown}${read.has('z') ? '\0' : '\n'}`.repeat(times)
  return { stdout, stderr, exitCode: unknown.length > 0 ? 1 : 0 }
}

async function uname(args: string[]): Promise<Result> {
  const spec = {
    name: 'uname',
    letters: 'asnrvmpio',
    long: {
      ...{ all: 'a', 'kernel-name': 's', sysname: 's', nodename: 'n', 'kernel-release': 'r', release: 'r' },
      ...{ 'kernel-version': 'v', machine: 'm', processor: 'p', 'hardware-platform': 'i', 'operating-system': 'o' },
    },
  }
  const read = readGnuOptions(args, spec)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const [extra] = read.operands
  if (extra !== undefined) return misuse(spec, `extra operand \u2018${extra}\u2019`)
  const isOf = (letter: string) =>
    read.given.length === 0 ? letter === 's' : read.has(letter) || (read.has('a') && !'pi'.includes(letter))
  const shown = Object.entries(SYSTEM).filter(([letter]) => isOf(letter))
  return said(`${shown.map(([, text]) => text).join(' ')}\n`)
}

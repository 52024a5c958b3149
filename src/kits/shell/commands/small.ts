// Small commands that people and scripts expect, and that the interpreter does not have.

import { type Context, type Result, shellMessage } from '../interpreter-command.ts'
import { misuse, readGnuOptions } from './gnu-options.ts'
import { readOptions } from './options.ts'

type Run = (args: string[], context: Context) => Promise<Result>

/** `yes` has no end elsewhere; a pipe here takes all of it before the next command begins. */
const YES_CHARS = 1024 * 1024
const FOLDER = '/tmp'
const CLEARED = '\x1b[2J\x1b[H'
const SYSTEM = { s: 'Linux', n: 'localhost', r: '6.0.0-bellwether', v: '#1', m: 'x86_64', o: 'GNU/Linux' }

const said = (stdout: string): Result => ({ stdout, stderr: '', exitCode: 0 })
const failed = (stderr: string, exitCode = 1): Result => ({ stdout: '', stderr: `${stderr}\n`, exitCode })

export const SMALL_COMMANDS = {
  mktemp,
  uname,
  yes: async (given) => {
    const unknown = given.find((arg) => /^-./.test(arg) && arg !== '--')
    const isOption = unknown !== undefined && !given.slice(0, given.indexOf(unknown)).includes('--')
    if (isOption) {
      const long = unknown.startsWith('--')
      const what = long ? `unrecognized option '${unknown}'` : `invalid option -- '${unknown.charAt(1)}'`
      return failed(`yes: ${what}\nTry 'yes --help' for more information.`)
    }
    const args = given[0] === '--' ? given.slice(1) : given
    const line = `${args.length > 0 ? args.join(' ') : 'y'}\n`
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
    const unknown = args.find((arg) => !/^--(all|ignore=\d+)$/.test(arg))
    return unknown === undefined ? said('1\n') : failed(`nproc: ${unknown} is not available here`)
  },
  arch: async (args) => withoutArguments('arch', args, 'x86_64\n'),
  groups: async (args) => {
    const [name = 'user', ...more] = args
    if (name.startsWith('-')) return failed(`groups: option ${name} is not available here`)
    if (name !== 'user' || more.length > 0) return failed(`groups: ‘${name}’: no such user`)
    return said(args.length > 0 ? 'user : user\n' : 'user\n')
  },
  logname: async (args) => withoutArguments('logname', args, 'user\n'),
  // Nobody is logged in.
  users: async (args) => withoutArguments('users', args, ''),
  who: async (args) => withoutArguments('who', args, ''),
  // Nothing runs beside the command, so there is nothing to list and nothing to end.
  jobs: async () => said(''),
  kill: async (args) => {
    const process = args.findLast((arg) => !arg.startsWith('-'))
    return failed(
      process === undefined ? 'kill: usage: kill [-SIGNAL] PID...' : `bash: kill: (${process}) - No such process`,
    )
  },
} satisfies Readonly<Record<string, Run>>

/** The refusal of a command that takes neither options nor operands here. */
function withoutOptions(name: string, args: readonly string[], stdout: string): Result {
  const read = readGnuOptions(args, { name, letters: '' })
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const [extra] = read.operands
  if (extra === undefined) return said(stdout)
  return misuse({ name }, `extra operand \u2018${extra}\u2019`)
}

/** Variables that a command gets, which are those that were exported. */
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

async function mktemp(args: string[], { fs, cwd, exportedEnv = {} }: Context): Promise<Result> {
  const words = args.map((arg) => (arg === '--tmpdir' ? `--tmpdir=${FOLDER}` : arg))
  const read = readOptions(words, {
    flags: {
      ...{ '-d': 'd', '--directory': 'd', '-u': 'u', '--dry-run': 'u', '-q': 'q', '--quiet': 'q', '-t': 't' },
    },
    values: { '-p': 'p', '--tmpdir': 'p', '--suffix': 'suffix' },
  })
  if (!read.ok) return failed(`mktemp: ${read.problem}`)
  const last = (name: string) => read.values.get(name)?.at(-1)
  const template = read.operands[0] ?? 'tmp.XXXXXXXXXX'
  const marks = /X{3,}(?=[^X]*$)/.exec(template)?.[0]
  if (marks === undefined) return failed(`mktemp: too few X's in template '${template}'`)
  const isTemporary = read.operands.length === 0 || read.flags.has('t') || last('p') !== undefined
  const letters = crypto.randomUUID().replaceAll('-', '').padEnd(marks.length, '0').slice(0, marks.length)
  const name = template.replace(/X{3,}(?=[^X]*$)/, letters) + (last('suffix') ?? '')
  const shown = isTemporary ? `${last('p') || exportedEnv.TMPDIR || FOLDER}/${name}` : name
  const path = fs.resolvePath(cwd, shown)
  try {
    if (read.flags.has('u')) return said(`${shown}\n`)
    if (read.flags.has('d')) await fs.mkdir(path)
    else await fs.writeFile(path, '')
    await fs.chmod(path, read.flags.has('d') ? 0o700 : 0o600)
    return said(`${shown}\n`)
  } catch (error) {
    const kind = read.flags.has('d') ? 'directory' : 'file'
    return failed(`mktemp: failed to create ${kind} via template '${template}': ${shellMessage(error)}`)
  }
}

async function id(args: string[]): Promise<Result> {
  const long: Record<string, string> = { user: 'u', group: 'g', groups: 'G', name: 'n', real: 'r', zero: 'z' }
  const flags = args.filter((arg) => arg.startsWith('-'))
  const letters = flags.map((arg) => (arg.startsWith('--') ? (long[arg.slice(2)] ?? arg) : arg.slice(1))).join('')
  const [name = 'user', ...more] = args.filter((arg) => !arg.startsWith('-'))
  const unknown = [...letters].find((letter) => !'ugGnr'.includes(letter))
  if (unknown !== undefined) return failed(`id: option ${flags.join(' ')} is not available here`)
  if (name !== 'user' || more.length > 0) return failed(`id: \u2018${name}\u2019: no such user`)
  if (/[ugG]/.test(letters)) return said(letters.includes('n') ? 'user\n' : '1000\n')
  if (letters !== '') return failed('id: cannot print only names or real IDs in default format')
  return said('uid=1000(user) gid=1000(user) groups=1000(user)\n')
}

async function uname(args: string[]): Promise<Result> {
  const letters = args.includes('-a') || args.includes('--all') ? 'snrvmo' : args.join('').replace(/-/g, '') || 's'
  const unknown = [...letters].find((letter) => !Object.hasOwn(SYSTEM, letter))
  if (unknown !== undefined) return failed(`uname: option -${unknown} is not available here`)
  const shown = Object.entries(SYSTEM).filter(([letter]) => letters.includes(letter))
  return said(`${shown.map(([, text]) => text).join(' ')}\n`)
}

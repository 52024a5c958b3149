// Small commands that people and scripts expect, and that the interpreter does not have.

import { type Context, quoted, type Result, shellMessage } from '../interpreter-command.ts'
import { readOptions } from './options.ts'

type Run = (args: string[], context: Context) => Promise<Result>

/** `yes` has no end elsewhere; a pipe here takes all of it before the next command begins. */
const YES_CHARS = 256 * 1024
const SYSTEM = { s: 'Linux', n: 'localhost', r: '6.0.0-bellwether', v: '#1', m: 'x86_64', o: 'GNU/Linux' }

const said = (stdout: string): Result => ({ stdout, stderr: '', exitCode: 0 })
const failed = (stderr: string, exitCode = 1): Result => ({ stdout: '', stderr: `${stderr}\n`, exitCode })

export const SMALL_COMMANDS: Readonly<Record<string, Run>> = {
  readlink,
  realpath,
  mktemp,
  cmp,
  truncate,
  uname,
  yes: async (args) => {
    const line = `${args.length > 0 ? args.join(' ') : 'y'}\n`
    return said(line.repeat(Math.max(1, Math.floor(YES_CHARS / line.length))))
  },
  id: async ([flag = '']) => {
    const asked: Record<string, string> = { '-u': '1000', '-g': '1000', '-G': '1000', '-un': 'user', '-gn': 'user' }
    return said(`${asked[flag] ?? 'uid=1000(user) gid=1000(user) groups=1000(user)'}\n`)
  },
  nproc: async () => said('1\n'),
  // Nothing runs beside the command, so there is nothing to list and nothing to end.
  jobs: async () => said(''),
  kill: async (args) => {
    const process = args.findLast((arg) => !arg.startsWith('-'))
    return failed(
      process === undefined ? 'kill: usage: kill [-SIGNAL] PID...' : `bash: kill: (${process}) - No such process`,
    )
  },
  less: paged,
  more: paged,
}

/** Without a terminal to turn pages on, a pager shows everything. */
async function paged(args: string[], { exec, execWithInheritedStdin, cwd }: Context): Promise<Result> {
  const files = args.filter((arg) => !/^[-+]./.test(arg))
  const run = execWithInheritedStdin ?? exec
  return run ? run(['cat', ...files].map(quoted).join(' '), { cwd }) : failed('cannot be run here')
}

async function realpath(args: string[], { fs, cwd }: Context): Promise<Result> {
  const read = readOptions(args, { flags: { '-e': 'e', '-m': 'm', '-s': 's', '-q': 'q', '-z': 'z' }, values: {} })
  if (!read.ok) return failed(`realpath: ${read.problem}`)
  if (read.operands.length === 0) return failed('realpath: missing operand')
  const result = said('')
  for (const operand of read.operands) {
    const path = fs.resolvePath(cwd, operand)
    try {
      // The last part need not be there.
      const slash = path.lastIndexOf('/')
      const parent = path.slice(0, slash)
      const isThere = await fs.exists(path)
      const real = isThere
        ? await fs.realpath(path)
        : `${parent === '' ? '' : await fs.realpath(parent)}${path.slice(slash)}`
      // Fails for what is not there.
      if (read.flags.has('e')) await fs.stat(path)
      result.stdout += `${read.flags.has('s') ? path : real}\n`
    } catch (error) {
      if (read.flags.has('m')) result.stdout += `${path}\n`
      else {
        result.stderr += read.flags.has('q') ? '' : `realpath: ${operand}: ${shellMessage(error)}\n`
        result.exitCode = 1
      }
    }
  }
  return result
}

/** The interpreter's does not look at links on the way to a file. */
async function readlink(args: string[], context: Context): Promise<Result> {
  const [first = '', ...operands] = args
  const isWhole = /^-[fem]+$/.test(first) || first === '--canonicalize'
  if (isWhole)
    return realpath(
      [...(first === '--canonicalize' ? [] : [first.replaceAll('f', '')]), ...operands].filter((arg) => arg !== '-'),
      context,
    )
  return context.origCommand ? context.origCommand(args) : failed('readlink: not available here')
}

async function mktemp(args: string[], { fs, cwd }: Context): Promise<Result> {
  const read = readOptions(args, {
    flags: { '-d': 'd', '--directory': 'd', '-u': 'u', '--dry-run': 'u', '-q': 'q', '-t': 't' },
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
  const shown = isTemporary ? `${last('p') ?? '/tmp'}/${name}` : name
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

/** Whether two files are the same, and if not, where they first differ. */
async function cmp(args: string[], { fs, cwd }: Context): Promise<Result> {
  const read = readOptions(args, { flags: { '-s': 's', '--silent': 's', '--quiet': 's' }, values: {} })
  if (!read.ok) return failed(`cmp: ${read.problem}`, 2)
  const [first, second] = read.operands
  if (first === undefined || second === undefined) return failed('cmp: two files are needed', 2)
  const isSilent = read.flags.has('s')
  try {
    const a = await fs.readFileBuffer(fs.resolvePath(cwd, first))
    const b = await fs.readFileBuffer(fs.resolvePath(cwd, second))
    const at = a.findIndex((byte, i) => byte !== b[i])
    if (at < 0 && a.byteLength === b.byteLength) return said('')
    const end = at < 0 || at >= b.byteLength ? Math.min(a.byteLength, b.byteLength) : null
    if (isSilent) return { stdout: '', stderr: '', exitCode: 1 }
    if (end !== null) return failed(`cmp: EOF on ${end === a.byteLength ? first : second} after byte ${end}`)
    const line = a.subarray(0, at).filter((byte) => byte === 10).byteLength + 1
    return { ...said(`${first} ${second} differ: byte ${at + 1}, line ${line}\n`), exitCode: 1 }
  } catch (error) {
    return failed(`cmp: ${shellMessage(error)}`, 2)
  }
}

async function truncate(args: string[], { fs, cwd }: Context): Promise<Result> {
  const read = readOptions(args, { flags: { '-c': 'c', '--no-create': 'c' }, values: { '-s': 's', '--size': 's' } })
  if (!read.ok) return failed(`truncate: ${read.problem}`)
  const size = /^(\d{1,9})([KMG]?)$/.exec(read.values.get('s')?.at(-1) ?? '')
  if (!size) return failed('truncate: --size is needed, as a number with K, M or G behind it or without')
  const bytes = Number(size[1]) * 1024 ** ' KMG'.indexOf(size[2] || ' ')
  for (const operand of read.operands) {
    const path = fs.resolvePath(cwd, operand)
    try {
      const isThere = await fs.exists(path)
      if (!isThere && read.flags.has('c')) continue
      const old = isThere ? await fs.readFileBuffer(path) : new Uint8Array()
      const next = new Uint8Array(bytes)
      next.set(old.subarray(0, bytes))
      await fs.writeFile(path, next)
    } catch (error) {
      return failed(`truncate: cannot open '${operand}' for writing: ${shellMessage(error)}`)
    }
  }
  return said('')
}

async function uname(args: string[]): Promise<Result> {
  const letters = args.includes('-a') || args.includes('--all') ? 'snrvmo' : args.join('').replace(/-/g, '') || 's'
  const unknown = [...letters].find((letter) => !Object.hasOwn(SYSTEM, letter))
  if (unknown !== undefined) return failed(`uname: option -${unknown} is not available here`)
  const shown = Object.entries(SYSTEM).filter(([letter]) => letters.includes(letter))
  return said(`${shown.map(([, text]) => text).join(' ')}\n`)
}

// `mktemp`, like GNU's: a new file or folder with an unused name.

import { type Context, type Result, shellMessage } from '../interpreter-command.ts'
import { type GnuOptions, misuse, readGnuOptions } from './gnu-options.ts'

const SPEC = {
  name: 'mktemp',
  letters: 'dp:qtu',
  long: { directory: 'd', 'dry-run': 'u', quiet: 'q', 'suffix=': 'suffix', 'tmpdir=?': 'p' },
}
const FOLDER = '/tmp'
const LEAST_MARKS = 3

const failed = (problem: string): Result => ({ stdout: '', stderr: `mktemp: ${problem}\n`, exitCode: 1 })
const quoted = (text: string): string => `\u2018${text}\u2019`

export async function mktemp(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.operands.length > 1) return misuse(SPEC, 'too many templates')
  const template = read.operands[0] ?? 'tmp.XXXXXXXXXX'
  const problem = problemOf(template, read)
  if (problem !== null) return failed(problem)
  const folder = folderOf(read, context.exportedEnv?.TMPDIR ?? '')
  const whole = folder === null ? template : `${folder.replace(/\/+$/, '') || folder.slice(0, 1)}/${template}`
  return made(whole, read, context)
}

function problemOf(template: string, read: GnuOptions): string | null {
  const suffix = read.value('suffix')
  if (suffix !== undefined && !template.endsWith('X'))
    return `with --suffix, template ${quoted(template)} must end in X`
  const end = suffix ?? /[^X]*$/.exec(template)?.[0] ?? ''
  if (end.includes('/') && template.includes('X')) return `invalid suffix ${quoted(end)}, contains directory separator`
  if (marksIn(template).length < LEAST_MARKS) return `too few X's in template ${quoted(template + (suffix ?? ''))}`
  if (read.has('t') && template.includes('/'))
    return `invalid template, ${quoted(template)}, contains directory separator`
  if (read.has('p') && template.startsWith('/'))
    return `invalid template, ${quoted(template)}; with --tmpdir, it may not be absolute`
  return null
}

const marksIn = (template: string): string => /X*(?=[^X]*$)/.exec(template)?.[0] ?? ''

/** Null for the current folder. */
function folderOf(read: GnuOptions, fromEnvironment: string): string | null {
  const asked = read.value('p') ?? ''
  if (read.has('t')) return fromEnvironment || asked || FOLDER
  return read.has('p') || read.operands.length === 0 ? asked || fromEnvironment || FOLDER : null
}

async function made(template: string, read: GnuOptions, { fs, cwd }: Context): Promise<Result> {
  const count = marksIn(template).length
  const letters = crypto.randomUUID().replaceAll('-', '').padEnd(count, '0').slice(0, count)
  const suffix = read.value('suffix') ?? ''
  const name = template.replace(/X*(?=[^X]*$)/, letters) + suffix
  const path = fs.resolvePath(cwd, name)
  const isFolder = read.has('d')
  try {
    if (!read.has('u')) {
      await (isFolder ? fs.mkdir(path) : fs.writeFile(path, ''))
      await fs.chmod(path, isFolder ? 0o700 : 0o600)
    }
    return { stdout: `${name}\n`, stderr: '', exitCode: 0 }
  } catch (error) {
    if (read.has('q')) return { stdout: '', stderr: '', exitCode: 1 }
    const kind = isFolder ? 'directory' : 'file'
    return failed(`failed to create ${kind} via template ${quoted(template + suffix)}: ${shellMessage(error)}`)
  }
}

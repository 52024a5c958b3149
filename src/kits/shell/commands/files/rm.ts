// `rm` and `rmdir`, like GNU's. The interpreter's version follows links where it should not.

import { isFileError } from '../../../../workspace/file-system.ts'
import { type Context, NO_SUCH_FILE, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { joinedPath, lstatIfAny, Report, shownName } from './names.ts'

const RM: GnuSpec = {
  name: 'rm',
  letters: 'dfiIrRv',
  long: {
    ...{ dir: 'd', force: 'f', recursive: 'r', verbose: 'v', 'interactive=?': 'interactive' },
    ...{ 'preserve-root=?': 'preserve', 'no-preserve-root': '', 'one-file-system': '' },
  },
}
const RMDIR: GnuSpec = {
  name: 'rmdir',
  letters: 'pv',
  long: { parents: 'p', verbose: 'v', 'ignore-fail-on-non-empty': 'ignore' },
}

type Removing = { context: Context; report: Report; read: GnuOptions; isForced: boolean; asks: boolean }

export async function rm(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, RM)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const root = read.given.find(({ name, value }) => name === 'preserve' && value !== '' && value !== 'all')
  if (root) return { stdout: '', stderr: `rm: unrecognized --preserve-root argument: '${root.value}'\n`, exitCode: 1 }
  const last = read.given.findLast(({ name }) => ['f', 'i', 'interactive'].includes(name))
  const isForced = last?.name === 'f'
  if (read.operands.length === 0 && !isForced) return misuse(RM, 'missing operand')
  const asks = last !== undefined && !isForced && last.value !== 'never' && last.value !== 'once'
  const removing = { context, report: new Report('rm'), read, isForced, asks }
  if (asksOnce(read)) {
    removing.report.stderr = `rm: remove ${counted(read)}? `
    return removing.report.result
  }
  for (const name of read.operands) {
    if ((read.has('r') || read.has('R')) && /(^|\/)\.\.?\/*$/.test(name)) {
      removing.report.fail(`refusing to remove '.' or '..' directory: skipping ${shownName(name)}`)
    } else await remove(name, removing)
  }
  return removing.report.result
}

/** `-I` asks once for everything. There is no user to answer, which counts as no. */
function asksOnce(read: GnuOptions): boolean {
  const last = read.given.findLast(({ name }) => ['f', 'i', 'I', 'interactive'].includes(name))
  if (last?.name !== 'I' && last?.value !== 'once') return false
  return read.has('r') || read.has('R') || read.operands.length > 3
}

function counted(read: GnuOptions): string {
  const count = read.operands.length
  const how = read.has('r') || read.has('R') ? ' recursively' : ''
  return `${count} argument${count === 1 ? '' : 's'}${how}`
}

async function remove(name: string, removing: Removing): Promise<void> {
  const { context, report, read, isForced, asks } = removing
  const { fs, cwd } = context
  const path = fs.resolvePath(cwd, name)
  try {
    const { isDirectory } = await fs.lstat(path)
    const goesDown = isDirectory && (read.has('r') || read.has('R'))
    if (isDirectory && !goesDown && !read.has('d'))
      return report.fail(`cannot remove ${shownName(name)}: Is a directory`)
    if (asks) {
      // There is no user to answer, which counts as no.
      const what =
        goesDown && !(await isEmpty(path, fs))
          ? 'descend into directory'
          : `remove ${isDirectory ? 'directory' : 'regular file'}`
      report.stderr += `rm: ${what} ${shownName(name)}? `
      return
    }
    if (goesDown && read.has('v')) {
      for (const inside of await fs.readdir(path)) await remove(joinedPath(name.replace(/\/+$/, ''), inside), removing)
    }
    await fs.rm(path, { recursive: goesDown })
    if (read.has('v')) report.say(`removed ${isDirectory ? 'directory ' : ''}${shownName(name)}`)
  } catch (error) {
    if (isFileError(error, 'EACCES') && (await removeOneByOne({ name, path }, removing))) return
    const problem = shellMessage(error)
    if (!(isForced && problem === NO_SUCH_FILE)) report.fail(`cannot remove ${shownName(name)}: ${problem}`)
  }
}

async function isEmpty(path: string, fs: Context['fs']): Promise<boolean> {
  return (await namesIn(path, fs))?.length === 0
}

/** Removes the removable contents of a folder that cannot be removed completely. False if it is not a folder, or is empty. */
async function removeOneByOne({ name, path }: { name: string; path: string }, removing: Removing): Promise<boolean> {
  const { context, report, read } = removing
  const { fs } = context
  if (!(read.has('r') || read.has('R'))) return false
  if (!(await lstatIfAny(path, context))?.isDirectory) return false
  const inside = await namesIn(path, fs)
  if (inside === null || inside.length === 0) return false
  const failures = report.stderr
  for (const one of inside) await remove(joinedPath(name.replace(/\/+$/, ''), one), removing)
  if (report.stderr === failures) await fs.rm(path, { recursive: true })
  return true
}

/** Null if the folder may not be read. */
async function namesIn(path: string, fs: Context['fs']): Promise<string[] | null> {
  try {
    return await fs.readdir(path)
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

export async function rmdir(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, RMDIR)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.operands.length === 0) return misuse(RMDIR, 'missing operand')
  const report = new Report('rmdir')
  for (const name of read.operands) {
    const plain = name.replace(/(?<=.)\/+$/, '')
    const parts = plain.split('/')
    const upwards = parts.map((_, i) => parts.slice(0, parts.length - i).join('/'))
    for (const one of read.has('p') ? upwards.filter((part) => part !== '') : [name]) {
      const what = one === plain || one === name ? '' : 'directory '
      if (!(await removeEmpty(one, { context, report, read }, what))) break
    }
  }
  return report.result
}

async function removeEmpty(
  name: string,
  { context, report, read }: Omit<Removing, 'isForced' | 'asks'>,
  what: string,
): Promise<boolean> {
  const { fs, cwd } = context
  if (read.has('v')) report.say(`rmdir: removing directory, ${shownName(name)}`)
  const path = fs.resolvePath(cwd, name)
  const stat = await lstatIfAny(name, context)
  const fail = (why: string) => {
    report.fail(`failed to remove ${what}${shownName(name)}: ${why}`)
    return false
  }
  if (!stat) return fail(NO_SUCH_FILE)
  if (!stat.isDirectory) return fail('Not a directory')
  if (/(?:^|\/)\.\/*$/.test(name)) return fail('Invalid argument')
  try {
    if ((await fs.readdir(path)).length > 0) return read.has('ignore') ? false : fail('Directory not empty')
    await fs.rm(path, { recursive: true })
    return true
  } catch (error) {
    return fail(shellMessage(error))
  }
}

// `unlink`, `link` and `sync`.

import { isFileError } from '../../../../workspace/file-system.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCommand, ShellResult } from '../../shell-extensions.ts'
import { Report, shownName } from '../files/names.ts'
import { type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'

type Run = ShellCommand['run']

/** A result is the error of an invalid command line. */
function operandsOf(spec: GnuSpec, args: readonly string[], count: number): string[] | ShellResult {
  const read = readGnuOptions(args, spec)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const { operands } = read
  if (operands.length === 0) return misuse(spec, 'missing operand')
  if (operands.length < count) return misuse(spec, `missing operand after \u2018${operands.at(-1)}\u2019`)
  return operands.length > count ? misuse(spec, `extra operand \u2018${operands[count]}\u2019`) : operands
}

export const runUnlink: Run = async (args, { fs, cwd }) => {
  const operands = operandsOf({ name: 'unlink', letters: '' }, args, 1)
  if (!Array.isArray(operands)) return operands
  const report = new Report('unlink')
  const [name = ''] = operands
  const path = resolvePath(cwd, name)
  try {
    if (kindAt(fs, path) === 'directory') report.fail(`cannot unlink ${shownName(name)}: Is a directory`)
    else fs.remove(path)
  } catch (error) {
    report.fail(`cannot unlink ${shownName(name)}: ${shellMessage(error)}`)
  }
  return report.result
}

/** There are no hard links: the second name gets a copy, like with `ln`. */
export const runLink: Run = async (args, { fs, cwd }) => {
  const operands = operandsOf({ name: 'link', letters: '' }, args, 2)
  if (!Array.isArray(operands)) return operands
  const report = new Report('link')
  const [from = '', to = ''] = operands
  const [source, goal] = [resolvePath(cwd, from), resolvePath(cwd, to)]
  const fail = (reason: string) => report.fail(`cannot create link ${shownName(to)} to ${shownName(from)}: ${reason}`)
  try {
    const stat = fs.lstat(source)
    if (kindAt(fs, goal) !== null) fail('File exists')
    else if (stat.kind === 'directory') fail('Operation not permitted')
    else if (stat.kind === 'symlink') fs.symlink(fs.readLink(source), goal)
    else {
      await fs.write(goal, await fs.read(source), { mode: stat.mode })
      fs.chmod(goal, stat.mode)
      fs.utimes(goal, stat.mtimeMs)
    }
  } catch (error) {
    if (!isFileError(error)) throw error
    fail(shellMessage(error))
  }
  return report.result
}

/** Writes are stored at once. */
export const runSync: Run = async (args, { fs, cwd }) => {
  const spec: GnuSpec = { name: 'sync', letters: 'df', long: { data: 'd', 'file-system': 'f' } }
  const read = readGnuOptions(args, spec)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const report = new Report('sync')
  for (const name of read.operands) {
    if (!fs.exists(resolvePath(cwd, name))) report.fail(`error opening ${shownName(name)}: No such file or directory`)
  }
  return report.result
}

// `mkdir`, like GNU's.

import { FileSystemError, isFileError } from '../../../../workspace/file-system.ts'
import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { modeChange } from './modes.ts'
import { isFolder, quotedWord, Report, shownName } from './names.ts'

const SPEC: GnuSpec = { name: 'mkdir', letters: 'm:pv', long: { 'mode=': 'm', parents: 'p', verbose: 'v' } }

export async function mkdir(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.operands.length === 0) return misuse(SPEC, 'missing operand')
  const asked = read.value('m')
  const change = asked === undefined ? null : modeChange(asked)
  const report = new Report('mkdir')
  if (asked !== undefined && change === null) {
    report.fail(`invalid mode ${quotedWord(asked)}`)
    return report.result
  }
  const { fs, cwd } = context
  for (const name of read.operands) {
    try {
      const made = read.has('p') ? await makeAll(name, context) : [name]
      if (!read.has('p')) await fs.mkdir(fs.resolvePath(cwd, name))
      if (change && made.length > 0) await fs.chmod(fs.resolvePath(cwd, name), change(0o777, true))
      if (read.has('v')) for (const one of made) report.say(`mkdir: created directory ${shownName(one)}`)
    } catch (error) {
      report.fail(
        `cannot create directory ${quotedWord(read.has('p') ? await notMade(name, context) : name)}: ${shellMessage(error)}`,
      )
    }
  }
  return report.result
}

/** The first part of the path that is not a folder. */
async function notMade(name: string, context: Context): Promise<string> {
  const parts = name.split('/')
  for (let count = 1; count < parts.length; count++) {
    const part = parts.slice(0, count).join('/')
    if (part !== '' && !(await isFolder(part, context))) return part
  }
  return name
}

/** Creates missing folders and returns them, the outermost first. */
export async function makeAll(name: string, context: Context): Promise<string[]> {
  const { fs, cwd } = context
  const parts = name.replace(/(?<=[^/])\/+$/, '').split('/')
  const made: string[] = []
  for (let count = 1; count <= parts.length; count++) {
    const part = parts.slice(0, count).join('/')
    if ((part === '' && name !== '') || (await isFolder(part, context))) continue
    try {
      await fs.mkdir(fs.resolvePath(cwd, part))
    } catch (error) {
      // A file in the path is an error.
      if (isFileError(error, 'EEXIST') && count < parts.length)
        throw new FileSystemError('ENOTDIR', error.path, { cause: error })
      throw error
    }
    made.push(part)
  }
  return made
}

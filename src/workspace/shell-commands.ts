// Commands that are ours instead of the interpreter's: its `env` shows variables that were never exported and hides
// those that it sets from a shell that it runs, and its `rm` looks through a link where it should look at it.

import type { defineCommand } from 'just-bash/browser'
import { type FileErrorCode, isFileError } from './file-system.ts'

type Execute = Parameters<typeof defineCommand>[1]
export type Context = Parameters<Execute>[1]
export type Result = Awaited<ReturnType<Execute>>

/** File errors as the tools of a Unix system word them. */
const MESSAGES: Partial<Record<FileErrorCode, string>> = {
  EBUSY: 'Device or resource busy',
  EEXIST: 'File exists',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  EROFS: 'Read-only file system',
}

/** The message for an error of the file tree; whatever else was thrown is thrown on. */
export function shellMessage(error: unknown): string {
  if (!isFileError(error)) throw error
  return MESSAGES[error.code] ?? error.message
}

/** Sets, takes away and shows exported variables, and runs a command with them. */
export async function env(args: string[], context: Context): Promise<Result> {
  const exported = context.exportedEnv ?? {}
  const set = new Map<string, string>()
  const unset = new Set<string>()
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    const [, unsetName] = /^(?:-u|--unset=)(.+)$/s.exec(arg) ?? []
    if (arg === '-' || arg === '-i' || arg === '--ignore-environment') for (const name in exported) unset.add(name)
    else if (arg === '-u' || arg === '--unset') unset.add(args[++at] ?? '')
    else if (unsetName !== undefined) unset.add(unsetName)
    else if (/^[A-Za-z_]\w*=/.test(arg)) set.set(arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1))
    else if (arg.startsWith('-') && arg !== '--') return envFailure(`option ${arg} is not available here`)
    else break
  }
  const command = args.slice(args[at] === '--' ? at + 1 : at)
  if (command.length === 0) {
    const kept = Object.entries(exported).filter(([name]) => !unset.has(name) && !set.has(name))
    const lines = [...kept, ...set].map(([name, value]) => `${name}=${value}\n`)
    return { stdout: lines.join(''), stderr: '', exitCode: 0 }
  }
  const run = context.execWithInheritedStdin ?? context.exec
  if (!run) return envFailure('cannot run commands here')
  const kept = Object.fromEntries([...Object.entries(exported).filter(([name]) => !unset.has(name)), ...set])
  const script = withVariables(command.map(quoted).join(' '), { exportedEnv: kept })
  const removed = [...unset].filter((name) => IS_NAME.test(name) && !set.has(name))
  return run(removed.length > 0 ? `unset ${removed.join(' ')}; ${script}` : script, { cwd: context.cwd })
}

const IS_NAME = /^[A-Za-z_]\w*$/

/** A command that a command runs sees the variables that were set for that one alone (`A=1 env sh`) only so. */
export function withVariables(command: string, { exportedEnv = {} }: Pick<Context, 'exportedEnv'>): string {
  const set = Object.entries(exportedEnv).filter(([name]) => IS_NAME.test(name))
  return `${set.map(([name, value]) => `${name}=${quoted(value)} `).join('')}${command}`
}

function envFailure(message: string): Result {
  return { stdout: '', stderr: `env: ${message}\n`, exitCode: 125 }
}

/**
 * Runs the script file that is its first argument, as a name with a slash in it does. The interpreter would run such a
 * file outside everything that lets a script be paused, and would take any text for shell.
 */
export async function runFile([name = '', ...args]: string[], context: Context): Promise<Result> {
  const path = context.fs.resolvePath(context.cwd, name)
  try {
    const { isDirectory, mode } = await context.fs.stat(path)
    if (isDirectory) return runFailure(name, 'Is a directory', 126)
    if ((mode & 0o111) === 0) return runFailure(name, 'Permission denied', 126)
    const [firstLine = ''] = (await context.fs.readFile(path)).split('\n', 1)
    const interpreter = /^#!\s*(.*\S)/.exec(firstLine)?.[1]
    if (interpreter && !/\b(ba|da|a|k|z)?sh\b/.test(interpreter)) {
      return runFailure(name, `${interpreter}: bad interpreter: No such file or directory`, 126)
    }
  } catch (error) {
    return runFailure(name, shellMessage(error), 127)
  }
  const run = context.execWithInheritedStdin ?? context.exec
  if (!run) return runFailure(name, 'cannot be run here', 126)
  return run(['bash', name, ...args].map(quoted).join(' '), { cwd: context.cwd })
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

function runFailure(name: string, why: string, exitCode: number): Result {
  return { stdout: '', stderr: `bash: ${name}: ${why}\n`, exitCode }
}

const RM_FLAGS: Record<string, string> = {
  '--recursive': 'r',
  '--force': 'f',
  '--verbose': 'v',
  '--dir': 'd',
  '--no-preserve-root': '',
}

export async function rm(args: string[], context: Context): Promise<Result> {
  const end = args.indexOf('--')
  const options = (end < 0 ? args : args.slice(0, end)).filter((arg) => /^-./.test(arg))
  const operands = args.filter((arg, i) => i !== end && ((end >= 0 && i > end) || !/^-./.test(arg)))
  const flags = options
    .map((option) => (option.startsWith('--') ? (RM_FLAGS[option] ?? '?') : option.slice(1)))
    .join('')
  const unknown = /[^rRfvdiI]/.exec(flags)
  if (unknown)
    return failure(options.includes('--help') ? 'usage: rm [-rfvd] FILE...' : `invalid option: ${options.join(' ')}`)
  const force = flags.includes('f')
  if (operands.length === 0 && !force) return failure('missing operand')
  const result = { stdout: '', stderr: '', exitCode: 0 }
  for (const operand of operands) {
    const problem = await removeOne(operand, flags, context)
    if (problem === null && flags.includes('v')) result.stdout += `removed '${operand}'\n`
    if (problem === null || (force && problem === MESSAGES.ENOENT)) continue
    result.stderr += `rm: cannot remove '${operand}': ${problem}\n`
    result.exitCode = 1
  }
  return result
}

/** Null when it is gone, else why not. */
async function removeOne(operand: string, flags: string, { fs, cwd }: Context): Promise<string | null> {
  if (/(^|\/)\.\.?\/*$/.test(operand)) return "Refusing to remove '.' or '..'"
  const path = fs.resolvePath(cwd, operand)
  const recursive = /[rR]/.test(flags)
  try {
    const { isDirectory } = await fs.lstat(path)
    if (isDirectory && !recursive && !flags.includes('d')) return 'Is a directory'
    await fs.rm(path, { recursive })
    return null
  } catch (error) {
    return shellMessage(error)
  }
}

function failure(message: string): Result {
  return { stdout: '', stderr: `rm: ${message}\n`, exitCode: 1 }
}

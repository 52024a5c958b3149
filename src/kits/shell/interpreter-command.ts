// The interpreter's type of a command, and common code of our commands.

import type { defineCommand } from 'just-bash/browser'
import { type FileErrorCode, isFileError } from '../../workspace/file-system.ts'
import { bytesToText } from '../../workspace/text-encodings.ts'

type Execute = Parameters<typeof defineCommand>[1]
export type Context = Parameters<Execute>[1]
export type Result = Awaited<ReturnType<Execute>>

export const NO_SUCH_FILE = 'No such file or directory'

/** File errors with the messages of Unix tools. */
const MESSAGES: Partial<Record<FileErrorCode, string>> = {
  EACCES: 'Permission denied',
  EBUSY: 'Device or resource busy',
  EEXIST: 'File exists',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
  ENOENT: NO_SUCH_FILE,
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  EROFS: 'Read-only file system',
}

/** The message for an error of the file tree; any other error is rethrown. */
export function shellMessage(error: unknown): string {
  if (!isFileError(error)) throw error
  return MESSAGES[error.code] ?? error.message
}

export const IS_NAME = /^[A-Za-z_]\w*$/

export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** A command run by another command sees the variables set only for that one (`A=1 env sh`) in this way. */
export function withVariables(command: string, { exportedEnv = {} }: Pick<Context, 'exportedEnv'>): string {
  const set = Object.entries(exportedEnv).filter(([name]) => IS_NAME.test(name))
  return `${set.map(([name, value]) => `${name}=${quoted(value)} `).join('')}${command}`
}

/** Exported functions, which a command passes on to its child commands. */
export function passedFunctions({ exportedEnv = {} }: Pick<Context, 'exportedEnv'>): { env?: Record<string, string> } {
  const passed = Object.entries(exportedEnv).filter(([name]) => /^BASH_FUNC_.+%%$/.test(name))
  return passed.length > 0 ? { env: Object.fromEntries(passed) } : {}
}

const ABOVE_ASCII = /[^\0-\x7f]/

/** The output of a command, one character per byte. */
export function inBytes({ stdout, stdoutKind, stdoutEncoding }: Result): string {
  if (stdoutKind === 'bytes' || stdoutEncoding === 'binary' || !ABOVE_ASCII.test(stdout)) return stdout
  return bytesToText(new TextEncoder().encode(stdout), 'latin1')
}

/** The interpreter's own command of that name, which is replaced by one of ours. */
export function original(name: string, { origCommand }: Context): NonNullable<Context['origCommand']> {
  return origCommand ?? (async () => ({ stdout: '', stderr: `${name}: not available here\n`, exitCode: 127 }))
}

/** For a command that ran out of stack: no source line of this program is shown. Any other error is rethrown. */
export function nestedTooDeeply(name: string, error: unknown): Result {
  if (!(error instanceof RangeError && /call stack/i.test(error.message))) throw error
  return { stdout: '', stderr: `${name}: nested too deeply\n`, exitCode: 2 }
}

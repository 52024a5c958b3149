// A command as the interpreter takes one, and what commands of ours have in common.

import type { defineCommand } from 'just-bash/browser'
import { type FileErrorCode, isFileError } from '../../workspace/file-system.ts'
import { bytesToText } from '../../workspace/text-encodings.ts'

type Execute = Parameters<typeof defineCommand>[1]
export type Context = Parameters<Execute>[1]
export type Result = Awaited<ReturnType<Execute>>

export const NO_SUCH_FILE = 'No such file or directory'

/** File errors as the tools of a Unix system word them. */
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

/** The message for an error of the file tree; whatever else was thrown is thrown on. */
export function shellMessage(error: unknown): string {
  if (!isFileError(error)) throw error
  return MESSAGES[error.code] ?? error.message
}

export const IS_NAME = /^[A-Za-z_]\w*$/

export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** A command that a command runs sees the variables that were set for that one alone (`A=1 env sh`) only so. */
export function withVariables(command: string, { exportedEnv = {} }: Pick<Context, 'exportedEnv'>): string {
  const set = Object.entries(exportedEnv).filter(([name]) => IS_NAME.test(name))
  return `${set.map(([name, value]) => `${name}=${quoted(value)} `).join('')}${command}`
}

/** Functions that were exported, which a command passes on to what it runs. */
export function passedFunctions({ exportedEnv = {} }: Pick<Context, 'exportedEnv'>): { env?: Record<string, string> } {
  const passed = Object.entries(exportedEnv).filter(([name]) => /^BASH_FUNC_.+%%$/.test(name))
  return passed.length > 0 ? { env: Object.fromEntries(passed) } : {}
}

const ABOVE_ASCII = /[^\0-\x7f]/

/** What a command wrote, one character a byte. */
export function inBytes({ stdout, stdoutKind, stdoutEncoding }: Result): string {
  if (stdoutKind === 'bytes' || stdoutEncoding === 'binary' || !ABOVE_ASCII.test(stdout)) return stdout
  return bytesToText(new TextEncoder().encode(stdout), 'latin1')
}

/** The interpreter's own command of the name, which one of ours stands before. */
export function original(name: string, { origCommand }: Context): NonNullable<Context['origCommand']> {
  return origCommand ?? (async () => ({ stdout: '', stderr: `${name}: not available here\n`, exitCode: 127 }))
}

/** For a command that ran out of stack: no line of this program is shown for it. Whatever else was thrown is thrown on. */
export function nestedTooDeeply(name: string, error: unknown): Result {
  if (!(error instanceof RangeError && /call stack/i.test(error.message))) throw error
  return { stdout: '', stderr: `${name}: nested too deeply\n`, exitCode: 2 }
}

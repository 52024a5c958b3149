// Shows and joins file names for the file commands.

import { isFileError } from '../../../../workspace/file-system.ts'
import type { Context } from '../../interpreter-command.ts'

type Stat = Awaited<ReturnType<Context['fs']['stat']>>

/** The last part, without trailing slashes. `.` and `..` are unchanged. */
export function baseName(name: string): string {
  const plain = name.replace(/\/+$/, '')
  return plain === '' ? '/' : plain.slice(plain.lastIndexOf('/') + 1)
}

export function joinedPath(folder: string, name: string): string {
  return folder.endsWith('/') ? folder + name : `${folder}/${name}`
}

export async function isFolder(name: string, { fs, cwd }: Pick<Context, 'fs' | 'cwd'>): Promise<boolean> {
  return (await statIfAny(name, { fs, cwd }))?.isDirectory ?? false
}

/** Links are followed. */
export async function statIfAny(name: string, { fs, cwd }: Pick<Context, 'fs' | 'cwd'>): Promise<Stat | null> {
  return orNull(fs.stat(fs.resolvePath(cwd, name)))
}

export async function lstatIfAny(name: string, { fs, cwd }: Pick<Context, 'fs' | 'cwd'>): Promise<Stat | null> {
  return orNull(fs.lstat(fs.resolvePath(cwd, name)))
}

async function orNull(stat: Promise<Stat>): Promise<Stat | null> {
  try {
    return await stat
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

/** The form of a name in messages. */
export function shownName(name: string): string {
  if (!/['\s\\]/.test(name.replaceAll(' ', ''))) return `'${name}'`
  return name.includes("'") && !/["$`\\\n\t]/.test(name) ? `"${name}"` : `'${name.replaceAll("'", "'\\''")}'`
}

/** In quotes only if the shell would need them. */
export const wordName = (name: string): string => (/^[\p{L}\p{N}_./,:=@%+-]+$/u.test(name) ? name : shownName(name))

/** The form in messages of a word that is not a file name. */
export const quotedWord = (word: string): string => `\u2018${word}\u2019`

/** The output and result of a command so far. */
export class Report {
  stdout = ''
  stderr = ''
  exitCode = 0
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  fail(message: string): void {
    this.stderr += `${this.#name}: ${message}\n`
    this.exitCode = 1
  }

  say(line: string): void {
    this.stdout += `${line}\n`
  }

  get result(): { stdout: string; stderr: string; exitCode: number } {
    return { stdout: this.stdout, stderr: this.stderr, exitCode: this.exitCode }
  }
}

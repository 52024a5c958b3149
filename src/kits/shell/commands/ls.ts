// `ls` like GNU's: the interpreter's version supports few options, follows links and invents modes and times.

import { isFileError } from '../../../workspace/file-system.ts'
import { type Context, type Result, shellMessage } from '../interpreter-command.ts'
import { groupOf, type Listed, quotedName, shownLines, sizedTotal } from './ls-lines.ts'
import { type LsOptions, lsOptions } from './ls-options.ts'
import { versionText } from './versions.ts'

export async function ls(args: string[], context: Context): Promise<Result> {
  const version = versionText('ls', args)
  if (version !== null) return { stdout: version, stderr: '', exitCode: 0 }
  const read = lsOptions(args, context.exportedEnv ?? {})
  if (!read.ok) return { stdout: '', stderr: `ls: ${read.problem}\n`, exitCode: read.exitCode }
  if (read.help !== null) return { stdout: read.help, stderr: '', exitCode: 0 }
  const listing = new Listing(context, read.options)
  await listing.show(read.operands.length > 0 ? read.operands : ['.'])
  return { stdout: listing.text, stderr: listing.problems, exitCode: listing.exitCode }
}

class Listing {
  text = ''
  problems = ''
  exitCode = 0
  readonly #context: Context
  readonly #options: LsOptions

  constructor(context: Context, options: LsOptions) {
    this.#context = context
    this.#options = options
  }

  async show(operands: readonly string[]): Promise<void> {
    const { flags } = this.#options
    const files: Listed[] = []
    const folders: Listed[] = []
    for (const name of operands) {
      const listed = await this.#look(name, this.#followsOperand(name), 2)
      if (listed === null) continue
      if (listed.stat.isDirectory && !flags.has('d')) folders.push(listed)
      else files.push(listed)
    }
    this.text += shownLines(groupOf(files, this.#options), this.#options)
    for (const { name } of groupOf(folders, this.#options)) {
      await this.#showFolder(name, operands.length > 1 || flags.has('R'))
    }
  }

  async #showFolder(folder: string, hasHeader: boolean): Promise<void> {
    const { flags } = this.#options
    const found = await this.#entries(folder)
    if (found === null) return
    if (this.text !== '') this.text += '\n'
    if (hasHeader) this.text += `${quotedName(folder, flags)}:\n`
    const group = groupOf(found, this.#options)
    if (flags.has('l') || flags.has('s'))
      this.text += `total ${sizedTotal(group, this.#options)}${flags.has('zero') ? '\0' : '\n'}`
    this.text += shownLines(group, this.#options)
    if (!flags.has('R')) return
    for (const { name, stat } of group) {
      if (!stat.isDirectory || name === '.' || name === '..') continue
      await this.#showFolder(`${folder.replace(/\/$/, '')}/${name}`, true)
    }
  }

  async #entries(folder: string): Promise<Listed[] | null> {
    const { fs, cwd } = this.#context
    const { flags, isLeftOut } = this.#options
    let names: string[]
    try {
      names = await fs.readdir(fs.resolvePath(cwd, folder))
    } catch (error) {
      this.#complain('open directory', folder, { error, exitCode: 2 })
      return null
    }
    const shown = names.filter((name) => !isLeftOut(name))
    const found: Listed[] = []
    for (const name of flags.has('a') ? ['.', '..', ...shown] : shown) {
      const listed = await this.#look(`${folder.replace(/\/$/, '')}/${name}`, flags.has('L'), 1)
      if (listed) found.push({ ...listed, name })
    }
    return found
  }

  /** A given link to a folder lists the folder, unless information about the link is requested. */
  #followsOperand(name: string): boolean {
    const { flags } = this.#options
    return flags.has('L') || flags.has('H') || name.endsWith('/') || !['l', 'd', 'F'].some((flag) => flags.has(flag))
  }

  async #look(name: string, follows: boolean, exitCode: number): Promise<Listed | null> {
    const { fs, cwd } = this.#context
    const { flags } = this.#options
    const path = fs.resolvePath(cwd, name)
    try {
      let stat = await fs.lstat(path)
      // A broken link is shown itself, unless links must be followed.
      const mustFollow = this.#options.flags.has('L') || (exitCode === 2 && this.#options.flags.has('H'))
      if (stat.isSymbolicLink && mustFollow) stat = await fs.stat(path)
      else if (stat.isSymbolicLink && follows) stat = await fs.stat(path).catch((error) => orLoop(error, stat))
      if (stat.isFile && name.endsWith('/')) throw new NotAFolder()
      const target = stat.isSymbolicLink ? await fs.readlink(path) : null
      const end = target === null ? stat : await fs.stat(path).catch(() => null)
      return { name, stat, target, end, links: stat.isDirectory ? await this.#linksOf(path) : 1 }
    } catch (error) {
      // If only names are shown, no metadata is read.
      if (
        exitCode === 1 &&
        isFileError(error) &&
        !['l', 's', 'F', 'p', 'R', 't', 'S', 'first'].some((flag) => flags.has(flag))
      )
        return { name, stat: UNKNOWN, target: null, end: null, links: 1 }
      this.#complain('access', name, { error, exitCode })
      return null
    }
  }

  /** A folder's links are its own name, `.`, and `..` of each subfolder. Only long listings show them. */
  async #linksOf(path: string): Promise<number> {
    if (!this.#options.flags.has('l')) return 2
    const { fs } = this.#context
    const entries = (await fs.readdirWithFileTypes?.(path).catch(noneIfDenied)) ?? []
    return 2 + entries.filter(({ isDirectory, isSymbolicLink }) => isDirectory && !isSymbolicLink).length
  }

  #complain(what: string, name: string, { error, exitCode }: { error: unknown; exitCode: number }): void {
    const message = error instanceof NotAFolder ? 'Not a directory' : shellMessage(error)
    this.problems += `ls: cannot ${what} '${name}': ${message}\n`
    this.exitCode = Math.max(this.exitCode, exitCode)
  }
}

const UNKNOWN: Listed['stat'] = {
  isFile: false,
  isDirectory: false,
  isSymbolicLink: false,
  mode: 0,
  size: 0,
  mtime: new Date(0),
}

/** A link in a loop has a target that cannot be found. */
function orLoop<Stat>(error: unknown, itself: Stat): Stat {
  if (isFileError(error, 'ELOOP')) throw error
  return itself
}

class NotAFolder extends Error {}

function noneIfDenied(error: unknown): [] {
  if (isFileError(error, 'EACCES')) return []
  throw error
}

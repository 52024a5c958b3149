// `ls` as GNU's: the interpreter's knows few of its options, follows links and makes up the modes and times.

import { type Context, type Result, shellMessage } from '../interpreter-command.ts'
import { groupOf, type Listed, shownLines, sizedTotal } from './ls-lines.ts'
import { readOptions } from './options.ts'

const FLAGS: Record<string, string> = {
  ...Object.fromEntries([...'aAl1dRhtSrFpinogGULXvfNCxk'].map((letter) => [`-${letter}`, letter])),
  '--all': 'a',
  '--almost-all': 'A',
  '--directory': 'd',
  '--recursive': 'R',
  '--human-readable': 'h',
  '--reverse': 'r',
  '--classify': 'F',
  '--inode': 'i',
  '--numeric-uid-gid': 'n',
  '--no-group': 'G',
  '--dereference': 'L',
  '--group-directories-first': 'first',
  '--full-time': 'full',
  '--help': 'help',
  '--color': 'plain',
}

const VALUES = { '--sort': 'sort', '--time-style': 'style', '--format': 'format' }

const SORTS: Record<string, string> = { time: 't', size: 'S', none: 'U', extension: 'X', version: 'v' }

const USAGE = `usage: ls [-1AaCdFfGghikLlnopRrStUvXx] [--color] [--full-time] [--group-directories-first]
          [--sort=WORD] [--time-style=STYLE] [FILE]...
`

export interface LsOptions {
  flags: ReadonlySet<string>
  timeStyle: string
}

export async function ls(args: string[], context: Context): Promise<Result> {
  const read = readOptions(
    // What it colours and marks depends on a terminal, and there is none.
    args.map((arg) => (/^--colou?r(=|$)/.test(arg) ? '--color' : arg.replace(/^--classify=.*/, '--classify'))),
    { flags: FLAGS, values: VALUES },
  )
  if (!read.ok) return { stdout: '', stderr: `ls: ${read.problem}\n`, exitCode: 2 }
  if (read.flags.has('help')) return { stdout: USAGE, stderr: '', exitCode: 0 }
  const flags = read.flags
  const last = (name: string) => read.values.get(name)?.at(-1)
  const sort = SORTS[last('sort') ?? '']
  if (sort !== undefined) flags.add(sort)
  if (last('format') === 'long' || ['n', 'o', 'g', 'full'].some((flag) => flags.has(flag))) flags.add('l')
  if (flags.has('f')) for (const flag of ['a', 'U']) flags.add(flag)
  const timeStyle = flags.has('full') ? 'full-iso' : (last('style') ?? 'locale')
  const listing = new Listing(context, { flags, timeStyle })
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
      const listed = await this.#look(name, this.#followsOperand(name))
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
    if (hasHeader) this.text += `${folder}:\n`
    const group = groupOf(found, this.#options)
    if (flags.has('l')) this.text += `total ${sizedTotal(group, this.#options)}\n`
    this.text += shownLines(group, this.#options)
    if (!flags.has('R')) return
    for (const { name, stat } of group) {
      if (!stat.isDirectory || name === '.' || name === '..') continue
      await this.#showFolder(`${folder.replace(/\/$/, '')}/${name}`, true)
    }
  }

  async #entries(folder: string): Promise<Listed[] | null> {
    const { fs, cwd } = this.#context
    const { flags } = this.#options
    let names: string[]
    try {
      names = await fs.readdir(fs.resolvePath(cwd, folder))
    } catch (error) {
      this.#complain('open directory', folder, error)
      return null
    }
    const isAll = flags.has('a')
    const shown = names.filter((name) => isAll || flags.has('A') || !name.startsWith('.'))
    const found: Listed[] = []
    for (const name of isAll ? ['.', '..', ...shown] : shown) {
      const listed = await this.#look(`${folder.replace(/\/$/, '')}/${name}`, flags.has('L'))
      if (listed) found.push({ ...listed, name })
    }
    return found
  }

  /** A link to a folder that is named shows the folder, unless the link itself is what is asked about. */
  #followsOperand(name: string): boolean {
    const { flags } = this.#options
    return flags.has('L') || name.endsWith('/') || !['l', 'd', 'F'].some((flag) => flags.has(flag))
  }

  async #look(name: string, follows: boolean): Promise<Listed | null> {
    const { fs, cwd } = this.#context
    const path = fs.resolvePath(cwd, name)
    try {
      let stat = await fs.lstat(path)
      if (stat.isSymbolicLink && follows) stat = await fs.stat(path).catch(() => stat)
      return { name, stat, target: stat.isSymbolicLink ? await fs.readlink(path) : null }
    } catch (error) {
      this.#complain('access', name, error)
      return null
    }
  }

  #complain(what: string, name: string, error: unknown): void {
    this.problems += `ls: cannot ${what} '${name}': ${shellMessage(error)}\n`
    this.exitCode = 2
  }
}

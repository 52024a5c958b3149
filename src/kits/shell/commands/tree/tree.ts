// `tree` like its version 2.

import { zoneOf } from '../../../../lib/clock.ts'
import { type DirectoryEntry, type FileStat, type FileSystem, isFileError } from '../../../../workspace/file-system.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { modeText, OWNER, sizeOf } from '../file-facts.ts'
import { formatTime, listTime } from '../file-times.ts'
import { pathOf, statOrLink } from '../inputs.ts'
import { compareVersions } from '../version-order.ts'
import { type TreeSettings, treeSettings } from './settings.ts'

interface Branch {
  name: string
  path: string
  stat: FileStat
  target: string | null
  /** For a link, of its target. */
  isFolder: boolean
  isExecutable: boolean
  inside: Branch[]
  note: string
}

export async function runTree(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const settings = treeSettings(args)
  if (typeof settings === 'string') return { stdout: '', stderr: `${settings}\n`, exitCode: 1 }
  if (settings.flags.has('help')) return { stdout: 'usage: tree [options] [directory ...]\n', stderr: '', exitCode: 0 }
  const drawing = new Drawing(settings, call)
  for (const operand of settings.operands) await drawing.operand(operand)
  return drawing.result()
}

class Drawing {
  readonly #settings: TreeSettings
  readonly #call: ShellCall
  readonly #nowMs = Date.now()
  readonly #lines: string[] = []
  #folders = 0
  #files = 0
  #exitCode = 0

  constructor(settings: TreeSettings, call: ShellCall) {
    this.#settings = settings
    this.#call = call
  }

  async operand(name: string): Promise<void> {
    const path = pathOf(this.#call, name)
    let root: Branch
    try {
      root = this.#branch(name, path)
    } catch (error) {
      if (!isFileError(error)) throw error
      this.#lines.push(`${name}  [error opening dir]`)
      this.#exitCode = 2
      return
    }
    const shown = root.target === null ? root : { ...root, target: null }
    if (!root.isFolder) {
      this.#files++
      this.#lines.push(`${this.#described(shown, name)}  [error opening dir]`)
      return
    }
    root.inside = await this.#inside(root, 1, [root.stat.inode])
    // A folder without shown contents does not count.
    if (root.inside.length > 0) this.#folders++
    this.#lines.push(this.#described(shown, name))
    this.#draw(root.inside, '', name.replace(/(?<=.)\/$/, ''))
  }

  result(): ShellResult {
    const { flags } = this.#settings
    const many = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`
    const folders = many(this.#folders, 'directory', 'directories')
    const report = flags.has('d') ? folders : `${folders}, ${many(this.#files, 'file', 'files')}`
    const stdout = this.#lines.map((line) => `${line}\n`).join('') + (flags.has('noreport') ? '' : `\n${report}\n`)
    return { stdout, stderr: '', exitCode: this.#exitCode }
  }

  #branch(name: string, path: string): Branch {
    const { fs } = this.#call
    const stat = fs.lstat(path)
    const end = stat.kind === 'symlink' ? statOrLink(this.#call, path) : stat
    const target = stat.kind === 'symlink' ? fs.readLink(path) : null
    const isExecutable = end.kind === 'file' && (end.mode & 0o111) !== 0
    return { name, path, stat, target, isFolder: end.kind === 'directory', isExecutable, inside: [], note: '' }
  }

  async #inside(folder: Branch, depth: number, above: readonly number[]): Promise<Branch[]> {
    const { flags, maxDepth, shown, hidden } = this.#settings
    const pause = this.#call.pause()
    if (pause) await pause
    const found: Branch[] = []
    for (const { name } of this.#entries(folder)) {
      if (name.startsWith('.') && !flags.has('a')) continue
      const branch = this.#branch(name, `${folder.path === '/' ? '' : folder.path}/${name}`)
      const isRealFolder = branch.stat.kind === 'directory'
      if (hidden?.(name, branch.isFolder)) continue
      if (shown && !isRealFolder && !shown(name, branch.isFolder)) continue
      if (flags.has('d') && !branch.isFolder) continue
      if (isRealFolder || (branch.isFolder && flags.has('l'))) await this.#fill(branch, depth, above)
      if (flags.has('prune') && branch.isFolder && branch.inside.length === 0 && depth < maxDepth) continue
      found.push(branch)
    }
    return this.#sorted(found)
  }

  #entries(folder: Branch): DirectoryEntry[] {
    try {
      return this.#call.fs.list(folder.path)
    } catch (error) {
      if (!isFileError(error, 'EACCES')) throw error
      folder.note = '  [error opening dir]'
      return []
    }
  }

  async #fill(branch: Branch, depth: number, above: readonly number[]): Promise<void> {
    if (depth >= this.#settings.maxDepth) return
    const { inode } = inodeOf(this.#call.fs, branch.path)
    if (above.includes(inode)) branch.note = '  [recursive, not followed]'
    else branch.inside = await this.#inside(branch, depth + 1, [...above, inode])
  }

  #sorted(found: Branch[]): Branch[] {
    const { flags, sort } = this.#settings
    const byName = (a: Branch, b: Branch) => (a.name < b.name ? -1 : 1)
    const orders: Record<TreeSettings['sort'], (a: Branch, b: Branch) => number> = {
      name: byName,
      none: () => 0,
      version: (a, b) => compareVersions(a.name, b.name),
      mtime: (a, b) => a.stat.mtimeMs - b.stat.mtimeMs || byName(a, b),
      size: (a, b) => sizeOf(b.stat) - sizeOf(a.stat) || byName(a, b),
    }
    const sorted = found.sort(orders[sort])
    if (flags.has('r')) sorted.reverse()
    const wanted = flags.has('dirsfirst') ? true : flags.has('filesfirst') ? false : null
    if (wanted === null) return sorted
    return [
      ...sorted.filter(({ isFolder }) => isFolder === wanted),
      ...sorted.filter(({ isFolder }) => isFolder !== wanted),
    ]
  }

  #draw(branches: readonly Branch[], indent: string, prefix: string): void {
    const { flags } = this.#settings
    branches.forEach((branch, i) => {
      const isLast = i === branches.length - 1
      if (branch.isFolder) this.#folders++
      else this.#files++
      const name = flags.has('f') ? `${prefix === '/' ? '' : prefix}/${branch.name}` : branch.name
      const mark = flags.has('i') ? '' : `${indent}${isLast ? '└── ' : '├── '}`
      this.#lines.push(mark + this.#described(branch, name) + branch.note)
      this.#draw(
        branch.inside,
        `${indent}${isLast ? '    ' : '│\u00a0\u00a0 '}`,
        `${prefix === '/' ? '' : prefix}/${branch.name}`,
      )
    })
  }

  #described(branch: Branch, name: string): string {
    const { flags } = this.#settings
    const { stat, target, isFolder, isExecutable } = branch
    const facts = [
      ...(flags.has('inodes') ? [String(stat.inode).padStart(7)] : []),
      ...(flags.has('p') ? [modeText(stat)] : []),
      ...(flags.has('u') ? [OWNER.name.padEnd(8)] : []),
      ...(flags.has('g') ? [OWNER.name.padEnd(8)] : []),
      ...(flags.has('h') ? [humanSize(sizeOf(stat))] : flags.has('s') ? [String(sizeOf(stat)).padStart(11)] : []),
      ...(flags.has('D') ? [this.#time(stat.mtimeMs)] : []),
    ]
    const sign = flags.has('F') ? (isFolder ? '/' : isExecutable ? '*' : '') : ''
    const shown = target === null ? name : `${name} -> ${target}`
    return `${facts.length > 0 ? `[${facts.join(' ')}]  ` : ''}${shown}${shown.endsWith('/') && sign === '/' ? '' : sign}`
  }

  #time(ms: number): string {
    const { timeFormat } = this.#settings
    const zone = zoneOf(this.#call.env.TZ ?? '')
    return timeFormat === null ? listTime(ms, this.#nowMs, zone) : formatTime(timeFormat, ms, zone)
  }
}

const inodeOf = (fs: FileSystem, path: string): FileStat => fs.stat(path)

/** Differs from `ls`: rounded to the nearest value, and the number of decimals depends on the whole part. */
function humanSize(bytes: number): string {
  if (bytes < 1024) return String(bytes).padStart(4)
  let [value, unit] = [bytes, 0]
  for (; value >= 1024 ** 2; unit++) value /= 1024
  const shown = value / 1024
  return `${shown >= 10 ? shown.toFixed(0).padStart(3) : shown.toFixed(1)}${'KMGT'.charAt(unit)}`
}

// Commands about file names: `realpath`, `readlink`, `basename` and `dirname` like GNU's.

import { type FileSystem, FileSystemError, isFileError, MAX_LINKS_FOLLOWED } from '../../../workspace/file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { pathOf } from './inputs.ts'
import { type GnuOption, type GnuSpec, readGnuOptions } from './search-options.ts'

/** The parts of a path that must exist: all, all but the last, or none. */
type Need = 'all' | 'folders' | 'none'

const REALPATH: GnuSpec = {
  letters: 'eLmPqsz',
  long: {
    'canonicalize-existing': 'e',
    'canonicalize-missing': 'm',
    logical: 'L',
    physical: 'P',
    quiet: 'q',
    strip: 's',
    'no-symlinks': 's',
    zero: 'z',
    'relative-to=': 'to',
    'relative-base=': 'base',
  },
}
const READLINK: GnuSpec = {
  letters: 'efmnqsvz',
  long: {
    canonicalize: 'f',
    'canonicalize-existing': 'e',
    'canonicalize-missing': 'm',
    'no-newline': 'n',
    quiet: 'q',
    silent: 's',
    verbose: 'v',
    zero: 'z',
  },
}

class Output {
  stdout = ''
  stderr = ''
  exitCode = 0

  fail(problem: string): void {
    this.stderr += problem === '' ? '' : `${problem}\n`
    this.exitCode = 1
  }
}

function misused(name: string, problem: string): ShellResult {
  return { stdout: '', stderr: `${name}: ${problem}\nTry '${name} --help' for more information.\n`, exitCode: 1 }
}

export async function runRealpath(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readGnuOptions(args, REALPATH)
  if (!read.ok) return misused('realpath', read.problem)
  if (read.operands.length === 0) return misused('realpath', 'missing operand')
  const { options } = read
  const has = (name: string) => options.some((option) => option.name === name)
  const need = needOf(options, 'folders')
  const find = (name: string) =>
    has('s') ? lexical(call, name, need) : canonical(call, has('L') ? pathOf(call, name) : name, need)
  const out = new Output()
  let [to, base]: (string | null)[] = [null, null]
  try {
    const value = (name: string) => options.findLast((option) => option.name === name)?.value ?? null
    const [given, root] = [value('to'), value('base')]
    base = root === null ? null : find(root)
    to = given === null ? base : find(given)
  } catch (error) {
    return { stdout: '', stderr: `realpath: ${shellMessage(error)}\n`, exitCode: 1 }
  }
  for (const name of read.operands) {
    try {
      const path = find(name)
      const isRelative = to !== null && (base === null || (isBelow(path, base) && isBelow(to, base)))
      out.stdout += `${isRelative && to !== null ? relative(to, path) : path}${has('z') ? '\0' : '\n'}`
    } catch (error) {
      if (!isFileError(error)) throw error
      out.fail(has('q') ? '' : `realpath: ${name === '' ? "''" : name}: ${shellMessage(error)}`)
    }
  }
  return out
}

export async function runReadlink(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readGnuOptions(args, READLINK)
  if (!read.ok) return misused('readlink', read.problem)
  if (read.operands.length === 0) return misused('readlink', 'missing operand')
  const has = (name: string) => read.options.some((option) => option.name === name)
  const isWhole = has('f') || has('e') || has('m')
  const end = has('z') ? '\0' : has('n') && read.operands.length === 1 ? '' : '\n'
  // The last of the options is used; the default is silent.
  const isTold = read.options.findLast((option) => 'qsv'.includes(option.name))?.name === 'v'
  const out = new Output()
  for (const name of read.operands) {
    try {
      out.stdout +=
        (isWhole ? canonical(call, name, needOf(read.options, 'folders')) : call.fs.readLink(pathOf(call, name))) + end
    } catch (error) {
      if (!isFileError(error)) throw error
      out.fail(isTold ? `readlink: ${name}: ${error.code === 'EINVAL' ? 'Invalid argument' : shellMessage(error)}` : '')
    }
  }
  return out
}

export async function runBasename(args: readonly string[]): Promise<ShellResult> {
  const read = readGnuOptions(args, { letters: 'as:z', long: { multiple: 'a', 'suffix=': 's', zero: 'z' } })
  if (!read.ok) return misused('basename', read.problem)
  const [first, suffix, extra] = read.operands
  if (first === undefined) return misused('basename', 'missing operand')
  const given = read.options.findLast(({ name }) => name === 's')?.value ?? null
  const isMany = given !== null || read.options.some(({ name }) => name === 'a')
  if (!isMany && extra !== undefined) return misused('basename', `extra operand ‘${extra}’`)
  const end = read.options.some(({ name }) => name === 'z') ? '\0' : '\n'
  const names = isMany ? read.operands : [first]
  const cut = isMany ? (given ?? '') : (suffix ?? '')
  const bases = names.map((name) => {
    const base = /^\/+$/.test(name) ? '/' : (name.replace(/\/+$/, '').split('/').at(-1) ?? '')
    return base !== cut && base.endsWith(cut) ? base.slice(0, base.length - cut.length) : base
  })
  return { stdout: bases.map((base) => base + end).join(''), stderr: '', exitCode: 0 }
}

export async function runDirname(args: readonly string[]): Promise<ShellResult> {
  const read = readGnuOptions(args, { letters: 'z', long: { zero: 'z' } })
  if (!read.ok) return misused('dirname', read.problem)
  if (read.operands.length === 0) return misused('dirname', 'missing operand')
  const end = read.options.length > 0 ? '\0' : '\n'
  const folders = read.operands.map((name) => {
    const bare = name.replace(/(?<=[^/])\/+$/, '')
    const slash = bare.lastIndexOf('/')
    if (slash < 0) return '.'
    return bare.slice(0, slash).replace(/\/+$/, '') || '/'
  })
  return { stdout: folders.map((folder) => folder + end).join(''), stderr: '', exitCode: 0 }
}

function needOf(options: readonly GnuOption[], otherwise: Need): Need {
  const last = options.findLast(({ name }) => ['e', 'f', 'm'].includes(name))?.name
  return last === 'e' ? 'all' : last === 'm' ? 'none' : otherwise
}

/** The path without links, resolved from left to right: `..` is relative to a link's target. */
function canonical({ fs, cwd }: ShellCall, name: string, need: Need): string {
  if (name === '') throw new FileSystemError('ENOENT', name)
  const waiting = partsOf(name.startsWith('/') ? name : `${cwd}/${name}`)
  const found: string[] = []
  let links = 0
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    if (part === '..') {
      found.pop()
      continue
    }
    const path = `/${[...found, part].join('/')}`
    const kind = kindAt(fs, path, need !== 'none' && (need === 'all' || waiting.length > 0))
    if (kind === 'symlink') {
      if (++links > MAX_LINKS_FOLLOWED) throw new FileSystemError('ELOOP', path)
      const target = fs.readLink(path)
      if (target.startsWith('/')) found.length = 0
      waiting.unshift(...partsOf(target))
      continue
    }
    found.push(part)
    const mustBeFolder = waiting.length > 0 || (name.endsWith('/') && need !== 'none')
    if (kind === 'file' && mustBeFolder && need !== 'none') throw new FileSystemError('ENOTDIR', path)
  }
  return `/${found.join('/')}`
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')

function kindAt(fs: FileSystem, path: string, mustBe: boolean): 'file' | 'directory' | 'symlink' | null {
  try {
    return fs.lstat(path).kind
  } catch (error) {
    if (!isFileError(error) || mustBe) throw error
    return null
  }
}

/** Normalized as text only; required parts are still checked. */
function lexical(call: ShellCall, name: string, need: Need): string {
  const path = pathOf(call, name)
  // Existence is checked only if all parts are required.
  if (need !== 'folders') canonical(call, name, need)
  return path
}

const isBelow = (path: string, folder: string): boolean =>
  path === folder || folder === '/' || path.startsWith(`${folder}/`)

function relative(from: string, to: string): string {
  const [start, goal] = [partsOf(from), partsOf(to)]
  let same = 0
  while (same < start.length && same < goal.length && start[same] === goal[same]) same++
  const parts = [...start.slice(same).map(() => '..'), ...goal.slice(same)]
  return parts.length === 0 ? '.' : parts.join('/')
}

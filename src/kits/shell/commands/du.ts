// `du` like GNU's, counting like a disk with blocks of 4 KiB.

import { type Zone, zoneOf } from '../../../lib/clock.ts'
import { type DirectoryEntry, type FileStat, isFileError } from '../../../workspace/file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { diskBytes, humanSize, sizeOf } from './file-facts.ts'
import { formatTime } from './file-times.ts'
import { globExpression } from './globs.ts'
import { pathOf, readInput } from './inputs.ts'
import { type GnuOption, readGnuOptions } from './search-options.ts'

const OPTIONS = {
  letters: '0abcd:hHklLmPsSxB:Dt:X:',
  long: {
    all: 'a',
    'apparent-size': 'apparent',
    'block-size=': 'B',
    bytes: 'b',
    total: 'c',
    dereference: 'L',
    'no-dereference': 'P',
    'max-depth=': 'd',
    'human-readable': 'h',
    si: 'si',
    'count-links': 'l',
    null: '0',
    'one-file-system': 'x',
    'separate-dirs': 'S',
    summarize: 's',
    'exclude=': 'exclude',
    'exclude-from=': 'X',
    'dereference-args': 'D',
    'threshold=': 't',
    inodes: 'inodes',
    'time=?': 'time',
    'time-style=': 'style',
    help: 'help',
  },
}
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  KB: 1000,
  MB: 1e6,
  GB: 1e9,
}

interface Settings {
  flags: ReadonlySet<string>
  maxDepth: number
  isApparent: boolean
  /** The format of a number of bytes. */
  show: (bytes: number) => string
  excluded: RegExp[]
  /** Smaller entries are not listed; if it is negative, larger ones. */
  threshold: number
  /** The format of a time; null without `--time`. */
  time: ((ms: number) => string) | null
}

export async function runDu(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readGnuOptions(args, OPTIONS)
  if (!read.ok) return refused(`${read.problem}\nTry 'du --help' for more information.`)
  const settings = settingsOf(read.options, zoneOf(call.env.TZ ?? ''))
  if (typeof settings === 'string') return refused(settings)
  if (settings.flags.has('help')) return { stdout: 'Usage: du [OPTION]... [FILE]...\n', stderr: '', exitCode: 0 }
  const lists = read.options.filter(({ name }) => name === 'X').map(({ value }) => value ?? '')
  for (const list of lists) {
    try {
      const patterns = new TextDecoder().decode(await readInput(call, list)).split('\n')
      settings.excluded.push(...patterns.filter(Boolean).map((pattern) => globExpression(pattern)))
    } catch (error) {
      return refused(`${list}: ${shellMessage(error)}`)
    }
  }
  const counting = new Counting(settings, call)
  const operands = read.operands.length > 0 ? read.operands : ['.']
  for (const operand of operands) await counting.operand(operand, operands.length > 1)
  return counting.result()
}

const refused = (problem: string): ShellResult => ({ stdout: '', stderr: `du: ${problem}\n`, exitCode: 1 })

function settingsOf(options: readonly GnuOption[], zone: Zone): Settings | string {
  const flags = new Set(options.map(({ name }) => name))
  const last = (name: string) => options.findLast((option) => option.name === name)?.value ?? null
  const depth = last('d')
  if (depth !== null && !/^\d+$/.test(depth))
    return `invalid maximum depth '${depth}'\nTry 'du --help' for more information.`
  if (flags.has('s') && flags.has('a'))
    return "cannot both summarize and show all entries\nTry 'du --help' for more information."
  if (flags.has('s') && depth !== null && Number(depth) > 0) {
    return `warning: summarizing conflicts with --max-depth=${depth}`
  }
  const threshold = thresholdOf(last('t') ?? '0')
  if (threshold === null) return `invalid --threshold argument '${last('t')}'`
  const time = timeShown(options, zone)
  if (typeof time === 'string') return time
  const show = flags.has('inodes') ? String : sizesOf(options)
  if (show === null) return `invalid --block-size argument '${last('B')}'`
  return {
    flags,
    maxDepth: flags.has('s') ? 0 : depth === null ? Number.POSITIVE_INFINITY : Number(depth),
    isApparent: flags.has('b') || flags.has('apparent'),
    show,
    threshold,
    time,
    excluded: options.flatMap(({ name, value }) => (name === 'exclude' ? [globExpression(value ?? '')] : [])),
  }
}

function thresholdOf(text: string): number | null {
  const [, sign, count = '', unit = ''] = /^([-+]?)(\d+)([KMG]?B?)$/.exec(text.replace(/iB$/, '')) ?? []
  const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  return count === '' || size === undefined ? null : (sign === '-' ? -1 : 1) * Number(count) * size
}

/** Only the modification time of a file is stored, so it is used for the others too. */
function timeShown(options: readonly GnuOption[], zone: Zone): Settings['time'] | string {
  const asked = options.findLast(({ name }) => name === 'time')
  if (asked?.value)
    return `--time=${asked.value} is not available here: of a file only the time of its last change is kept`
  const style = options.findLast(({ name }) => name === 'style')?.value ?? 'long-iso'
  const format = style.startsWith('+') ? style.slice(1) : Object.hasOwn(STYLES, style) ? STYLES[style] : undefined
  if (format === undefined) return `invalid argument \u2018${style}\u2019 for \u2018time style\u2019`
  return asked ? (ms) => formatTime(format, ms, zone) : null
}

const STYLES: Readonly<Record<string, string>> = {
  ...{ 'full-iso': '%Y-%m-%d %H:%M:%S.%N %z', 'long-iso': '%Y-%m-%d %H:%M', iso: '%Y-%m-%d' },
}

/** The last option about sizes is used. */
function sizesOf(options: readonly GnuOption[]): Settings['show'] | null {
  const chosen = options.findLast(({ name }) => ['b', 'B', 'h', 'si', 'k', 'm'].includes(name))
  const inUnits = (unit: number) => (bytes: number) => String(Math.ceil(bytes / unit))
  if (chosen?.name === 'h') return (bytes) => humanSize(bytes)
  if (chosen?.name === 'si') return (bytes) => humanSize(bytes, 1000)
  if (chosen?.name === 'b') return inUnits(1)
  if (chosen?.name === 'm') return inUnits(1024 ** 2)
  if (chosen?.name !== 'B') return inUnits(1024)
  const [, count = '', unit = ''] = /^(\d*)([KMG]?B?)$/.exec((chosen.value ?? '').replace(/iB$/, '')) ?? []
  const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  return size === undefined || (count === '' && unit === '') || count === '0'
    ? null
    : (bytes) => inUnits(Number(count || '1') * size)(bytes) + (count === '' ? unit.replace('KB', 'kB') : '')
}

/** With the time of the newest counted file. */
type Counted = { size: number; latestMs: number }

const NOTHING: Counted = { size: 0, latestMs: 0 }

class Counting {
  readonly #settings: Settings
  readonly #call: ShellCall
  readonly #seen = new Set<number>()
  #lines: string[] = []
  #problems = ''
  #total = 0
  #latestMs = 0

  constructor(settings: Settings, call: ShellCall) {
    this.#settings = settings
    this.#call = call
  }

  async operand(name: string, isOneOfMany: boolean): Promise<void> {
    const path = pathOf(this.#call, name)
    try {
      const { flags } = this.#settings
      const stat =
        flags.has('L') || flags.has('D') || flags.has('H') || name.endsWith('/')
          ? this.#call.fs.stat(path)
          : this.#call.fs.lstat(path)
      const { size, latestMs } = await this.#count({ name, path, stat, depth: 0 }, isOneOfMany)
      this.#total += size
      this.#latestMs = Math.max(this.#latestMs, latestMs)
    } catch (error) {
      if (!isFileError(error)) throw error
      this.#problems += `du: cannot access '${name}': ${shellMessage(error)}\n`
    }
  }

  result(): ShellResult {
    const { flags } = this.#settings
    if (flags.has('c')) this.#write({ size: this.#total, name: 'total', latestMs: this.#latestMs })
    return { stdout: this.#lines.join(''), stderr: this.#problems, exitCode: this.#problems === '' ? 0 : 1 }
  }

  /** The bytes of it and everything below; zero if it was counted before. */
  async #count(
    file: { name: string; path: string; stat: FileStat; depth: number },
    isOneOfMany: boolean,
  ): Promise<Counted> {
    const { flags, maxDepth, isApparent, excluded, threshold } = this.#settings
    const { name, path, stat, depth } = file
    if (excluded.some((glob) => glob.test(name) || glob.test(name.slice(name.lastIndexOf('/') + 1)))) return NOTHING
    if (isOneOfMany || flags.has('L')) {
      if (this.#seen.has(stat.inode)) return NOTHING
      this.#seen.add(stat.inode)
    }
    const own = flags.has('inodes') ? 1 : isApparent ? sizeOf(stat) : diskBytes(stat)
    let below = 0
    let latestMs = stat.mtimeMs
    let folders = 0
    if (stat.kind === 'directory') {
      const pause = this.#call.pause()
      if (pause) await pause
      for (const entry of this.#entries(path, name)) {
        const inside = `${path === '/' ? '' : path}/${entry.name}`
        const shown = name.endsWith('/') ? name + entry.name : `${name}/${entry.name}`
        const counted = await this.#count(
          { name: shown, path: inside, stat: this.#look(inside), depth: depth + 1 },
          isOneOfMany,
        )
        below += counted.size
        latestMs = Math.max(latestMs, counted.latestMs)
        if (entry.kind === 'directory') folders += counted.size
      }
    }
    const isListed = depth === 0 || (depth <= maxDepth && (stat.kind === 'directory' || flags.has('a')))
    const size = own + below - (flags.has('S') ? folders : 0)
    const isLarge = threshold < 0 ? size <= -threshold : size >= threshold
    if (isListed && isLarge) this.#write({ size, name, latestMs })
    return { size: own + below, latestMs }
  }

  /** For an unreadable folder, only the folder itself is counted. */
  #entries(path: string, name: string): DirectoryEntry[] {
    try {
      return this.#call.fs.list(path)
    } catch (error) {
      if (!isFileError(error, 'EACCES')) throw error
      this.#problems += `du: cannot read directory '${name}': ${shellMessage(error)}\n`
      return []
    }
  }

  #look(path: string): FileStat {
    const own = this.#call.fs.lstat(path)
    return own.kind === 'symlink' && this.#settings.flags.has('L') ? this.#call.fs.stat(path) : own
  }

  #write({ size, name, latestMs }: Counted & { name: string }): void {
    const { show, time } = this.#settings
    this.#lines.push(
      `${show(size)}\t${time ? `${time(latestMs)}\t` : ''}${name}${this.#settings.flags.has('0') ? '\0' : '\n'}`,
    )
  }
}

// The contents of a new archive: the files below the operands, with their names in it.

import { zoneOf } from '../../../../lib/clock.ts'
import { type FileStat, type FileSystem, isFileError } from '../../../../workspace/file-system.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { timeOf } from '../date-words.ts'
import { MAX_ARCHIVE_BYTES, MAX_ARCHIVE_ENTRIES } from '../file-walk.ts'
import { modeChange } from '../files/modes.ts'
import { OWN, type TarEntry, type TarOwner } from './format.ts'
import { listedNames } from './listed-names.ts'
import { exclusion, transformation, unsafePrefix } from './names.ts'
import type { Operand, TarOptions } from './options.ts'

export interface Packed {
  entries: { entry: TarEntry; path: string; given: string }[]
  problems: string
  hasFailed: boolean
}

type Waiting = { name: string; path: string; isOperand: boolean }

export class Packing {
  readonly #options: TarOptions
  readonly #call: ShellCall
  readonly #target: string | null
  #problems = ''
  #hasFailed = false
  readonly #removedPrefixes = new Set<string>()

  /** `target` is the archive itself. */
  constructor(options: TarOptions, call: ShellCall, target: string | null) {
    this.#options = options
    this.#call = call
    this.#target = target
  }

  /**
   * Throws a `RangeError` for invalid options, and if the limits are exceeded. `isNews` excludes what an archive
   * already has.
   */
  async gather(isNews: (name: string, mtimeMs: number) => boolean): Promise<Packed> {
    const made = this.#maker()
    const isExcluded = exclusion(this.#options, await listedNames(this.#options, 'X', this.#call))
    const entries: Packed['entries'] = []
    let total = 0
    for (const { name, path, stat } of this.#walk(await this.#operands(), isExcluded)) {
      await this.#call.pause()
      if (path === this.#target) {
        this.#problems += `tar: ${name}: file is the archive; not dumped\n`
        continue
      }
      if (!isNews(name, stat.mtimeMs)) continue
      total += stat.kind === 'file' ? stat.sizeBytes : 0
      if (total > MAX_ARCHIVE_BYTES)
        throw new RangeError(`The files are larger than ${MAX_ARCHIVE_BYTES} bytes together`)
      if (entries.length >= MAX_ARCHIVE_ENTRIES)
        throw new RangeError(`There are more than ${MAX_ARCHIVE_ENTRIES} files`)
      entries.push({
        entry: made(this.#safeName(name, stat), stat, await this.#contents(path, stat)),
        path,
        given: name,
      })
    }
    return { entries, problems: this.#problems, hasFailed: this.#hasFailed }
  }

  /** Those of the command line and of the lists, which are in a file or, with `-T -`, in the standard input. */
  async #operands(): Promise<Operand[]> {
    const listed = await listedNames(this.#options, 'T', this.#call)
    return [...this.#options.operands, ...listed.map((name) => ({ name, folder: this.#options.folder }))]
  }

  *#walk(operands: readonly Operand[], isExcluded: (name: string) => boolean) {
    const { fs, cwd } = this.#call
    const isDeep = this.#options.read.given.findLast(({ name }) => name === 'flat' || name === 'deep')?.name !== 'flat'
    for (const { name, folder } of operands) {
      const waiting: Waiting[] = [{ name, path: resolvePath(resolvePath(cwd, folder), name), isOperand: true }]
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (isExcluded(next.name.replace(/(?<=.)\/+$/, ''))) continue
        const stat = this.#statOf(fs, next)
        if (stat === null) continue
        yield { name: next.name, path: next.path, stat }
        if (stat.kind !== 'directory' || !isDeep) continue
        const { name: above, path } = next
        const inside = fs.list(path).map((entry) => ({
          name: `${above.replace(/\/$/, '')}/${entry.name}`,
          path: `${path === '/' ? '' : path}/${entry.name}`,
          isOperand: false,
        }))
        waiting.push(...inside.reverse())
      }
    }
  }

  #statOf(fs: FileSystem, { name, path }: Waiting): FileStat | null {
    try {
      return this.#options.has('h') ? fs.stat(path) : fs.lstat(path)
    } catch (error) {
      if (!isFileError(error)) throw error
      const isIgnored = this.#options.has('ignore-failed')
      this.#problems += `tar: ${name}: ${isIgnored ? 'Warning: ' : ''}Cannot stat: No such file or directory\n`
      if (!isIgnored) this.#hasFailed = true
      return null
    }
  }

  #safeName(name: string, { kind }: FileStat): string {
    const prefix = this.#options.has('P') ? '' : unsafePrefix(name)
    if (prefix !== '' && !this.#removedPrefixes.has(prefix)) {
      this.#removedPrefixes.add(prefix)
      this.#problems += `tar: Removing leading \`${prefix}' from member names\n`
    }
    const rest = name.slice(prefix.length)
    const safe = rest === '' ? '.' : rest
    return kind === 'directory' && !safe.endsWith('/') ? `${safe}/` : safe
  }

  async #contents(path: string, { kind }: FileStat): Promise<{ bytes: Uint8Array; target: string }> {
    const { fs } = this.#call
    const bytes = kind === 'file' ? await fs.read(path) : new Uint8Array()
    return { bytes, target: kind === 'symlink' ? fs.readLink(path) : '' }
  }

  #maker() {
    const transform = transformation(this.#options)
    const owner = ownerOf(this.#options)
    const words = this.#options.read.value('mode')
    const change = words === undefined ? null : modeChange(words)
    if (words !== undefined && change === null) throw new RangeError('Invalid mode given on option')
    const fixed = this.#fixedTime()
    return (
      name: string,
      { kind, mode, mtimeMs }: FileStat,
      held: { bytes: Uint8Array; target: string },
    ): TarEntry => ({
      name: transform(name, 'r'),
      kind,
      mode: change === null || kind === 'symlink' ? mode : change(mode, kind === 'directory'),
      mtimeMs: fixed ?? mtimeMs,
      bytes: held.bytes,
      target: kind === 'symlink' ? transform(held.target, 's') : '',
      owner,
    })
  }

  /** A path stands for the time of that file. */
  #fixedTime(): number | null {
    const words = this.#options.read.value('mtime')
    if (words === undefined) return null
    const { fs, cwd, env } = this.#call
    if (/^[./]/.test(words)) return fs.stat(resolvePath(cwd, words)).mtimeMs
    const zone = zoneOf(env.TZ ?? '')
    const now = { ms: Date.now(), nanoseconds: 0 }
    const instant = timeOf(words, now, (ms) => zone.offsetAt(ms))
    if (instant === null) throw new RangeError(`Invalid date \u2018${words}\u2019`)
    return instant.ms
  }
}

function ownerOf({ read }: TarOptions): TarOwner {
  const owner = { ...OWN }
  const [user, group] = [read.value('owner'), read.value('group')]
  if (user !== undefined) [owner.user, owner.uid] = nameAndNumber(user, 'owner')
  if (group !== undefined) [owner.group, owner.gid] = nameAndNumber(group, 'group')
  return read.has('numeric') ? { ...owner, user: '', group: '' } : owner
}

/** `name:number`, a number alone, or a known name. */
function nameAndNumber(text: string, what: string): [string, number] {
  const [, name = '', number] = /^(.*?):?\+?(\d+)$/s.exec(text) ?? [text, text]
  if (number !== undefined) return [name !== '' ? name : number === '0' ? 'root' : '', Number(number)]
  if (name === 'root') return ['root', 0]
  if (name === OWN.user) return [OWN.user, OWN.uid]
  throw new RangeError(`${name}: Invalid ${what}`)
}

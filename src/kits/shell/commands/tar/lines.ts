// The output of `tar` about an entry.

import { type Zone, zoneOf } from '../../../../lib/clock.ts'
import { letters } from '../files/modes.ts'
import { momentIn, strftime } from '../strftime.ts'
import type { TarEntry } from './format.ts'
import type { TarOptions } from './options.ts'

/**
 * The initial width of owner and size together, with the blank between them; a wider one increases it for all following
 * lines.
 */
const OWNER_AND_SIZE = 19
const TYPES = { directory: 'd', symlink: 'l', link: 'h', file: '-' } as const

export class EntryLines {
  readonly #isLong: boolean
  readonly #isNumeric: boolean
  readonly #format: string
  readonly #zone: Zone
  #width = OWNER_AND_SIZE

  constructor(options: TarOptions, env: Readonly<Record<string, string>>) {
    this.#isLong = options.verbose > (options.mode === 't' ? 0 : 1)
    this.#isNumeric = options.has('numeric')
    this.#format = options.has('full-time') ? '%Y-%m-%d %H:%M:%S' : '%Y-%m-%d %H:%M'
    this.#zone = zoneOf(options.has('utc') ? '' : (env.TZ ?? ''))
  }

  line(entry: TarEntry, name: string): string {
    return this.#isLong ? this.#long(entry, shownName(name, entry)) : `${shownName(name, entry)}\n`
  }

  #long({ kind, mode, mtimeMs, bytes, target, owner }: TarEntry, name: string): string {
    const size = String(kind === 'file' ? bytes.byteLength : 0)
    const user = this.#isNumeric || owner.user === '' ? String(owner.uid) : owner.user
    const group = this.#isNumeric || owner.group === '' ? String(owner.gid) : owner.group
    const taken = user.length + 1 + group.length + 1 + size.length
    this.#width = Math.max(this.#width, taken)
    const moment = momentIn(this.#zone, mtimeMs)
    const link = kind === 'symlink' ? ` -> ${target}` : kind === 'link' ? ` link to ${target}` : ''
    const padded = size.padStart(this.#width - taken + size.length)
    return `${TYPES[kind]}${letters(mode)} ${user}/${group} ${padded} ${strftime(this.#format, moment)} ${name}${link}\n`
  }
}

/** A folder ends with a slash; characters that would break the line are escaped. */
function shownName(name: string, { kind }: TarEntry): string {
  const whole = kind === 'directory' && !name.endsWith('/') ? `${name}/` : name
  return whole.replace(/[\n\t\\]/g, (char) => (char === '\n' ? '\\n' : char === '\t' ? '\\t' : '\\\\'))
}

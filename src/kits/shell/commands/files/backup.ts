// The backups that `cp`, `mv`, `ln` and `install` make of replaced files.

import type { Context } from '../../interpreter-command.ts'
import type { GnuOptions } from '../gnu-options.ts'
import { baseName, lstatIfAny } from './names.ts'

export type Backup = { kind: 'simple' | 'numbered' | 'existing'; suffix: string }

const KINDS: Readonly<Record<string, Backup['kind'] | 'none'>> = {
  ...{
    '': 'existing',
    simple: 'simple',
    never: 'simple',
    numbered: 'numbered',
    t: 'numbered',
    existing: 'existing',
    nil: 'existing',
  },
  ...{ none: 'none', off: 'none' },
}

/** Null for no backups; a text for an error. */
export function backupOf(read: GnuOptions): Backup | null | string {
  if (!read.has('b') && read.value('S') === undefined) return null
  const asked = read.value('b') ?? ''
  const kind = Object.hasOwn(KINDS, asked) ? KINDS[asked] : undefined
  if (kind === undefined) return `invalid argument '${asked}' for 'backup type'`
  return kind === 'none' ? null : { kind, suffix: read.value('S') ?? '~' }
}

/** Renames the existing file; returns its new name, or null if there was none. */
export async function moveAway(to: string, { kind, suffix }: Backup, context: Context): Promise<string | null> {
  if (!(await lstatIfAny(to, context))) return null
  const { fs, cwd } = context
  const path = fs.resolvePath(cwd, to)
  const numbers = (await fs.readdir(fs.resolvePath(path, '..'))).flatMap((name) => {
    const number = name.startsWith(`${baseName(to)}.~`) ? /^\d+(?=~$)/.exec(name.slice(baseName(to).length + 2)) : null
    return number ? [Number(number[0])] : []
  })
  const isNumbered = kind === 'numbered' || (kind === 'existing' && numbers.length > 0)
  const kept = isNumbered ? `${to}.~${Math.max(0, ...numbers) + 1}~` : to + suffix
  await fs.mv(path, fs.resolvePath(cwd, kept))
  return kept
}

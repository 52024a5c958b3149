// File metadata for the output of commands.

import type { FileKind, FileStat } from '../../../workspace/file-system.ts'

export const FOLDER_BYTES = 4096
/** The only user, who owns all files. */
export const OWNER = { name: 'user', id: 1000 } as const
const BLOCK_BYTES = 4096

/** A folder has no size here; other systems report one block. */
export function sizeOf({ kind, sizeBytes }: FileStat): number {
  return kind === 'directory' ? FOLDER_BYTES : sizeBytes
}

/** In bytes, like a disk with the usual block size. Short links need no block. */
export function diskBytes({ kind, sizeBytes }: FileStat): number {
  if (kind === 'symlink') return 0
  return kind === 'directory' ? FOLDER_BYTES : Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES
}

const KIND_LETTERS: Readonly<Record<FileKind, string>> = { file: 'f', directory: 'd', symlink: 'l' }

export function kindLetter({ kind, device }: Pick<FileStat, 'kind' | 'device'>): string {
  return device ? 'c' : KIND_LETTERS[kind]
}

/** `-rw-r--r--` */
export function modeText({ kind, mode, device }: Pick<FileStat, 'kind' | 'mode' | 'device'>): string {
  const bits = kind === 'symlink' ? 0o777 : mode
  const letters = [...'rwxrwxrwx'].map((letter, i) => ((bits >> (8 - i)) & 1 ? letter : '-'))
  const special = (place: number, bit: number, small: string) => {
    if (bits & bit) letters[place] = letters[place] === 'x' ? small : small.toUpperCase()
  }
  special(2, 0o4000, 's')
  special(5, 0o2000, 's')
  special(8, 0o1000, 't')
  return `${device ? 'c' : { file: '-', directory: 'd', symlink: 'l' }[kind]}${letters.join('')}`
}

/** Rounded up, with one decimal below ten. */
export function humanSize(bytes: number, base = 1024): string {
  if (bytes < base) return String(bytes)
  let value = bytes
  for (const unit of ['K', 'M', 'G', 'T']) {
    value /= base
    const shown = base === 1000 ? unit.replace('K', 'k') : unit
    const tenths = Math.ceil(value * 10 - 1e-9) / 10
    if (tenths < 10) return `${tenths.toFixed(1)}${shown}`
    if (Math.ceil(value) < base || unit === 'T') return `${Math.ceil(value)}${shown}`
  }
  return String(bytes)
}

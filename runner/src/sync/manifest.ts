// The contents of the workspace at the last sync: for each path the stamp of its state on this disk, and the hash of
// its content. A file with the same size, times and inode was not changed: `utimes` cannot set the change time.

import type { BigIntStats } from 'node:fs'

export type Stamp = {
  readonly size: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly ino: bigint
  readonly mode: number
}
export type SyncedKind = 'file' | 'directory' | 'symlink'
/**
 * `hash`: of a file's bytes or of a link's target; empty for a folder. `UNKNOWN_HASH` equals no other hash: the path is
 * sent.
 */
export type ManifestEntry = { readonly kind: SyncedKind; readonly stamp: Stamp; readonly hash: string }
export type Manifest = Map<string, ManifestEntry>

export const UNKNOWN_HASH = '?'

export function stampOf(stats: BigIntStats): Stamp {
  return {
    size: Number(stats.size),
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    ino: stats.ino,
    mode: Number(stats.mode) & 0o777,
  }
}

export function isSameStamp(a: Stamp, b: Stamp): boolean {
  return a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size && a.ino === b.ino && a.mode === b.mode
}

export function kindOf(stats: BigIntStats): SyncedKind | 'special' {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'special'
}

type StoredEntry = [string, SyncedKind, number, string, string, string, number, string]
export type StoredManifest = readonly Readonly<StoredEntry>[]

export const storedManifest = (manifest: Manifest): StoredManifest =>
  [...manifest].map(([path, entry]) => storedEntry(path, entry))

export function storedEntry(path: string, { kind, stamp, hash }: ManifestEntry): StoredEntry {
  const { size, mtimeNs, ctimeNs, ino, mode } = stamp
  return [path, kind, size, String(mtimeNs), String(ctimeNs), String(ino), mode, hash]
}

export function manifestFrom(stored: StoredManifest): Manifest {
  return new Map(
    stored.map(([path, kind, size, mtimeNs, ctimeNs, ino, mode, hash]) => {
      const stamp = { size, mtimeNs: BigInt(mtimeNs), ctimeNs: BigInt(ctimeNs), ino: BigInt(ino), mode }
      return [path, { kind, stamp, hash }]
    }),
  )
}

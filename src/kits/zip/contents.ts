// Compresses and decompresses contents. It is loaded when the first archive is read or written.

import type { ZipEntry } from './zip-directory.ts'

export type Compression = typeof import('./lazy/zip.ts')

export function compression(): Promise<Compression> {
  return import('./lazy/zip.ts')
}

/** In the order of the entries; null for one that is damaged or does not match the archive's metadata. */
export async function unpackedEntries(entries: readonly ZipEntry[]): Promise<AsyncGenerator<Uint8Array | null>> {
  const { contentsOf } = await import('./lazy/unzip.ts')
  return contentsOf(entries)
}

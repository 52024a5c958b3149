// New contents for a file, as programs write them that make a new file and put it in the place of the old one. What counts
// for that is the permissions of the folder, not those of the file.

import { type FileSystem, isFileError } from './file-system.ts'

/** The mode stays, unless another one is given. */
export async function replaceContents(
  fs: FileSystem,
  path: string,
  { bytes, mode }: { bytes: Uint8Array; mode?: number | undefined },
): Promise<void> {
  try {
    await fs.write(path, bytes, mode === undefined ? {} : { mode })
  } catch (error) {
    if (!isFileError(error, 'EACCES') || !fs.exists(path)) throw error
    const kept = mode ?? fs.stat(path).mode
    fs.remove(path)
    await fs.write(path, bytes, { mode: kept })
    fs.chmod(path, kept)
  }
}

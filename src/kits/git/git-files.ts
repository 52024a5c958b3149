// The files in the folder of a repository.

import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { statAt } from '../../workspace/stat.ts'

export function isFile(fs: FileSystem, path: string): boolean {
  return statAt(fs, path)?.kind === 'file'
}

export function isEmptyFolder(fs: FileSystem, path: string): boolean {
  try {
    return fs.stat(path).kind === 'directory' && !holdsFiles(fs, path)
  } catch (error) {
    if (isFileError(error)) return false
    throw error
  }
}

function holdsFiles(fs: FileSystem, folder: string): boolean {
  return fs.list(folder).some(({ name, kind }) => kind !== 'directory' || holdsFiles(fs, `${folder}/${name}`))
}

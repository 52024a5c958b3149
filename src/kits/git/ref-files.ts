// The files of refs: one for each, and one for all packed refs.

import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { textOf, utf8 } from './bytes.ts'
import { fatal } from './failure.ts'
import { isEmptyFolder } from './git-files.ts'

export const ID = /^[0-9a-f]{40}$/
const MAX_REF_BYTES = 4096

export class RefFiles {
  protected readonly fs: FileSystem
  protected readonly gitDir: string

  constructor(fs: FileSystem, gitDir: string) {
    this.fs = fs
    this.gitDir = gitDir
  }

  protected async delete(name: string): Promise<void> {
    this.removeFile(name)
    this.removeFile(`logs/${name}`)
    const text = await readText(this.fs, `${this.gitDir}/packed-refs`)
    if (text === null || !text.includes(` ${name}\n`)) return
    const lines = text.split('\n')
    const at = lines.findIndex((line) => line.endsWith(` ${name}`))
    // A line with `^` is the target of the tag above it.
    lines.splice(at, lines[at + 1]?.startsWith('^') ? 2 : 1)
    await this.writeFile('packed-refs', lines.join('\n'))
  }

  /** Also removes folders that become empty, except those of every repository. */
  protected removeFile(name: string): void {
    removeIfThere(this.fs, `${this.gitDir}/${name}`)
    const parts = name.split('/')
    for (let depth = parts.length - 1; depth > (parts[0] === 'logs' ? 3 : 2); depth--) {
      const folder = `${this.gitDir}/${parts.slice(0, depth).join('/')}`
      if (!isEmptyFolder(this.fs, folder)) return
      this.fs.remove(folder, { recursive: true })
    }
  }

  protected async write(name: string, text: string): Promise<void> {
    const path = `${this.gitDir}/${name}`
    // `a/b` may follow a deleted `a`; conversely, its empty folder would be in the way.
    if (isEmptyFolder(this.fs, path)) this.fs.remove(path, { recursive: true })
    await this.writeFile(name, `${text}\n`)
  }

  protected async writeFile(name: string, text: string): Promise<void> {
    this.makeFolderFor(name)
    await this.fs.write(`${this.gitDir}/${name}`, utf8(text))
  }

  protected makeFolderFor(name: string): void {
    try {
      this.fs.makeDirectory(`${this.gitDir}/${name}`.replace(/\/[^/]*$/, ''), { recursive: true })
    } catch (error) {
      if (!isFileError(error, 'ENOTDIR') && !isFileError(error, 'EEXIST')) throw error
      throw fatal(`cannot lock ref '${name}': a part of the name is a ref itself`)
    }
  }

  protected async read(name: string): Promise<string | null> {
    if (!/^[\w.@/+-]/.test(name) || name.includes('..')) return null
    const text = await readText(this.fs, `${this.gitDir}/${name}`)
    return text === null ? null : text.trimEnd()
  }

  protected async packed(): Promise<Map<string, string>> {
    const text = await readText(this.fs, `${this.gitDir}/packed-refs`, Number.POSITIVE_INFINITY)
    const refs = new Map<string, string>()
    for (const line of (text ?? '').split('\n')) {
      if (ID.test(line.slice(0, 40)) && line[40] === ' ') refs.set(line.slice(41), line.slice(0, 40))
    }
    return refs
  }

  protected looseBelow(folder: string): string[] {
    try {
      return this.fs.list(`${this.gitDir}/${folder}`).flatMap(({ name, kind }) => {
        const path = `${folder}/${name}`
        return kind === 'directory' ? this.looseBelow(path) : [path]
      })
    } catch (error) {
      if (isFileError(error)) return []
      throw error
    }
  }
}

/** One of git's own files as text; null if it does not exist. */
export async function readText(fs: FileSystem, path: string, maxBytes = MAX_REF_BYTES * 1024): Promise<string | null> {
  try {
    const { kind, sizeBytes } = fs.stat(path)
    return kind === 'file' && sizeBytes <= maxBytes ? textOf(await fs.read(path)) : null
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

export function removeIfThere(fs: FileSystem, path: string): void {
  try {
    fs.remove(path)
  } catch (error) {
    if (!isFileError(error, 'ENOENT') && !isFileError(error, 'ENOTDIR')) throw error
  }
}

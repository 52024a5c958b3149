// The small state files of unfinished operations. They are in git's format, so that git can continue operations started
// here and vice versa.

import { isFileError } from '../../../workspace/file-system.ts'
import { lstatAt } from '../../../workspace/stat.ts'
import { utf8 } from '../bytes.ts'
import { readText, removeIfThere } from '../ref-files.ts'
import type { Repository } from '../repository.ts'

/** A folder of files below `.git`, such as `rebase-merge`. */
export class StateFolder {
  readonly #repo: Repository
  readonly path: string

  constructor(repo: Repository, name: string) {
    this.#repo = repo
    this.path = `${repo.gitDir}/${name}`
  }

  get exists(): boolean {
    return lstatAt(this.#repo.fs, this.path)?.kind === 'directory'
  }

  has(name: string): boolean {
    return lstatAt(this.#repo.fs, `${this.path}/${name}`) !== null
  }

  /** Without trailing blanks; null if there is no such file. */
  async read(name: string): Promise<string | null> {
    return (await this.text(name))?.trimEnd() ?? null
  }

  text(name: string): Promise<string | null> {
    return readText(this.#repo.fs, `${this.path}/${name}`)
  }

  async write(name: string, text: string): Promise<void> {
    this.#repo.fs.makeDirectory(this.path, { recursive: true })
    await this.#repo.fs.write(`${this.path}/${name}`, utf8(text))
  }

  async append(name: string, text: string): Promise<void> {
    this.#repo.fs.makeDirectory(this.path, { recursive: true })
    await this.#repo.fs.append(`${this.path}/${name}`, utf8(text))
  }

  drop(...names: string[]): void {
    for (const name of names) removeIfThere(this.#repo.fs, `${this.path}/${name}`)
  }

  remove(): void {
    try {
      this.#repo.fs.remove(this.path, { recursive: true })
    } catch (error) {
      if (!isFileError(error, 'ENOENT')) throw error
    }
  }
}

/** A file directly in `.git`. */
export async function writeGitFile(repo: Repository, name: string, text: string): Promise<void> {
  await repo.fs.write(`${repo.gitDir}/${name}`, utf8(text))
}

export function hasGitFile(repo: Repository, name: string): boolean {
  return lstatAt(repo.fs, `${repo.gitDir}/${name}`) !== null
}

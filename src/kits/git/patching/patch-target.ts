// The files to which a patch is applied: of the working tree, of the index, or of both. Nothing is written before the
// whole patch is known to apply.

import { lstatAt } from '../../../workspace/stat.ts'
import { textOf, utf8 } from '../bytes.ts'
import { failed } from '../failure.ts'
import { NO_STAT, statFields } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { MODE, sameState } from '../objects.ts'
import type { Repository } from '../repository.ts'
import { isSafePath } from '../tree.ts'
import { isBehindLink, modeOf, stateAt, storedAt, takeAway, writeOut } from '../worktree.ts'

export interface TargetText {
  text: string
  mode: number
}

export type TargetKind = 'worktree' | 'index' | 'both'

export class PatchTarget {
  readonly #git: Invocation
  readonly #root: string
  readonly #repo: Repository | null
  readonly place: TargetKind
  /** The results of earlier parts of the patch by path; null for a deleted one. */
  readonly #held = new Map<string, TargetText | null>()

  constructor(git: Invocation, place: TargetKind) {
    this.#git = git
    this.#repo = git.hasRepo() ? git.repo() : null
    this.#root = this.#repo ? this.#repo.root : git.cwd
    this.place = place
  }

  /** Null if there is no such file. */
  async read(path: string): Promise<TargetText | null> {
    const known = this.#held.get(path)
    if (known !== undefined) return known
    if (!isSafePath(path)) throw failed(`invalid path '${path}'`, 128)
    if (this.place === 'worktree') return this.#fromWorktree(path)
    const entry = (await this.#index()).get(path)
    if (!entry) return null
    const repo = this.#git.repo()
    if (this.place === 'both') {
      const work = await stateAt(repo, path)
      if (!sameState(work, entry)) throw failed(`${path}: does not match index`)
    }
    return { text: textOf((await repo.objects.read(entry.oid)).bytes), mode: entry.mode }
  }

  /** Where a file with that name exists; null if nowhere. */
  async holderOf(path: string): Promise<'index' | 'working directory' | null> {
    const usual = this.place === 'worktree' ? 'working directory' : 'index'
    if (this.#held.has(path)) return this.#held.get(path) === null ? null : usual
    if (this.place !== 'worktree' && (await this.#index()).get(path)) return 'index'
    return this.place !== 'index' && lstatAt(this.#git.fs, `${this.#root}/${path}`) ? 'working directory' : null
  }

  set(path: string, held: TargetText | null): void {
    this.#held.set(path, held)
  }

  /** The index is not changed if only a part of the patch was applied. */
  async write({ isWhole = true } = {}): Promise<void> {
    for (const [path, held] of this.#held) if (!held) await this.#remove(path)
    for (const [path, held] of this.#held) if (held) await this.#write(path, held)
    if (this.place === 'worktree') return
    if (isWhole) await this.#git.repo().saveIndex(await this.#index())
    else this.#git.repo().forgetIndex()
  }

  /** A file that is not part of the patch. */
  async writeBeside(path: string, text: string): Promise<void> {
    await writeOut({ fs: this.#git.fs, root: this.#root }, path, { mode: NEW_FILE_MODE, bytes: utf8(text) })
  }

  async #fromWorktree(path: string): Promise<TargetText | null> {
    const { fs } = this.#git
    const full = `${this.#root}/${path}`
    if (isBehindLink(fs, this.#root, path)) return null
    const stat = lstatAt(fs, full)
    const mode = stat && modeOf(stat)
    if (!stat || mode === null) return null
    return { text: textOf(await storedAt(this.#git.repo(), path, stat)), mode }
  }

  #unstored(path: string, bytes: Uint8Array): Promise<Uint8Array> {
    return this.#git.repo().unstored(path, bytes)
  }

  #index() {
    return this.#git.repo().index()
  }

  async #remove(path: string): Promise<void> {
    if (this.place !== 'index') takeAway(this.#git.fs, this.#root, path)
    if (this.place !== 'worktree') (await this.#index()).remove(path)
  }

  async #write(path: string, { text, mode }: TargetText): Promise<void> {
    const { fs } = this.#git
    const bytes = utf8(text)
    const shown = mode === MODE.link ? bytes : await this.#unstored(path, bytes)
    if (this.place !== 'index') await writeOut({ fs, root: this.#root }, path, { mode, bytes: shown })
    if (this.place === 'worktree') return
    const oid = await this.#git.repo().objects.write('blob', bytes)
    const stat = this.place === 'both' ? lstatAt(fs, `${this.#root}/${path}`) : null
    ;(await this.#index()).put({ path, mode, oid, ...(stat ? statFields(stat) : NO_STAT) })
  }
}

export const NEW_FILE_MODE = MODE.file

// Finds the commit of each line of a file. Lines are passed from a commit to those parents that contain them too,
// through renames, until the commit that added them.

import { linesOf } from '../../workspace/diff.ts'
import { textOf } from './bytes.ts'
import type { Whitespace } from './diffing/hunks.ts'
import { lineKey } from './diffing/hunks.ts'
import { gitEdits } from './diffing/line-edits.ts'
import type { Commit } from './objects.ts'
import { withRenames } from './renames.ts'
import type { Repository } from './repository.ts'
import { treeChanges } from './status.ts'
import { stateInTree } from './tree.ts'

export interface Origin {
  /** Null for uncommitted lines. */
  oid: string | null
  commit: Commit | null
  path: string
  /** The file in the first parent that contains it. */
  previous: { oid: string; path: string } | null
  isBoundary: boolean
}

export interface BlamedLine {
  origin: Origin
  /** Counted from 0, in the file of that commit. */
  line: number
}

export interface BlameRequest {
  path: string
  /** The start; null for the working tree, whose contents are given. */
  oid: string | null
  text: string
  /** The parent of uncommitted lines. */
  head: string | null
  /** Commits at which the search stops. */
  hidden: ReadonlySet<string>
  whitespace?: Whitespace | undefined
  firstParent: boolean
}

interface Suspect {
  origin: Origin
  blob: string | null
  text: string
  /** Pairs of a line of the requested file and the line here. */
  lines: { final: number; here: number }[]
}

/** The origin of each requested line. */
export async function blame(
  repo: Repository,
  request: BlameRequest,
  wanted: readonly number[],
): Promise<Map<number, BlamedLine>> {
  const blamer = new Blamer(repo, request)
  return blamer.run(wanted)
}

class Blamer {
  readonly #repo: Repository
  readonly #request: BlameRequest
  readonly #open = new Map<string, Suspect>()
  readonly #found = new Map<number, BlamedLine>()
  readonly #keyed: ((line: string) => string) | undefined

  constructor(repo: Repository, request: BlameRequest) {
    this.#repo = repo
    this.#request = request
    this.#keyed = lineKey(request.whitespace)
  }

  async run(wanted: readonly number[]): Promise<Map<number, BlamedLine>> {
    const { oid, path, text } = this.#request
    const commit = oid === null ? null : await this.#repo.commit(oid)
    const origin: Origin = { oid, commit, path, previous: null, isBoundary: false }
    const blob = commit ? await blobAt(this.#repo, commit.tree, path) : null
    this.#open.set(keyOf(origin), { origin, blob, text, lines: wanted.map((line) => ({ final: line, here: line })) })
    for (let next = this.#youngest(); next; next = this.#youngest()) {
      const pause = this.#repo.pace()
      if (pause) await pause
      this.#open.delete(keyOf(next.origin))
      await this.#handDown(next)
    }
    return this.#found
  }

  /** Children come before their parents, so that each commit is visited once. */
  #youngest(): Suspect | null {
    let found: Suspect | null = null
    const secondsOf = ({ origin }: Suspect) => origin.commit?.committer.seconds ?? Number.POSITIVE_INFINITY
    for (const suspect of this.#open.values()) if (!found || secondsOf(suspect) > secondsOf(found)) found = suspect
    return found
  }

  async #handDown(suspect: Suspect): Promise<void> {
    const { origin } = suspect
    const all = origin.commit ? origin.commit.parents : this.#request.head === null ? [] : [this.#request.head]
    const parents = this.#request.firstParent ? all.slice(0, 1) : all
    const isHidden = origin.oid !== null && this.#request.hidden.has(origin.oid)
    if (isHidden || all.length === 0) origin.isBoundary = origin.oid !== null
    const files = isHidden ? [] : await this.#filesIn(parents, suspect)
    const same = files.find((file) => file.blob !== null && file.blob === suspect.blob)
    if (same) {
      this.#add(same, suspect.lines)
      return
    }
    for (const file of files) {
      origin.previous ??= { oid: file.origin.oid ?? '', path: file.origin.path }
      if (suspect.lines.length === 0) break
      const { kept, passed } = this.#split(suspect, file.text)
      this.#add(file, passed)
      suspect.lines = kept
    }
    for (const { final, here } of suspect.lines) this.#found.set(final, { origin, line: here })
  }

  #split(suspect: Suspect, before: string) {
    const options = { trimsTail: true, ...(this.#keyed && { key: this.#keyed }) }
    const edits = gitEdits(linesOf(before), linesOf(suspect.text), options)
    const kept: Suspect['lines'] = []
    const passed: Suspect['lines'] = []
    let at = 0
    let shift = 0
    for (const pair of suspect.lines.sort((a, b) => a.here - b.here)) {
      for (let edit = edits[at]; edit && edit.to <= pair.here; edit = edits[++at]) shift = edit.end - edit.to
      const edit = edits[at]
      if (edit && edit.from <= pair.here) kept.push(pair)
      else passed.push({ final: pair.final, here: pair.here + shift })
    }
    return { kept, passed }
  }

  #add(file: Omit<Suspect, 'lines'>, lines: Suspect['lines']): void {
    if (lines.length === 0) return
    const known = this.#open.get(keyOf(file.origin))
    if (known) known.lines.push(...lines)
    else this.#open.set(keyOf(file.origin), { ...file, lines })
  }

  /** The file in each parent that contains it, with its name at that time. */
  async #filesIn(parents: readonly string[], { origin }: Suspect): Promise<Omit<Suspect, 'lines'>[]> {
    const files: Omit<Suspect, 'lines'>[] = []
    for (const oid of parents) {
      const commit = await this.#repo.commit(oid)
      const path = await this.#nameIn(commit, origin)
      const blob = path === null ? null : await blobAt(this.#repo, commit.tree, path)
      if (path === null || blob === null) continue
      const known = this.#open.get(keyOf({ oid, path }))
      const text = known?.text ?? textOf((await this.#repo.objects.read(blob)).bytes)
      const found: Origin = known?.origin ?? { oid, commit, path, previous: null, isBoundary: false }
      files.push({ origin: found, blob, text })
    }
    return files
  }

  async #nameIn(parent: Commit, { commit, path }: Origin): Promise<string | null> {
    if ((await blobAt(this.#repo, parent.tree, path)) !== null) return path
    if (!commit) return null
    const changes = await withRenames(this.#repo, await treeChanges(this.#repo, parent.tree, commit.tree))
    return changes.find((change) => change.path === path)?.from ?? null
  }
}

function keyOf({ oid, path }: Pick<Origin, 'oid' | 'path'>): string {
  return `${oid ?? ''}:${path}`
}

/** The blob at the path of a tree; null if there is none. */
export async function blobAt(repo: Repository, tree: string, path: string): Promise<string | null> {
  return (await stateInTree(repo, tree, path))?.oid ?? null
}

// Notes about commits: a tree that has a file for each of them, named by its id.

import { textOf } from './bytes.ts'
import type { Invocation } from './invocation.ts'
import type { Repository } from './repository.ts'
import { flatTree } from './tree.ts'

const DEFAULT_REF = 'refs/notes/commits'

export async function notesRef(git: Invocation): Promise<string> {
  return git.env.GIT_NOTES_REF || (await git.setting('core.notesRef')) || DEFAULT_REF
}

/** By the id of what they are about, the id of the text. */
export async function notesOf(repo: Repository, ref: string): Promise<Map<string, string>> {
  const oid = await repo.refs.resolve(ref)
  if (oid === null) return new Map()
  const files = await flatTree(repo, (await repo.commit(oid)).tree)
  return new Map(
    [...files].flatMap(([path, state]) => {
      const id = path.replaceAll('/', '')
      return /^[0-9a-f]{40}$/.test(id) ? [[id, state.oid] as const] : []
    }),
  )
}

/** What stands below the message in a log, under the name of its ref unless that is the usual one. */
export interface ShownNotes {
  ref: string
  byCommit: ReadonlyMap<string, string>
}

export async function noteText(repo: Repository, notes: ShownNotes, oid: string): Promise<string | null> {
  const note = notes.byCommit.get(oid)
  return note === undefined ? null : textOf((await repo.objects.read(note)).bytes)
}

export function notesTitle(ref: string): string {
  return ref === DEFAULT_REF ? 'Notes:' : `Notes (${ref.replace(/^refs\/(notes\/)?/, '')}):`
}

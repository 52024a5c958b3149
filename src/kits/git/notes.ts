// Notes about commits: a tree with one file for each commit, named by its id.

import { textOf } from './bytes.ts'
import type { Invocation } from './invocation.ts'
import type { Repository } from './repository.ts'
import { flatTree } from './tree.ts'

const DEFAULT_REF = 'refs/notes/commits'

export async function notesRef(git: Invocation): Promise<string> {
  return git.env.GIT_NOTES_REF || (await git.setting('core.notesRef')) || DEFAULT_REF
}

/** The id of the text, by the id of the annotated object. */
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

/** The notes after the message in a log, with the name of their ref unless it is the default one. */
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

// Applies a patch by merging: its base is found by id, and both changes from there are merged.

import { textOf, utf8 } from '../bytes.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { NO_STAT } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { mergeText } from '../merge-text.ts'
import { writeOut } from '../worktree.ts'
import { applyHunks } from './apply-hunks.ts'
import { applyPatch } from './apply-patch.ts'
import type { FilePatch } from './parse-patch.ts'
import { PatchTarget } from './patch-target.ts'

const HOW = { ignoresBlanks: false, isWithoutContext: false }

interface Clash {
  path: string
  mode: number
  base: string
  ours: string
  theirs: string
  text: string
}

export async function applyThreeWay(git: Invocation, files: readonly FilePatch[]): Promise<void> {
  const target = new PatchTarget(git, 'both')
  const clashes: Clash[] = []
  for (const file of files) {
    const clash = await mergeFile(git, target, file)
    if (clash) clashes.push(clash)
  }
  await target.write()
  for (const clash of clashes) await leaveClash(git, clash)
  if (clashes.length === 0) return
  for (const { path } of clashes) git.err(`U ${path}`)
  throw new GitFailure('', 1)
}

async function mergeFile(git: Invocation, target: PatchTarget, file: FilePatch): Promise<Clash | null> {
  const { oldPath: path, newPath } = file
  const base = path === null || path !== newPath ? null : await preimage(git, file.oldId)
  if (path === null || base === null) {
    const { errors } = await applyPatch(target, [file], HOW)
    if (errors.length > 0) throw new GitFailure(errors.join('\n'), 1)
    git.err(`Applied patch to '${newPath ?? path ?? ''}' cleanly.`)
    return null
  }
  const ours = await target.read(path)
  if (!ours) throw failed(`${path}: does not exist in index`)
  const applied = applyHunks(base, file.hunks, HOW)
  if (!applied.ok) throw failed(`patch failed: ${path}:${applied.hunk.oldStart}`)
  const merged = mergeText(base, [ours.text, applied.text], { ours: 'ours', theirs: 'theirs' })
  if (merged.conflicts === 0) {
    target.set(path, { text: merged.text, mode: file.newMode ?? ours.mode })
    git.err(`Applied patch to '${path}' cleanly.`)
    return null
  }
  git.err(`Applied patch to '${path}' with conflicts.`)
  return { path, mode: ours.mode, base, ours: ours.text, theirs: applied.text, text: merged.text }
}

async function preimage(git: Invocation, id: string | null): Promise<string | null> {
  if (id === null || /^0+$/.test(id)) return null
  const { objects } = git.repo()
  const found = await objects.idsStartingWith(id)
  const [oid] = found
  if (oid === undefined) return null
  if (found.length > 1) throw fatal(`the id ${id} in the patch is ambiguous`)
  const { type, bytes } = await objects.read(oid)
  return type === 'blob' ? textOf(bytes) : null
}

async function leaveClash(git: Invocation, { path, mode, text, ...sides }: Clash): Promise<void> {
  const repo = git.repo()
  await writeOut(repo, path, { mode, bytes: utf8(text) })
  const index = await repo.index()
  index.remove(path)
  for (const [i, content] of [sides.base, sides.ours, sides.theirs].entries()) {
    const oid = await repo.objects.write('blob', utf8(content))
    index.set({ path, mode, oid, ...NO_STAT, stage: i + 1, extendedFlags: 0 })
  }
  await repo.saveIndex(index)
}

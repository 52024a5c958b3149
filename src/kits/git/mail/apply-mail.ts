// Applies the patch of one mail to index and working tree: directly, or by a merge from its base.

import { textOf, utf8 } from '../bytes.ts'
import { indexTree } from '../commits.ts'
import { GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { joinTrees } from '../merging.ts'
import { type FileState, MODE } from '../objects.ts'
import { applyHunks } from '../patching/apply-hunks.ts'
import { applyPatch, writeRejected } from '../patching/apply-patch.ts'
import { type FilePatch, parsePatch } from '../patching/parse-patch.ts'
import { PatchTarget } from '../patching/patch-target.ts'
import { changeKind, treeChanges } from '../status.ts'
import { flatTree, writeTree } from '../tree.ts'

const HOW = { ignoresBlanks: false, isWithoutContext: false }

export interface MailPatch {
  patch: string
  subject: string
  isThreeWay: boolean
  isQuiet: boolean
  /** Whether the fitting hunks are applied, and the others written next to the files. */
  rejects: boolean
}

/** False if it does not apply; the reason has been reported. */
export async function applyMail(git: Invocation, mail: MailPatch): Promise<boolean> {
  const files = filesIn(mail.patch)
  if (files instanceof GitFailure) {
    git.err(files.message)
    return false
  }
  const errors = await attempt(git, files, mail.rejects)
  if (errors.length === 0) return true
  if (mail.isThreeWay) return mergeMail(git, files, mail)
  for (const error of errors) git.err(error)
  return false
}

function filesIn(patch: string): FilePatch[] | GitFailure {
  try {
    return parsePatch(patch, { strip: 1, recounts: false, applies: true })
  } catch (error) {
    if (error instanceof GitFailure) return error
    throw error
  }
}

async function attempt(git: Invocation, files: readonly FilePatch[], rejects: boolean): Promise<string[]> {
  if (files.length === 0) return ['error: No valid patches in input (allow with "--allow-empty")']
  const target = new PatchTarget(git, 'both')
  const outcome = await applyPatch(target, files, { ...HOW, rejects })
  const isWhole = outcome.errors.length === 0
  if (isWhole || rejects) await target.write({ isWhole })
  if (!isWhole && rejects) await writeRejected(target, outcome)
  return outcome.errors
}

async function mergeMail(git: Invocation, files: readonly FilePatch[], mail: MailPatch): Promise<boolean> {
  const repo = git.repo()
  const say = (text: string) => mail.isQuiet || git.line(text)
  const before = await ancestorFiles(git, files)
  if (typeof before === 'string') {
    git.err(`error: sha1 information is lacking or useless (${before}).\nerror: could not build fake ancestor`)
    return false
  }
  const base = await treeOf(git, before)
  say('Using index info to reconstruct a base tree...')
  const head = await indexTree(repo)
  const own = await flatTree(repo, head)
  for (const change of await treeChanges(repo, head, base)) {
    if (own.has(change.path) && change.after) say(`M\t${repo.quoted(change.path)}`)
    else if (changeKind(change) === 'A') say(`A\t${repo.quoted(change.path)}`)
  }
  const after = await patchedFiles(git, files, before)
  if (after === null) {
    git.err('error: Did you hand edit your patch?\nIt does not apply to blobs recorded in its index.')
    return false
  }
  say('Falling back to patching base and 3-way merge...')
  const labels = { ours: 'HEAD', theirs: mail.subject, base: 'constructed merge base' }
  const result = await joinTrees(git, { base, ours: head, theirs: await treeOf(git, after), labels })
  for (const message of result.messages) say(message)
  if (result.conflicts.length === 0) return true
  git.err('error: Failed to merge in the changes.')
  return false
}

/** The base files of the patch; the name of one whose contents are not in the repository. */
async function ancestorFiles(git: Invocation, files: readonly FilePatch[]): Promise<Map<string, FileState> | string> {
  const { objects } = git.repo()
  const index = await git.repo().index()
  const found = new Map<string, FileState>()
  for (const { oldPath, oldId, oldMode, newPath } of files) {
    if (oldPath === null) continue
    const kept = index.get(oldPath)
    const ids = oldId === null ? (kept ? [kept.oid] : []) : await objects.idsStartingWith(oldId)
    const [oid] = ids
    if (oid === undefined || ids.length > 1) return newPath ?? oldPath
    found.set(oldPath, { mode: oldMode ?? kept?.mode ?? MODE.file, oid })
  }
  return found
}

async function patchedFiles(
  git: Invocation,
  files: readonly FilePatch[],
  before: ReadonlyMap<string, FileState>,
): Promise<Map<string, FileState> | null> {
  const { objects } = git.repo()
  const after = new Map(before)
  for (const { oldPath, newPath, newMode, hunks, isCopy } of files) {
    const old = oldPath === null ? null : (before.get(oldPath) ?? null)
    const text = old ? textOf((await objects.read(old.oid)).bytes) : ''
    const applied = applyHunks(text, hunks, HOW)
    if (!applied.ok) return null
    if (oldPath !== null && !isCopy) after.delete(oldPath)
    if (newPath === null) continue
    const mode = newMode ?? old?.mode ?? MODE.file
    after.set(newPath, { mode, oid: await objects.write('blob', utf8(applied.text)) })
  }
  return after
}

function treeOf(git: Invocation, files: ReadonlyMap<string, FileState>): Promise<string> {
  return writeTree(
    git.repo(),
    [...files].map(([path, state]) => ({ path, ...state })),
  )
}

// Applies a whole patch to its files.

import { failed, fatal, GitFailure } from '../failure.ts'
import { applyHunks, type HunkOptions } from './apply-hunks.ts'
import type { FilePatch, Hunk } from './parse-patch.ts'
import { NEW_FILE_MODE, type PatchTarget, type TargetText } from './patch-target.ts'
import type { WhitespaceReport } from './whitespace-errors.ts'

export interface PatchOptions extends HunkOptions {
  report?: WhitespaceReport
  isVerbose?: boolean
}

export interface PatchOutcome {
  /** The errors, in order. */
  errors: string[]
  /** The messages in verbose mode. */
  remarks: string[]
  /** Files with rejected hunks. */
  rejected: { path: string; hunks: Hunk[] }[]
}

/** Fills the target; the caller writes it if there are no errors. */
export async function applyPatch(
  target: PatchTarget,
  files: readonly FilePatch[],
  options: PatchOptions,
): Promise<PatchOutcome> {
  const outcome: PatchOutcome = { errors: [], remarks: [], rejected: [] }
  for (const file of files) {
    outcome.remarks.push(`Checking patch ${shownName(file)}...`)
    try {
      await applyFile(target, file, { options, outcome })
    } catch (error) {
      if (!(error instanceof GitFailure) || error.exitCode === 128) throw error
      outcome.errors.push(error.message)
    }
  }
  return outcome
}

/** Writes rejected hunks next to the files. */
export async function writeRejected(target: PatchTarget, { rejected }: PatchOutcome): Promise<void> {
  for (const { path, hunks } of rejected) {
    const text = hunks.map(({ source }) => (source.endsWith('\n') ? source : `${source}\n`)).join('')
    await target.writeBeside(`${path}.rej`, `diff a/${path} b/${path}\t(rejected hunks)\n${text}`)
  }
}

export function shownName({ oldPath, newPath }: FilePatch): string {
  return oldPath !== null && newPath !== null && oldPath !== newPath
    ? `${oldPath} => ${newPath}`
    : (newPath ?? oldPath ?? '')
}

type ApplyRun = { options: PatchOptions; outcome: PatchOutcome }

async function applyFile(target: PatchTarget, file: FilePatch, { options, outcome }: ApplyRun): Promise<void> {
  const { oldPath, newPath } = file
  const name = oldPath ?? newPath ?? ''
  if (file.isBinary) throw fatal(`binary patches are not available here (${name})`)
  const before = oldPath === null ? null : await target.read(oldPath)
  if (oldPath !== null && !before) throw missing(target, oldPath)
  const isMoved = oldPath !== newPath
  const holder = newPath !== null && isMoved ? await target.holderOf(newPath) : null
  if (holder !== null) throw failed(`${newPath}: already exists in ${holder}`)
  const applied = applyHunks(before?.text ?? '', file.hunks, options)
  if (!applied.ok) throw mismatch(name, applied.hunk, options.isVerbose ?? false)
  if (applied.rejected.length > 0) {
    for (const { oldStart } of applied.rejected) outcome.errors.push(`error: patch failed: ${name}:${oldStart}`)
    outcome.rejected.push({ path: newPath ?? name, hunks: applied.rejected })
  }
  for (const { number, line, offset, hunk, isAtEnd } of applied.hunks) {
    if (isAtEnd) options.report?.checkEnd(hunk, file.source ?? '')
    if (offset === 0) continue
    const lines = `offset ${offset} line${Math.abs(offset) === 1 ? '' : 's'}`
    outcome.remarks.push(`Hunk #${number} succeeded at ${line} (${lines}).`)
  }
  if (newPath === null) {
    if (applied.text !== '') throw failed(`removal patch leaves file contents\nerror: ${name}: patch does not apply`)
    target.set(name, null)
    return
  }
  const held: TargetText = { text: applied.text, mode: normalMode(file.newMode) ?? before?.mode ?? NEW_FILE_MODE }
  if (oldPath !== null && isMoved && !file.isCopy) target.set(oldPath, null)
  target.set(newPath, held)
}

function mismatch(name: string, { oldStart, lines }: Hunk, isVerbose: boolean): GitFailure {
  const wanted = lines.filter(({ sign }) => sign !== '+').map(({ text }) => text)
  const search = isVerbose ? `error: while searching for:\n${wanted.join('')}\n` : ''
  return new GitFailure(`${search}error: patch failed: ${name}:${oldStart}\nerror: ${name}: patch does not apply`, 1)
}

function missing(target: PatchTarget, path: string): GitFailure {
  return failed(target.place === 'worktree' ? `${path}: No such file or directory` : `${path}: does not exist in index`)
}

function normalMode(mode: number | null): number | null {
  if (mode === null || (mode & 0o170000) !== 0o100000) return mode
  return (mode & 0o100) !== 0 ? 0o100755 : 0o100644
}

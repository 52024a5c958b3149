// One changed file, before and after, for users to look at.

import { contentsAt, explainedFailure, isBehindLink, MODE } from '../../../src/kits/git/index.ts'
import { textIfAny } from '../../../src/workspace/diff.ts'
import { WORKSPACE_ROOT, workspacePath } from '../../../src/workspace/paths.ts'
import { lstatAt } from '../../../src/workspace/stat.ts'
import type { ChangedFiles, LocatedFile } from './changed-files.ts'

export type GitDiff =
  | { ok: true; original: string; modified: string }
  | {
      ok: false
      reason: 'outside' | 'not-a-repository' | 'missing' | 'binary' | 'too-large' | 'unreadable'
      message: string
    }

const MAX_DIFF_BYTES = 1024 * 1024

/**
 * `asked` is a path as in the list of changes, or an absolute path in the workspace. `isExact`: the stored texts; else
 * as clients of the interface expect them, with the older text trimmed.
 */
export async function gitDiff(index: ChangedFiles, asked: string, isExact: boolean): Promise<GitDiff> {
  const place = workspacePath(asked)
  if (!place.ok) return { ok: false, reason: 'outside', message: place.message }
  const name = place.path.slice(WORKSPACE_ROOT.length + 1)
  try {
    const found = await index.locate(name)
    if (!found) return { ok: false, reason: 'not-a-repository', message: 'Not a git repository' }
    return await sidesOf(found, { name, isExact }, (oid) => index.contents(found.repo, oid))
  } catch (error) {
    const failure = explainedFailure(error)
    if (!failure) throw error
    return { ok: false, reason: 'unreadable', message: failure.message.replace(/^(fatal|error): /, '') }
  } finally {
    index.release()
  }
}

async function sidesOf(
  { repo, path, base }: LocatedFile,
  { name, isExact }: { name: string; isExact: boolean },
  contents: (oid: string) => Promise<Uint8Array>,
): Promise<GitDiff> {
  const full = `${repo.root}/${path}`
  const stat = isBehindLink(repo.fs, repo.root, path) ? null : lstatAt(repo.fs, full)
  const file = stat?.kind === 'directory' ? null : stat
  if (!file && !base) return { ok: false, reason: 'missing', message: `No such file: '${name}'` }
  if (file && file.sizeBytes > MAX_DIFF_BYTES) return tooLarge()
  const before = base && base.mode !== MODE.gitlink ? await contents(base.oid) : new Uint8Array()
  if (before.byteLength > MAX_DIFF_BYTES) return tooLarge()
  const after = file ? await contentsAt(repo.fs, full, file) : new Uint8Array()
  const [original, modified] = [textIfAny(before), textIfAny(after)]
  if (original === null || modified === null)
    return { ok: false, reason: 'binary', message: `Not a text file: '${name}'` }
  if (isExact) return { ok: true, original, modified }
  return { ok: true, original: withPlainEnds(original).trim(), modified: withPlainEnds(modified).replace(/\n$/, '') }
}

function tooLarge(): GitDiff {
  return { ok: false, reason: 'too-large', message: 'file too large' }
}

function withPlainEnds(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}

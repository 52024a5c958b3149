// Separates revisions from paths in commands that accept both.

import { lstatAt } from '../../workspace/stat.ts'
import type { Arguments } from './arguments.ts'
import { GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { revision, unknownRevision } from './revisions.ts'

/** Words before `--` are revisions; without a `--`, the leading words that are revisions, and all further words are paths. */
export async function splitRevisions(
  git: Invocation,
  options: Arguments,
  { needsPaths = true } = {},
): Promise<{ revisions: string[]; paths: string[] }> {
  if (options.paths) return { revisions: options.plain, paths: options.paths }
  const revisions: string[] = []
  const words = [...options.plain]
  for (let word = words[0]; word !== undefined && (await isRevision(git, word)); word = words[0]) {
    if (lstatAt(git.fs, git.resolve(word)) && !word.includes('..') && word !== 'HEAD') throw ambiguous(word)
    revisions.push(word)
    words.shift()
  }
  // After a revision, a path may be of a file that no longer exists.
  if (!needsPaths && revisions.length > 0) return { revisions, paths: words }
  for (const word of words) {
    const isPath = lstatAt(git.fs, git.resolve(word)) !== null || /[*?[]|^:/.test(word)
    if (!isPath) throw unknownRevision(word)
  }
  return { revisions, paths: words }
}

async function isRevision(git: Invocation, word: string): Promise<boolean> {
  if (word === '..') return false
  const dots = /^([^:]*?)\.{2,3}(.*)$/.exec(word)
  const parts = dots
    ? [dots[1] || 'HEAD', dots[2] || 'HEAD']
    : [word.replace(/^\^/, '').replace(/\^(?:[!@]|-\d*)$/, '')]
  for (const part of parts) if (part === '.' || (await revision(git.repo(), part)) === null) return false
  return true
}

function ambiguous(word: string): GitFailure {
  return new GitFailure(
    `fatal: ambiguous argument '${word}': both revision and filename\n` +
      "Use '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'",
    128,
  )
}

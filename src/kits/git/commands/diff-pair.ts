// `git diff` of two single files: blobs given by a revision and a path, or any two files with `--no-index`.

import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { isBinary, textOf } from '../bytes.ts'
import { hunksOf } from '../diffing/hunks.ts'
import { byWords } from '../diffing/word-diff.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { type FileState, MODE, objectId, parseTree } from '../objects.ts'
import { withTab } from '../patch.ts'
import { quoted } from '../path-quoting.ts'
import { abbreviate, revision } from '../revisions.ts'
import {
  algorithmOf,
  asksForSummary,
  CHANGE_OPTIONS,
  contextOf,
  prefixesOf,
  whitespaceOf,
  wordOptions,
} from '../show-changes.ts'
import { contentsAt, modeOf } from '../worktree.ts'

interface Side extends FileState {
  name: string
  bytes: Uint8Array
}

/** Null if one of the words names no blob. */
export async function blobPair(git: Invocation, words: readonly string[]): Promise<[Side, Side] | null> {
  const [first, second, ...others] = words
  if (first === undefined || second === undefined || others.length > 0) return null
  const [a, b] = [await blobNamed(git, first), await blobNamed(git, second)]
  return a && b ? [a, b] : null
}

async function blobNamed(git: Invocation, word: string): Promise<Side | null> {
  const repo = git.repo()
  const oid = await revision(repo, word)
  const object = oid === null ? null : await repo.objects.find(oid)
  if (oid === null || object?.type !== 'blob') return null
  const path = /^[^:]*:(.+)$/s.exec(word)?.[1]
  const mode = path === undefined ? MODE.file : await modeNamed(git, word, path)
  return { name: path ?? word, mode, oid, bytes: object.bytes }
}

async function modeNamed(git: Invocation, word: string, path: string): Promise<number> {
  const repo = git.repo()
  const start = word.slice(0, -path.length - 1)
  if (start === '') return (await repo.index()).get(path)?.mode ?? MODE.file
  const folder = await revision(repo, `${start}:${path.split('/').slice(0, -1).join('/')}`)
  const entries = folder === null ? [] : parseTree((await repo.objects.read(folder)).bytes)
  return entries.find(({ name }) => path.endsWith(name) && name === path.split('/').at(-1))?.mode ?? MODE.file
}

export async function diffNoIndex(git: Invocation, args: readonly string[]): Promise<number> {
  const options = parseArguments('diff --no-index', [...CHANGE_OPTIONS, 'no-index', 'quiet', 'exit-code'], args)
  const [first, second, ...others] = options.rest
  if (first === undefined || second === undefined || others.length > 0)
    throw new GitFailure('usage: git diff --no-index [<options>] <path> <path>', 129)
  const text = await pairPatch(git, [await fileNamed(git, first), await fileNamed(git, second)], options)
  if (!options.has('quiet')) git.out(text)
  return text === '' ? 0 : 1
}

async function fileNamed(git: Invocation, name: string): Promise<Side> {
  const path = git.resolve(name)
  if (path === '/dev/null') throw fatal('git diff --no-index with /dev/null is not available here')
  const stat = lstatAt(git.fs, path)
  if (!stat) throw new GitFailure(`error: Could not access '${name}'`, 1)
  const mode = modeOf(stat)
  if (stat.kind === 'directory' || mode === null)
    throw fatal(`git diff --no-index of a folder ('${name}') is not available here; use diff -r`)
  const bytes = await contentsAt(git.fs, path, stat)
  return { name: name.replace(/^\/+/, ''), mode, oid: objectId('blob', bytes), bytes }
}

export async function pairPatch(git: Invocation, pair: readonly [Side, Side], options: Arguments): Promise<string> {
  const [a, b] = options.has('R') ? [pair[1], pair[0]] : pair
  if (asksForSummary(options)) throw fatal('of two single files anything but a patch is not available here')
  if (a.oid === b.oid && a.mode === b.mode) return ''
  const [before, after] = prefixesOf(options)
  const [old, now] = [quoted(before + a.name), quoted(after + b.name)]
  const octal = (mode: number) => mode.toString(8).padStart(6, '0')
  const short = async ({ oid }: Side) =>
    options.has('full-index') ? oid : git.hasRepo() ? abbreviate(git.repo(), oid) : oid.slice(0, 7)
  const isSameMode = a.mode === b.mode
  const lines = [`diff --git ${old} ${now}`]
  if (!isSameMode) lines.push(`old mode ${octal(a.mode)}`, `new mode ${octal(b.mode)}`)
  if (a.oid === b.oid) return `${lines.join('\n')}\n`
  lines.push(`index ${await short(a)}..${await short(b)}${isSameMode ? ` ${octal(a.mode)}` : ''}`)
  if (!options.has('text') && (isBinary(a.bytes) || isBinary(b.bytes)))
    return `${lines.join('\n')}\nBinary files ${old} and ${now} differ\n`
  const how = { context: contextOf(options), whitespace: whitespaceOf(options), algorithm: algorithmOf(options) }
  const hunks = hunksOf(textOf(a.bytes), textOf(b.bytes), how)
  if (hunks === '') return isSameMode ? '' : `${lines.join('\n')}\n`
  const patch = `${lines.join('\n')}\n--- ${withTab(old)}\n+++ ${withTab(now)}\n${hunks}`
  const words = wordOptions(options)
  return words ? byWords(patch, words) : patch
}

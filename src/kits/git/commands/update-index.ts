import { lstatAt } from '../../../workspace/stat.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { type GitIndex, NO_STAT, SKIP_WORKTREE, statFields } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { MODE, sameState } from '../objects.ts'
import { addFile } from '../staging.ts'
import { unstagedChanges } from '../status.ts'
import { isSafePath } from '../tree.ts'
import { modeOf } from '../worktree.ts'

interface UpdateOptions {
  adds: boolean
  removes: boolean
  forcesRemoval: boolean
  isQuiet: boolean
  isVerbose: boolean
  mode: number | null
  /** A mark that is set on the paths. */
  marks: 'assumed' | 'not-assumed' | 'skipped' | 'not-skipped' | null
}

/** Options apply to the following arguments, so they are processed one after another. */
export async function updateIndex(git: Invocation, args: string[]): Promise<number> {
  const repo = git.repo()
  const how: UpdateOptions = {
    adds: false,
    removes: false,
    forcesRemoval: false,
    isQuiet: false,
    isVerbose: false,
    mode: null,
    marks: null,
  }
  let exitCode = 0
  const words = [...args]
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const set = SWITCHES[word]
    if (set) set(how)
    else if (word === '--refresh' || word === '--really-refresh') exitCode = await refresh(git, how)
    else if (word === '--cacheinfo' || word.startsWith('--cacheinfo=')) await cacheInfo(git, word, { words, how })
    else if (word === '--index-info') await indexInfo(git)
    else if (word === '--stdin') {
      if (words.length > 0) throw failed("option 'stdin' must be the last argument", 129)
      words.push(...git.stdin.split(args.includes('-z') ? '\0' : '\n').filter(Boolean))
    } else if (word === '-z') continue
    else if (word.startsWith('--chmod=')) how.mode = chmodOf(word.slice('--chmod='.length))
    else if (word === '--') for (const path of words.splice(0)) await update(git, path, how)
    else if (word.startsWith('-')) throw new GitFailure(`git update-index: option '${word}' is not available here`, 129)
    else await update(git, word, how)
  }
  await repo.saveIndex(await repo.index())
  return exitCode
}

const marking =
  (marks: UpdateOptions['marks']) =>
  (how: UpdateOptions): void => {
    how.marks = marks
  }

const SWITCHES: Record<string, (how: UpdateOptions) => void> = {
  '--assume-unchanged': marking('assumed'),
  '--no-assume-unchanged': marking('not-assumed'),
  '--skip-worktree': marking('skipped'),
  '--no-skip-worktree': marking('not-skipped'),
  '--add': (how) => {
    how.adds = true
  },
  '--remove': (how) => {
    how.removes = true
  },
  '--force-remove': (how) => {
    how.forcesRemoval = true
  },
  '--verbose': (how) => {
    how.isVerbose = true
  },
  '-q': (how) => {
    how.isQuiet = true
  },
}

function chmodOf(sign: string): number {
  if (sign === '+x') return MODE.executable
  if (sign === '-x') return MODE.file
  throw failed('option `chmod\' expects "+x" or "-x"', 129)
}

async function update(git: Invocation, given: string, how: UpdateOptions): Promise<void> {
  const repo = git.repo()
  const index = await repo.index()
  const full = git.resolve(given)
  const path = full.slice(repo.root === '/' ? 1 : repo.root.length + 1)
  if (!isSafePath(path)) throw fatal(`Unable to process path ${given}`)
  if (how.marks !== null) return markEntry(index, { path, given, marks: how.marks })
  const say = (text: string) => {
    if (how.isVerbose) git.line(text)
  }
  if (how.forcesRemoval) {
    index.remove(path)
    return say(`remove '${given}'`)
  }
  const entry = index.get(path)
  const stat = lstatAt(repo.fs, full)
  if (!stat || modeOf(stat) === null) {
    if (stat) throw unprocessed(`${given}: is a directory - add individual files instead`, given)
    if (!how.removes) throw unprocessed(`${given}: does not exist and --remove not passed`, given)
    index.remove(path)
    return say(`remove '${given}'`)
  }
  if (!entry && !how.adds && !index.unmergedPaths().includes(path))
    throw unprocessed(`${given}: cannot add to the index - missing --add option?`, given)
  await addFile(repo, path)
  say(`add '${given}'`)
  if (how.mode === null) return
  await chmod(git, path, how.mode)
  say(`chmod ${how.mode === MODE.executable ? '+' : '-'}x '${given}'`)
}

type Marking = { path: string; given: string; marks: UpdateOptions['marks'] }

function markEntry(index: GitIndex, { path, given, marks }: Marking): void {
  const entry = index.get(path)
  if (!entry) throw fatal(`Unable to mark file ${given}`)
  if (marks === 'assumed' || marks === 'not-assumed') index.set({ ...entry, isAssumed: marks === 'assumed' })
  else {
    const others = entry.extendedFlags & ~SKIP_WORKTREE
    index.set({ ...entry, extendedFlags: marks === 'skipped' ? others | SKIP_WORKTREE : others })
  }
}

function unprocessed(why: string, given: string): GitFailure {
  return new GitFailure(`error: ${why}\nfatal: Unable to process path ${given}`, 128)
}

async function chmod(git: Invocation, path: string, mode: number): Promise<void> {
  const index = await git.repo().index()
  const entry = index.get(path)
  const isFile = entry && (entry.mode === MODE.file || entry.mode === MODE.executable)
  if (!entry || !isFile)
    throw fatal(`git update-index: cannot chmod ${mode === MODE.executable ? '+' : '-'}x '${path}'`)
  index.set({ ...entry, mode })
}

/** Changes in the working tree are reported, not staged. */
async function refresh(git: Invocation, how: UpdateOptions): Promise<number> {
  const repo = git.repo()
  const index = await repo.index()
  const changed = new Set((await unstagedChanges(repo)).map(({ path }) => path))
  const unmerged = new Set(index.unmergedPaths())
  for (const path of [...new Set([...unmerged, ...changed])].sort())
    if (unmerged.has(path)) git.line(`${path}: needs merge`)
    else if (!how.isQuiet) git.line(`${path}: needs update`)
  for (const entry of [...index.entries]) {
    const stat = lstatAt(repo.fs, `${repo.root}/${entry.path}`)
    if (stat && entry.stage === 0 && !changed.has(entry.path)) index.set({ ...entry, ...statFields(stat) })
  }
  return unmerged.size > 0 || (changed.size > 0 && !how.isQuiet) ? 1 : 0
}

async function cacheInfo(
  git: Invocation,
  word: string,
  { words, how }: { words: string[]; how: UpdateOptions },
): Promise<void> {
  const joined = word.startsWith('--cacheinfo=') ? word.slice('--cacheinfo='.length) : (words[0] ?? '')
  const parts = /^(\d+),([0-9a-f]{40}),(.+)$/s.exec(joined)
  if (parts && !word.includes('=')) words.shift()
  const [mode = '', oid = '', path = ''] = parts ? parts.slice(1) : words.splice(0, 3)
  if (!/^[0-7]+$/.test(mode) || !/^[0-9a-f]{40}$/.test(oid) || path === '')
    throw failed("option 'cacheinfo' expects <mode>,<sha1>,<path>", 129)
  const index = await git.repo().index()
  if (!isSafePath(path))
    throw failed(`Invalid path '${path}'\nfatal: git update-index: --cacheinfo cannot add ${path}`, 128)
  if (!index.get(path) && !how.adds)
    throw new GitFailure(
      `error: ${path}: cannot add to the index - missing --add option?\nfatal: git update-index: --cacheinfo cannot add ${path}`,
      128,
    )
  const state = { mode: Number.parseInt(mode, 8), oid }
  if (!sameState(index.get(path), state)) index.put({ path, ...state, ...NO_STAT })
}

/** Lines in the format of `ls-files -s` and `ls-tree`; mode 0 removes. */
async function indexInfo(git: Invocation): Promise<void> {
  const index = await git.repo().index()
  for (const line of git.stdin.split('\n').filter((text) => text !== '')) {
    const match = /^([0-7]+) (?:(?:blob|commit|tree) )?([0-9a-f]{40})(?: ([0-3]))?\t(.+)$/s.exec(line)
    if (!match) throw fatal(`malformed index info ${line}`)
    const [, mode = '', oid = '', stage = '0', path = ''] = match
    if (!isSafePath(path)) throw fatal(`Ignoring path ${path}`)
    if (Number.parseInt(mode, 8) === 0) index.remove(path)
    else if (stage === '0') index.put({ path, mode: Number.parseInt(mode, 8), oid, ...NO_STAT })
    else index.set({ path, mode: Number.parseInt(mode, 8), oid, stage: Number(stage), ...NO_STAT, extendedFlags: 0 })
  }
}

import { linesOf } from '../../../workspace/diff.ts'
import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { isBinary, textOf } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import { grepWords, lineTests, type Token } from '../grep-expression.ts'
import { type Matching, printMatches } from '../grep-output.ts'
import type { Invocation } from '../invocation.ts'
import { MODE } from '../objects.ts'
import { type Pathspec, relativeTo } from '../pathspec.ts'
import { compilePattern, type Notation } from '../patterns.ts'
import { readText } from '../ref-files.ts'
import { revision } from '../revisions.ts'
import { walkWorktree } from '../status.ts'
import { flatTree } from '../tree.ts'
import { contentsAt } from '../worktree.ts'

const OPTIONS = [
  'line-number|n',
  'no-line-number',
  'column',
  'ignore-case|i',
  'files-with-matches|name-only|l',
  'files-without-match|L',
  'count|c',
  'word-regexp|w',
  'f=',
  'extended-regexp|E',
  'basic-regexp|G',
  'fixed-strings|F',
  'perl-regexp|P',
  'invert-match|v',
  'only-matching|o',
  'no-filename|h',
  'H',
  'quiet|q',
  'cached',
  'untracked',
  'no-exclude-standard',
  'text|a',
  'I',
  'recursive|r',
  'null|z',
  'after-context|A=',
  'before-context|B=',
  'context|C=',
  'max-count|m=',
  'heading',
  'break',
  'full-name',
  'no-color',
  'color?',
  'threads=',
  'show-function|p',
  'function-context|W',
  'all-match',
]

export async function grep(git: Invocation, args: string[]): Promise<number> {
  const { tokens, rest } = grepWords(withContext(args))
  const options = parseArguments('grep', OPTIONS, rest)
  if (options.has('color') && !['never', 'auto', 'false'].includes(options.value('color') ?? ''))
    throw fatal(`--color=${options.value('color')} is not available here`)
  if (options.has('no-exclude-standard') && !options.has('untracked'))
    throw fatal('--[no-]exclude-standard cannot be used for tracked contents')
  const words = [...options.plain]
  const matching = await matchingOf(git, options, { words, tokens })
  const { trees, paths } = await treesAndPaths(git, options, words)
  const pathspec = git.pathspec(paths.length > 0 ? paths : [trees.length > 0 && options.has('full-name') ? ':/' : '.'])
  let found = 1
  const printer = printMatches(git, options, matching)
  for await (const file of filesOf(git, { options, trees, pathspec })) {
    const pause = git.pace()
    if (pause) await pause
    const bytes = await file.read()
    if (bytes === null) continue
    const binary = !options.has('text') && isBinary(bytes)
    if (binary && options.has('I')) continue
    if (printer({ name: file.name, lines: linesOf(textOf(bytes)), isBinary: binary })) found = 0
    if (found === 0 && options.has('quiet')) break
  }
  return found
}

/** `-3` is short for `-C 3`. */
function withContext(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, i) =>
    /^-\d+$/.test(arg) && (end < 0 || i < end) && !/^-([efABCm])$/.test(args[i - 1] ?? '')
      ? `--context=${arg.slice(1)}`
      : arg,
  )
}

function notationOf(options: Arguments, setting: string | null): Notation {
  if (options.has('perl-regexp')) return 'perl'
  if (options.has('fixed-strings')) return 'fixed'
  if (options.has('extended-regexp')) return 'extended'
  if (options.has('basic-regexp') || setting === null || setting === 'default') return 'basic'
  if (setting === 'basic' || setting === 'extended' || setting === 'perl' || setting === 'fixed') return setting
  throw fatal(`unknown value for config 'grep.patternType': ${setting}`)
}

async function matchingOf(
  git: Invocation,
  options: Arguments,
  { words, tokens: given }: { words: string[]; tokens: readonly Token[] },
): Promise<Matching> {
  const tokens = [...given]
  for (const name of options.all('f')) {
    const text = await readText(git.fs, git.resolve(name))
    if (text === null) throw fatal(`cannot open '${name}': No such file or directory`)
    tokens.push(...text.replace(/\n$/, '').split('\n').map(patternToken))
  }
  if (!tokens.some(({ kind }) => kind === 'pattern')) {
    const pattern = words.shift()
    if (pattern === undefined) throw fatal('no pattern given')
    tokens.push(patternToken(pattern))
  }
  const notation = notationOf(options, await git.setting('grep.patternType'))
  const how = { notation, ignoresCase: options.has('ignore-case'), isWord: options.has('word-regexp'), flags: 'g' }
  const regexes = (text: string) => text.split('\n').map((part) => compilePattern(part, how))
  const patterns = tokens.flatMap((token) => (token.kind === 'pattern' ? regexes(token.text) : []))
  const tests = lineTests(tokens, (text) => {
    const own = regexes(text)
    return (line) => !matchesIn(line, own).next().done
  })
  return { tests, find: (line) => matchesIn(line, patterns) }
}

const patternToken = (text: string): Token => ({ kind: 'pattern', text })

/** From left to right; among matches at the same position, the longest. */
function* matchesIn(line: string, patterns: readonly RegExp[]): Generator<{ index: number; text: string }> {
  for (let at = 0; at <= line.length; ) {
    let best: { index: number; text: string } | null = null
    for (const pattern of patterns) {
      pattern.lastIndex = at
      const match = pattern.exec(line)
      if (!match) continue
      const isBetter =
        !best || match.index < best.index || (match.index === best.index && match[0].length > best.text.length)
      if (isBetter) best = { index: match.index, text: match[0] }
    }
    if (!best) return
    yield best
    at = best.index + Math.max(1, best.text.length)
  }
}

type Tree = { name: string; oid: string }

async function treesAndPaths(
  git: Invocation,
  options: Arguments,
  words: string[],
): Promise<{ trees: Tree[]; paths: string[] }> {
  const repo = git.repo()
  const trees: Tree[] = []
  while (words[0] !== undefined) {
    const [word] = words
    const oid = await revision(repo, word)
    if (oid === null) break
    if (options.paths === null && lstatAt(git.fs, git.resolve(word)) !== null)
      throw new GitFailure(
        `fatal: ambiguous argument '${word}': both revision and filename\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'`,
        128,
      )
    trees.push({ name: word, oid: await repo.peel(oid, 'tree') })
    words.shift()
  }
  for (const word of words) {
    if (options.paths !== null) throw fatal(`bad revision '${word}'`)
    if (lstatAt(git.fs, git.resolve(word)) === null && !/[*?[]|^:/.test(word))
      throw new GitFailure(
        `fatal: ambiguous argument '${word}': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'`,
        128,
      )
  }
  if (trees.length > 0 && (options.has('cached') || options.has('untracked')))
    throw fatal(
      options.has('cached') ? '--cached cannot be used with a tree' : '--untracked cannot be used with a tree',
    )
  return { trees, paths: [...words, ...(options.paths ?? [])] }
}

type Source = { options: Arguments; trees: readonly Tree[]; pathspec: Pathspec }
type Searched = { name: string; read: () => Promise<Uint8Array | null> }

async function* filesOf(git: Invocation, { options, trees, pathspec }: Source): AsyncGenerator<Searched> {
  const repo = git.repo()
  const plain = (path: string) => (options.has('full-name') ? path : relativeTo(repo, git.cwd, path))
  const shown = (path: string) => (options.has('null') ? plain(path) : repo.quoted(plain(path)))
  const blob = (oid: string) => async () => (await repo.objects.read(oid)).bytes
  for (const { name, oid } of trees) {
    const files = [...(await flatTree(repo, oid))].sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [path, state] of files) {
      if (state.mode !== MODE.gitlink && pathspec.matches(path))
        yield { name: `${name}:${shown(path)}`, read: blob(state.oid) }
    }
  }
  if (trees.length > 0) return
  let last = ''
  for (const { path, mode, oid } of (await repo.index()).entries) {
    if (path === last || mode === MODE.gitlink || !pathspec.matches(path)) continue
    last = path
    yield { name: shown(path), read: options.has('cached') ? blob(oid) : () => onDisk(git, path) }
  }
  if (!options.has('untracked')) return
  const { untracked } = await walkWorktree(repo, { untracked: 'all' })
  for (const path of untracked) if (pathspec.matches(path)) yield { name: shown(path), read: () => onDisk(git, path) }
}

async function onDisk(git: Invocation, path: string): Promise<Uint8Array | null> {
  const full = `${git.repo().root}/${path}`
  const stat = lstatAt(git.fs, full)
  return stat?.kind === 'file' ? contentsAt(git.fs, full, stat) : null
}

// Patterns of file names that end with a slash, which match folders alone and keep the slash. The interpreter would
// leave out the slash and match files as well. So it is asked for the words without the slash, and what is no folder is
// left out here.

import { isFileError } from '../file-system.ts'
import { expandGlobstar, hasGlobstar } from './globstar.ts'
import type { Watched } from './position.ts'
import { isRange, wordsOfRange } from './ranges.ts'
import type { Command, StepResult } from './shape.ts'
import { literal, type Part, type Run, type Word, withOption, wordsAlone } from './words-alone.ts'

const MARKED = new WeakSet<object>()

/** To be called for each node of a script. */
export function markFolderPatterns(node: object): void {
  if (!('type' in node) || (node.type !== 'SimpleCommand' && node.type !== 'For')) return
  const command = node as Command
  const words = wordLists(command).flat()
  // Each is asked, as ranges are noted by that.
  if (words.map((word) => isRange(word) || endsInSlash(word) || hasGlobstar(word)).includes(true)) MARKED.add(node)
}

function wordLists(node: Command): Word[][] {
  if (node.type === 'For') return [node.words ?? []]
  return node.type === 'SimpleCommand' ? [node.args, ...node.assignments.map(({ array }) => array ?? [])] : []
}

/** Whether the word may be such a pattern; if that hangs on a variable, its value tells. */
function endsInSlash({ parts }: Word): boolean {
  const last = parts.at(-1)
  if (last?.type !== 'Literal') return last !== undefined && variableOf(last) !== null
  return last.value.endsWith('/') && parts.slice(0, -1).some((part) => hasPattern(part) || variableOf(part) !== null)
}

/** The name, where the value is taken as it is and may be a pattern. */
function variableOf(part: Part): string | null {
  return part.type === 'ParameterExpansion' && part.operation === null ? part.parameter : null
}

function hasPattern(part: Part): boolean {
  if (part.type !== 'BraceExpansion') return part.type === 'Glob'
  return part.items.some((item) => item.type === 'Word' && item.word.parts.some(hasPattern))
}

/** The command with folders in place of such patterns, or how it fails because of them. */
export async function withFolders(shell: Watched, node: Command, run: Run): Promise<Command | StepResult> {
  if (!MARKED.has(node)) return node
  const lists: Word[][] = []
  for (const list of wordLists(node)) {
    const words: Word[] = []
    for (const word of list) {
      const found = await expanded(shell, word, run)
      if (!Array.isArray(found)) return found
      words.push(...found)
    }
    lists.push(words)
  }
  const [first = [], ...arrays] = lists
  if (node.type === 'For') return { ...node, words: first }
  if (node.type !== 'SimpleCommand') return node
  const assignments = node.assignments.map((one, i) => (one.array ? { ...one, array: arrays[i] ?? [] } : one))
  return { ...node, args: first, assignments }
}

async function expanded(shell: Watched, word: Word, run: Run): Promise<Word[] | StepResult> {
  if (hasGlobstar(word) && shell.ctx.state.shoptOptions.globstar) return expandGlobstar(shell, word, run)
  if (endsInSlash(word)) return folders(shell, word, run)
  return wordsOfRange(word) ?? [word]
}

async function folders(shell: Watched, word: Word, run: Run): Promise<Word[] | StepResult> {
  const { options, shoptOptions, env } = shell.ctx.state
  const parts = withoutSlashes(word, env)
  if (parts === null) return [word]
  const pattern = { ...word, parts }
  const words = await wordsAlone(shell, pattern, run)
  if (!Array.isArray(words)) {
    return { ...words, stderr: words.stderr.replace(/(no match: .*)\n$/, (_, message: string) => `${message}/\n`) }
  }
  const found: string[] = []
  for (const one of words) if (options.noglob || (await isFolderOrNothing(shell, one))) found.push(one)
  if (found.length > 0 || shoptOptions.nullglob) return inOrder(found).map(literal)
  const unmatched = await withOption(options, 'noglob', true, () => wordsAlone(shell, pattern, run))
  if (!Array.isArray(unmatched)) return unmatched
  const texts = unmatched.map((one) => `${one}/`)
  if (shoptOptions.failglob) return { stdout: '', stderr: `bash: no match: ${texts[0]}\n`, exitCode: 1 }
  return texts.map(literal)
}

/** With the slash, `a-b/` comes before `a/`; what several patterns matched stays apart. */
function inOrder(names: readonly string[]): string[] {
  const texts: string[] = []
  for (const name of names) {
    const text = `${name}/`
    let at = texts.length
    while (at > 0 && text < (texts[at - 1] ?? '') && name.startsWith((texts[at - 1] ?? '').slice(0, -1))) at--
    texts.splice(at, 0, text)
  }
  return texts
}

/** A pattern that matched nothing is left as a word, which is the name of nothing. */
async function isFolderOrNothing({ ctx }: Watched, word: string): Promise<boolean> {
  const path = ctx.fs.resolvePath(ctx.state.cwd, word)
  if (await ctx.fs.exists(path)) return (await ctx.fs.stat(path)).isDirectory
  try {
    await ctx.fs.lstat(path)
    // A link that leads nowhere.
    return false
  } catch (error) {
    if (isFileError(error)) return true
    throw error
  }
}

/** Null for a word that is none of those after all. */
function withoutSlashes({ parts }: Word, variables: ReadonlyMap<string, string>): Part[] | null {
  const last = parts.at(-1)
  const before = parts.slice(0, -1)
  const textIn = (part: Part) => variables.get(variableOf(part) ?? '') ?? ''
  if (last?.type === 'Literal') {
    const isPattern = before.some((part) => hasPattern(part) || IS_PATTERN.test(textIn(part)))
    if (!isPattern) return null
    const value = last.value.replace(/\/+$/, '')
    return value === '' ? before : [...before, { type: 'Literal', value }]
  }
  if (last?.type !== 'ParameterExpansion' || !/^\S*[*?[]\S*\/$/.test(textIn(last))) return null
  const pattern: Word = { type: 'Word', parts: [{ type: 'Literal', value: '/' }] }
  return [...before, { ...last, operation: { type: 'PatternRemoval', pattern, side: 'suffix', greedy: false } }]
}

const IS_PATTERN = /[*?[]/

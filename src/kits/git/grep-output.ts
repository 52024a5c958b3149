// The lines that a search found, as `git grep` prints them.

import type { Arguments } from './arguments.ts'
import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'

export type Matcher = (line: string) => Iterable<{ index: number; text: string }>

export interface SearchedFile {
  name: string
  lines: readonly string[]
  isBinary: boolean
}

interface Output {
  git: Invocation
  options: Arguments
  matcher: Matcher
  before: number
  after: number
  most: number
}

/** Prints one file after the other; answers whether the file counts as found. */
export function printMatches(git: Invocation, options: Arguments, matcher: Matcher): (file: SearchedFile) => boolean {
  const context = numberOf(options, 'context') ?? 0
  const output: Output = {
    git,
    options,
    matcher,
    before: numberOf(options, 'before-context') ?? context,
    after: numberOf(options, 'after-context') ?? context,
    most: numberOf(options, 'max-count') ?? Number.POSITIVE_INFINITY,
  }
  let hasPrinted = false
  return (file) => {
    const found = linesFound(file, output)
    if (options.has('files-without-match')) {
      if (found.length === 0 && !options.has('quiet')) name(output, file.name)
      return found.length === 0
    }
    if (found.length === 0 || options.has('quiet')) return found.length > 0
    if (options.has('files-with-matches')) name(output, file.name)
    else if (options.has('count'))
      git.out(options.has('no-filename') ? `${found.length}\n` : `${named(output, file.name, ':')}${found.length}\n`)
    else if (file.isBinary) git.line(`Binary file ${file.name} matches`)
    else {
      if (hasPrinted && options.has('break')) git.line()
      else if (hasPrinted && output.before + output.after > 0) git.line('--')
      if (options.has('heading')) name(output, file.name)
      printLines(file, found, output)
    }
    hasPrinted = true
    return true
  }
}

function numberOf(options: Arguments, name: string): number | null {
  const text = options.value(name)
  if (text === null) return null
  if (!/^\d+$/.test(text)) throw fatal(`option \`${name}' expects a numerical value`)
  return Number(text)
}

function linesFound({ lines }: SearchedFile, { options, matcher, most }: Output): number[] {
  const isInverted = options.has('invert-match')
  const found: number[] = []
  for (const [i, line] of lines.entries()) {
    if (found.length >= most) break
    const [first] = matcher(line.replace(/\n$/, ''))
    if ((first !== undefined) !== isInverted) found.push(i)
  }
  return found
}

function name({ git, options }: Output, text: string): void {
  git.out(text + (options.has('null') ? '\0' : '\n'))
}

function named({ options }: Output, text: string, sign: string): string {
  return text + (options.has('null') ? '\0' : sign)
}

function printLines({ name: file, lines }: SearchedFile, found: readonly number[], output: Output): void {
  const { git, options, before, after, matcher } = output
  const isFound = new Set(found)
  let printed = -1
  const print = (i: number, sign: ':' | '-', text: string, column?: number) => {
    let head = options.has('no-filename') || options.has('heading') ? '' : named(output, file, sign)
    if (options.latest('line-number', 'no-line-number') === 'line-number') head += named(output, `${i + 1}`, sign)
    if (options.has('column') && column !== undefined) head += named(output, `${column + 1}`, sign)
    git.out(`${head}${text}\n`)
  }
  const bare = (i: number) => (lines[i] ?? '').replace(/\n$/, '')
  for (const i of found) {
    const start = Math.max(printed + 1, i - before)
    if (printed >= 0 && start > printed + 1 && before + after > 0) git.line('--')
    for (let at = start; at < i; at++) print(at, '-', bare(at))
    const matches = [...matcher(bare(i))]
    if (options.has('only-matching') && !options.has('invert-match'))
      for (const { text, index } of matches) {
        if (text !== '') print(i, ':', text, index)
      }
    else print(i, ':', bare(i), matches[0]?.index ?? 0)
    printed = i
    for (let at = i + 1; at <= i + after && at < lines.length && !isFound.has(at); at++) {
      print(at, '-', bare(at))
      printed = at
    }
  }
}

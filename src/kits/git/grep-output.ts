// Prints the found lines like `git grep`.

import type { Arguments } from './arguments.ts'
import { fatal } from './failure.ts'
import type { LineTest } from './grep-expression.ts'
import type { Invocation } from './invocation.ts'

export interface Matching {
  /** A line must pass one of them. */
  tests: readonly LineTest[]
  /** All matches of the patterns in a line. */
  find: (line: string) => Iterable<{ index: number; text: string }>
}

export interface SearchedFile {
  name: string
  lines: readonly string[]
  isBinary: boolean
}

interface Output {
  git: Invocation
  options: Arguments
  matching: Matching
  before: number
  after: number
  most: number
}

/** Prints one file after another; returns whether the file counts as found. */
export function printMatches(git: Invocation, options: Arguments, matching: Matching): (file: SearchedFile) => boolean {
  const context = numberOf(options, 'context') ?? 0
  const output: Output = {
    git,
    options,
    matching,
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
      else if (hasPrinted && (output.before + output.after > 0 || options.has('function-context'))) git.line('--')
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

function linesFound({ lines }: SearchedFile, { options, matching, most }: Output): number[] {
  const { tests } = matching
  const bare = lines.map((line) => line.replace(/\n$/, ''))
  if (options.has('all-match') && !tests.every((test) => bare.some((line) => test(line)))) return []
  const isInverted = options.has('invert-match')
  const found: number[] = []
  for (const [i, line] of bare.entries()) {
    if (found.length >= most) break
    if (tests.some((test) => test(line)) !== isInverted) found.push(i)
  }
  return found
}

function name({ git, options }: Output, text: string): void {
  git.out(text + (options.has('null') ? '\0' : '\n'))
}

function named({ options }: Output, text: string, sign: string): string {
  return text + (options.has('null') ? '\0' : sign)
}

type Sign = ':' | '-' | '='

const isFunctionLine = (line: string): boolean => /^[A-Za-z_$]/.test(line)

function printLines(file: SearchedFile, found: readonly number[], output: Output): void {
  const printer = new LinePrinter(file, output)
  for (const [i, at] of found.entries()) printer.found(at, found[i + 1] ?? file.lines.length)
}

class LinePrinter {
  readonly #file: SearchedFile
  readonly #output: Output
  readonly #lines: readonly string[]
  /** The last printed line. */
  #printed = -1

  constructor(file: SearchedFile, output: Output) {
    this.#file = file
    this.#output = output
    this.#lines = file.lines.map((line) => line.replace(/\n$/, ''))
  }

  /** A found line, with its context up to the next one. */
  found(at: number, next: number): void {
    const { options, after, matching } = this.#output
    const line = this.#lines[at] ?? ''
    if (this.#hasContext) this.#above(at)
    else if (options.has('show-function')) this.#functionAbove(at)
    const matches = [...matching.find(line)]
    if (options.has('only-matching') && !options.has('invert-match')) {
      for (const { text, index } of matches) if (text !== '') this.#print(at, ':', { text, column: index })
    } else this.#print(at, ':', { column: matches[0]?.index ?? 0 })
    this.#printed = at
    const end = Math.max(at + 1 + after, options.has('function-context') ? this.#functionEnd(at) : 0)
    for (let i = at + 1; i < Math.min(end, next, this.#lines.length); i++) this.#print(i, '-')
  }

  get #isWhole(): boolean {
    return this.#output.options.has('function-context')
  }

  get #hasContext(): boolean {
    return this.#output.before + this.#output.after > 0 || this.#isWhole
  }

  #print(at: number, sign: Sign, { text, column }: { text?: string; column?: number } = {}): void {
    const { git, options } = this.#output
    if (this.#hasContext && this.#printed >= 0 && at > this.#printed + 1) git.line('--')
    let head = options.has('no-filename') || options.has('heading') ? '' : named(this.#output, this.#file.name, sign)
    if (options.latest('line-number', 'no-line-number') === 'line-number')
      head += named(this.#output, `${at + 1}`, sign)
    if (options.has('column') && column !== undefined) head += named(this.#output, `${column + 1}`, sign)
    git.out(`${head}${text ?? this.#lines[at] ?? ''}\n`)
    this.#printed = at
  }

  /** The lines before one: the requested number, or from the start of the function, with the heading above it. */
  #above(at: number): void {
    const { before, options } = this.#output
    const first = Math.max(this.#printed + 1, at - before)
    let start = this.#isWhole ? this.#functionStart(at, first) : first
    let naming = -1
    if (this.#isWhole || options.has('show-function'))
      for (let i = at - 1; i >= start && naming < 0; i--)
        if (isFunctionLine(this.#lines[i] ?? '') && !(this.#isWhole && isFunctionLine(this.#lines[at] ?? '')))
          naming = i
    if (options.has('show-function') && !this.#isWhole && naming < 0) this.#functionAbove(start)
    for (start = Math.max(start, this.#printed + 1); start < at; start++)
      this.#print(start, start === naming ? '=' : '-')
  }

  /** The start of the function that contains the line, including the lines directly above it. */
  #functionStart(at: number, usual: number): number {
    let start = at
    while (start > this.#printed + 1 && !isFunctionLine(this.#lines[start] ?? '')) start--
    if (!isFunctionLine(this.#lines[start] ?? '')) return Math.min(start, usual)
    const isSaid = (i: number) => !/^\s*$/.test(this.#lines[i] ?? '') && !isFunctionLine(this.#lines[i] ?? '')
    while (start > this.#printed + 1 && isSaid(start - 1)) start--
    return Math.min(start, usual)
  }

  /** After its last line, without the empty lines before the next function. */
  #functionEnd(at: number): number {
    let end = at + 1
    while (end < this.#lines.length && !isFunctionLine(this.#lines[end] ?? '')) end++
    const isNext = end < this.#lines.length
    while (isNext && end > at + 1 && /^\s*$/.test(this.#lines[end - 1] ?? '')) end--
    return end
  }

  /** The line that names the function, unless it was printed. */
  #functionAbove(at: number): void {
    for (let i = at - 1; i > this.#printed; i--) {
      if (!isFunctionLine(this.#lines[i] ?? '')) continue
      this.#print(i, '=')
      return
    }
  }
}

// The maximum that the readers of a pipe read, judging by their arguments. A stage ends before the next one starts, so
// an endless writer (`while :; do echo x; done | head -3`) is stopped after more than its readers would read.

import type { Watched } from './position.ts'
import type { Command, SimpleCommand, Statement } from './shape.ts'
import type { Word } from './words-alone.ts'

type ReadLimit = { unit: 'lines' | 'bytes'; count: number; isWanted?: (line: string) => boolean }
/** `null` if the arguments do not show it. `same`: it reads as much as its own reader. */
type ReaderDemand = ReadLimit | 'same' | null

/** The size of a pipe's buffer without a reader, and of one read. */
const LEFT_UNREAD = 65_536 + 4096

/** Counts the output for readers with a limit. */
export class ReaderWants {
  readonly #most: ReadLimit
  #taken = 0
  #unread = 0
  /** The start of an incomplete line. */
  #begun = ''

  constructor(most: ReadLimit) {
    this.#most = most
  }

  get areExceeded(): boolean {
    return this.#unread > LEFT_UNREAD
  }

  note(bytes: string): void {
    const { unit, count, isWanted } = this.#most
    let at = 0
    if (unit === 'bytes') {
      at = Math.min(bytes.length, count - this.#taken)
      this.#taken += at
    }
    while (unit === 'lines' && this.#taken < count) {
      const end = bytes.indexOf('\n', at)
      if (isWanted) this.#begun += bytes.slice(at, end < 0 ? undefined : end)
      if (end < 0) return
      if (!isWanted || isWanted(this.#begun)) this.#taken++
      this.#begun = ''
      at = end + 1
    }
    this.#unread += bytes.length - at
  }
}

/** `readers` in the order of the pipe. Null if they may read everything. */
export function readerWants(shell: Watched, readers: readonly Command[]): ReaderWants | null {
  for (const reader of readers) {
    const wanted = wantedBy(shell, reader)
    if (wanted === null) return null
    if (wanted !== 'same') return new ReaderWants(wanted)
  }
  return null
}

function wantedBy(shell: Watched, reader: Command): ReaderDemand {
  const { ctx } = shell
  if (reader.type === 'Group' || reader.type === 'Subshell') return ofGroup(shell, reader)
  if (reader.type === 'While') return ofLoop(shell, reader)
  if (reader.type !== 'SimpleCommand' || reader.name === null) return null
  if (reader.redirections.some(({ operator }) => operator.startsWith('<'))) return null
  const words: string[] = []
  for (const word of [reader.name, ...reader.args]) {
    const text = textOf(ctx.state.env, word)
    if (text === null) return null
    words.push(text)
  }
  const [name = '', ...args] = words
  if (ctx.state.functions.has(name)) return null
  return WANTED[name]?.(args) ?? null
}

const ADDRESS = /^(\d*)(?:q|\{[^{}]*\bq;?\})$/
const RECORD = /(?:^|[;}])NR(?:==|>)(\d+)\{[^{}]*\bexit;?\}/
const FIRST_RECORD = /^()\{[^{}]*\bexit;?\}/
/** With these, the exiting rule may never be reached. */
const OTHERWISE = /\bnext|\bgetline\b|\bNR(?:=[^=]|\+|-)|\bRS\b|\bif\b|\bfor\b|\bwhile\b|\?/

const WANTED: Readonly<Record<string, (args: readonly string[]) => ReaderDemand>> = {
  cat: (args) => (args.length === 0 ? 'same' : null),
  // They write one line for each line.
  cut: (args) =>
    args.every((arg) => arg.startsWith('-')) && !args.some((arg) => /^-\w*[sz]/.test(arg)) ? 'same' : null,
  rev: (args) => (args.length === 0 ? 'same' : null),
  nl: (args) => (args.length === 0 ? 'same' : null),
  tee: (args) => (args.some((arg) => /^-(?!a$|-append$|i$)/.test(arg)) ? null : 'same'),
  // The replaced characters include no line ends.
  tr: ([from = '', to = '', ...more]) =>
    more.length === 0 && to !== '' && !/^-|\\n|\n|[[]/.test(from + to) ? 'same' : null,
  read: (args) => (args.every((arg) => arg === '-r' || !arg.startsWith('-')) ? { unit: 'lines', count: 1 } : null),
  grep: ofGrep,
  head: ofHead,
  sed: (args) =>
    ofProgram(
      args.filter((arg) => !/^-[nEr]+$/.test(arg)),
      ADDRESS,
    ),
  awk: ofAwk,
}

/** With `-q` the first matching line is enough, with `-m` the given number; only for literal patterns. */
function ofGrep(args: readonly string[]): ReaderDemand {
  const options = args.filter((arg) => arg.startsWith('-')).join(' ')
  const [, most] = /^(?:-(?:m ?|-max-count=)(\d+)|-q|--quiet)$/.exec(options) ?? []
  const isNumberApart = /^-m$/.test(options)
  const operands = args.filter((arg) => !arg.startsWith('-'))
  const [count, pattern, ...files] = isNumberApart ? operands : [most ?? '1', ...operands]
  const isKnown = isNumberApart || most !== undefined || /^(?:-q|--quiet)$/.test(options)
  if (!isKnown || !pattern || files.length > 0 || !/^[\w ,:;/@#%=-]+$/.test(pattern)) return null
  return { unit: 'lines', count: Number(count), isWanted: (line) => line.includes(pattern) }
}

/** Commands that do not read their input. */
const BLIND: ReadonlySet<string> = new Set([...'echo printf : true false test [ break exit'.split(' ')])

/** The number of lines is the number of `read` calls, if nothing else reads. */
function ofGroup(shell: Watched, { body }: { body: readonly Statement[] }): ReaderDemand {
  let count = 0
  for (const { pipelines } of body) {
    for (const { commands } of pipelines) {
      const [command, ...more] = commands
      if (command?.type !== 'SimpleCommand' || more.length > 0) return null
      const wanted = wantedBy(shell, command)
      if (wanted !== null && wanted !== 'same' && wanted.unit === 'lines' && nameOf(command) === 'read')
        count += wanted.count
      else if (!BLIND.has(nameOf(command))) return null
    }
  }
  return { unit: 'lines', count }
}

/** `while read x; do …; break; done` reads one line. */
function ofLoop(
  shell: Watched,
  { condition, body }: { condition: readonly Statement[]; body: readonly Statement[] },
): ReaderDemand {
  const last = body.at(-1)?.pipelines
  const end = last?.length === 1 ? last[0]?.commands[0] : undefined
  const ends = end?.type === 'SimpleCommand' && nameOf(end) === 'break' && end.args.length === 0
  const both = ofGroup(shell, { body: [...condition, ...body] })
  return ends ? both : null
}

const nameOf = ({ name }: SimpleCommand): string =>
  name?.parts.map((part) => (part.type === 'Literal' ? part.value : '\0')).join('') ?? ''

function ofHead(args: readonly string[]): ReaderDemand {
  const words = args.join(' ')
  if (words === '') return { unit: 'lines', count: 10 }
  const found = /^-(?:(?:([nc]) ?|-(lines|bytes)[= ])?(\d{1,9}))$/.exec(words)
  if (!found) return null
  const unit = found[1] === 'c' || found[2] === 'bytes' ? 'bytes' : 'lines'
  return { unit, count: Number(found[3]) }
}

function ofAwk(args: readonly string[]): ReaderDemand {
  if (args.some((arg) => OTHERWISE.test(arg))) return null
  const most = ofProgram(args, RECORD) ?? ofProgram(args, FIRST_RECORD)
  // `NR > 3` exits at the fourth; for the others one more line is harmless.
  return most && most !== 'same' ? { ...most, count: most.count + 1 } : most
}

function ofProgram([text, ...more]: readonly string[], pattern: RegExp): ReaderDemand {
  const found =
    text === undefined || more.length > 0 ? null : pattern.exec(text.replaceAll(/\s*([;{}=])\s*/g, '$1').trim())
  return found ? { unit: 'lines', count: Number(found[1] || 1) } : null
}

/** Null if it contains more than texts and plain variables. */
function textOf(env: ReadonlyMap<string, string>, { parts }: Pick<Word, 'parts'>): string | null {
  let text = ''
  for (const part of parts) {
    if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'Escaped') text += part.value
    else if (part.type === 'DoubleQuoted') {
      const inner = textOf(env, part)
      if (inner === null) return null
      text += inner
    } else if (part.type === 'ParameterExpansion' && part.operation === null && env.has(part.parameter)) {
      text += env.get(part.parameter) ?? ''
    } else return null
  }
  return text
}

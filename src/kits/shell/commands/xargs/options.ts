// The options of `xargs`. Of mutually exclusive ones the last one is used, with a warning about the others.

import { type GnuOptions, type GnuSpec, readGnuOptions } from '../gnu-options.ts'

export interface Settings {
  separator: string | null
  replaced: string | null
  maxWords: number
  maxLines: number
  /** The limit of a command with its words and their terminators. */
  maxChars: number
  /** Whether words that do not fit in one command line are an error instead of causing another command. */
  isExact: boolean
  /** The word that ends the input. */
  lastWord: string | null
  isVerbose: boolean
  skipsEmpty: boolean
  file: string | null
  /** The variable with the number of each parallel command. */
  slot: string | null
  command: string[]
  warnings: string
}

/** An error message of `xargs`; the exit code is 1. */
export class Misuse extends Error {}

/** The usual limit of a command line. */
const MAX_COMMAND_CHARS = 128 * 1024

const SPEC: GnuSpec = {
  name: 'xargs',
  letters: '0a:d:E:e::I:i::L:l::n:oP:prs:tx',
  long: {
    ...{ null: '0', 'arg-file=': 'a', 'delimiter=': 'd', 'eof=?': 'e', 'replace=?': 'i', 'max-lines=?': 'l' },
    ...{ 'max-args=': 'n', 'open-tty': 'o', 'max-procs=': 'P', interactive: 'p', 'no-run-if-empty': 'r' },
    ...{ 'max-chars=': 's', verbose: 't', exit: 'x', 'process-slot-var=': 'slot', 'show-limits': 'limits' },
    help: 'help',
  },
  stopsAtOperand: true,
}
const HINT = "\nTry 'xargs --help' for more information."
const REFUSED: Readonly<Record<string, string>> = { o: '-o', p: '-p', limits: '--show-limits', help: '--help' }

export function xargsSettings(args: readonly string[]): Settings {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) throw new Misuse(read.stderr.replace(/^xargs: |\n$/g, ''))
  for (const [name, option] of Object.entries(REFUSED)) {
    if (read.has(name)) throw new Misuse(`option ${option} is not available here`)
  }
  const [mode, warnings] = lastMode(read)
  const replaced = mode?.name === 'I' || mode?.name === 'i' ? mode.value || '{}' : null
  const isByLines = mode?.name === 'L' || mode?.name === 'l'
  countOf('P', read.value('P'), 0)
  return {
    separator: separatorOf(read),
    replaced,
    maxWords: mode?.name === 'n' ? countOf('n', mode.value) : Number.POSITIVE_INFINITY,
    maxLines: isByLines ? (mode.value === '' ? 1 : countOf(mode.name, mode.value)) : Number.POSITIVE_INFINITY,
    maxChars: Math.min(countOf('s', read.value('s')), MAX_COMMAND_CHARS),
    isExact: read.has('x') || replaced !== null,
    lastWord: read.given.findLast(({ name }) => name === 'E' || name === 'e')?.value || null,
    isVerbose: read.has('t'),
    skipsEmpty: read.has('r') || replaced !== null,
    file: read.value('a') ?? null,
    slot: read.value('slot') ?? null,
    command: read.operands.length > 0 ? read.operands : ['echo'],
    warnings,
  }
}

type ParsedOption = GnuOptions['given'][number]

/** The names of an option in the warning, if it is used and if it is ignored. */
const MODES: Readonly<Record<string, { chosen: string; left: string }>> = {
  n: { chosen: '--max-args/-n', left: '--max-args' },
  L: { chosen: '-L', left: '--max-lines' },
  l: { chosen: '--max-lines/-l', left: '--max-lines' },
  I: { chosen: '--replace/-I/-i', left: '--replace' },
  i: { chosen: '--replace/-I/-i', left: '--replace' },
}

function lastMode(read: GnuOptions): [ParsedOption | undefined, string] {
  let chosen: ParsedOption | undefined
  let warnings = ''
  for (const one of read.given) {
    const words = MODES[one.name]
    if (!words) continue
    const before = chosen && MODES[chosen.name]
    // `-n 1` together with `-I` has no further effect.
    const isSame = one.name === 'n' && one.value === '1' && before?.left === '--replace'
    if (isSame) continue
    if (before && before.left !== words.left) {
      const named = `${before.left} and ${words.chosen}`
      warnings += `xargs: warning: options ${named} are mutually exclusive, ignoring previous ${before.left} value\n`
    }
    chosen = one
  }
  return [chosen, warnings]
}

function separatorOf(read: GnuOptions): string | null {
  const last = read.given.findLast(({ name }) => name === '0' || name === 'd')
  if (!last) return null
  return last.name === '0' ? '\0' : unescaped(last.value)
}

function countOf(letter: string, text: string | undefined, least = 1): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  if (!/^[+-]?\d+$/.test(text)) throw new Misuse(`invalid number "${text}" for -${letter} option${HINT}`)
  if (Number(text) < least) throw new Misuse(`value ${text} for -${letter} option should be >= ${least}${HINT}`)
  return Number(text)
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\' },
}

function unescaped(text: string): string {
  if (text.length === 1) return text
  const [, letter = '', octal, hex] = /^\\(?:([abfnrtv\\])|0?([0-7]{1,3})|x([0-9a-fA-F]{1,2}))$/.exec(text) ?? []
  if (letter !== '') return ESCAPES[letter] ?? ''
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
  throw new Misuse(
    text.startsWith('\\')
      ? `Invalid escape sequence ${text} in input delimiter specification.`
      : `Invalid input delimiter specification ${text}: the delimiter must be either a single character or an escape sequence starting with \\.`,
  )
}

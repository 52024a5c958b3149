// `getopt` of util-linux: normalizes the options of a script.

import { quoted } from '../../interpreter-command.ts'
import type { ShellCommand, ShellResult } from '../../shell-extensions.ts'
import { type GnuOptions, type GnuSpec, readGnuOptions } from '../gnu-options.ts'

const EXIT_USAGE = 2
const EXIT_IS_ENHANCED = 4
const SPEC: GnuSpec = {
  name: 'getopt',
  letters: 'ao:l:n:qQs:Tu',
  long: {
    ...{ alternative: 'a', 'options=': 'o', 'longoptions=': 'l', 'longopts=': 'l', 'name=': 'n', quiet: 'q' },
    ...{ 'quiet-output': 'Q', 'shell=': 's', test: 'T', unquoted: 'u' },
  },
  stopsAtOperand: true,
  exitCode: EXIT_USAGE,
}

type Takes = 'nothing' | 'value' | 'perhaps'

export const runGetopt: ShellCommand['run'] = async (args) => {
  const [first] = args
  // The old form: the letters, and then the arguments.
  if (first !== undefined && !first.startsWith('-')) {
    return ordered({ letters: first, long: [], name: 'getopt', words: args.slice(1), isUnquoted: true, read: null })
  }
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('T')) return { stdout: '', stderr: '', exitCode: EXIT_IS_ENHANCED }
  const shell = read.value('s') ?? 'bash'
  if (!/^(ba)?sh$/.test(shell)) {
    return { stdout: '', stderr: `getopt: words for the shell ${shell} are not available here\n`, exitCode: EXIT_USAGE }
  }
  const given = read.value('o')
  const [letters, words] = given === undefined ? [read.operands[0], read.operands.slice(1)] : [given, read.operands]
  if (letters === undefined) {
    const stderr = "getopt: missing optstring argument\nTry 'getopt --help' for more information.\n"
    return { stdout: '', stderr, exitCode: EXIT_USAGE }
  }
  const long = read.given
    .filter(({ name }) => name === 'l')
    .flatMap(({ value }) => value.split(/[\s,]+/).filter((one) => one !== ''))
  return ordered({ letters, long, name: read.value('n') ?? 'getopt', words, isUnquoted: read.has('u'), read })
}

interface Ordering {
  letters: string
  long: readonly string[]
  name: string
  words: readonly string[]
  isUnquoted: boolean
  read: GnuOptions | null
}

function ordered(ordering: Ordering): ShellResult {
  const run = new Getopt(ordering)
  const { words, problems } = run.all()
  const stdout = ordering.read?.has('Q') ? '' : `${words.map((word) => ` ${word}`).join('')}\n`
  const stderr = ordering.read?.has('q') ? '' : problems.map((problem) => `${ordering.name}: ${problem}\n`).join('')
  return { stdout, stderr, exitCode: problems.length > 0 ? 1 : 0 }
}

class Getopt {
  readonly #ordering: Ordering
  /** `+` ends the options at the first operand, `-` keeps the order of operands. */
  readonly #order: '+' | '-' | ''
  readonly #out: string[] = []
  readonly #operands: string[] = []
  readonly #problems: string[] = []
  #at = 0

  constructor(ordering: Ordering) {
    const mark = ordering.letters.charAt(0)
    this.#order = mark === '+' || mark === '-' ? mark : ''
    this.#ordering = { ...ordering, letters: ordering.letters.slice(this.#order.length).replace(/^:/, '') }
  }

  all(): { words: string[]; problems: string[] } {
    const { words } = this.#ordering
    for (; this.#at < words.length; this.#at++) {
      const word = words[this.#at] ?? ''
      if (word === '--') {
        this.#operands.push(...words.slice(this.#at + 1))
        break
      }
      if (word.length < 2 || !word.startsWith('-')) {
        if (this.#order === '-') this.#out.push(this.#quote(word))
        else this.#operands.push(word)
        if (this.#order !== '+') continue
        this.#operands.push(...words.slice(this.#at + 1))
        break
      }
      if (word.startsWith('--')) this.#long(word.slice(2), '--')
      else if (this.#ordering.read?.has('a') && this.#isLong(word.slice(1))) this.#long(word.slice(1), '-')
      else this.#short(word.slice(1))
    }
    return { words: [...this.#out, '--', ...this.#operands.map((word) => this.#quote(word))], problems: this.#problems }
  }

  #quote(word: string): string {
    return this.#ordering.isUnquoted ? word : quoted(word)
  }

  #isLong(word: string): boolean {
    const [name = ''] = word.split('=')
    const isLetter = name.length === 1 && this.#ordering.letters.includes(name)
    return !isLetter && this.#ordering.long.some((one) => one.startsWith(name))
  }

  #short(letters: string): void {
    const known = this.#ordering.letters
    for (let i = 0; i < letters.length; i++) {
      const letter = letters.charAt(i)
      const at = letter === ':' ? -1 : known.indexOf(letter)
      if (at < 0) {
        this.#problems.push(`invalid option -- '${letter}'`)
        continue
      }
      const takes = takesOf(known.slice(at + 1))
      const rest = letters.slice(i + 1)
      if (takes === 'nothing') this.#out.push(`-${letter}`)
      else {
        const value = rest !== '' || takes === 'perhaps' ? rest : this.#ordering.words[++this.#at]
        if (value === undefined) this.#problems.push(`option requires an argument -- '${letter}'`)
        else this.#out.push(`-${letter}`, this.#quote(value))
        return
      }
    }
  }

  #long(word: string, dashes: '-' | '--'): void {
    const equals = word.indexOf('=')
    const typed = equals < 0 ? word : word.slice(0, equals)
    const inline = equals < 0 ? undefined : word.slice(equals + 1)
    const plain = (one: string) => one.replace(/:+$/, '')
    const exact = this.#ordering.long.filter((one) => plain(one) === typed)
    const fitting = exact.length > 0 ? exact.slice(-1) : this.#ordering.long.filter((one) => one.startsWith(typed))
    const [found, other] = fitting
    if (found === undefined) {
      this.#problems.push(`unrecognized option '${dashes}${typed}'`)
      return
    }
    if (other !== undefined) {
      const names = fitting.map((one) => ` '${dashes}${plain(one)}'`).join('')
      this.#problems.push(`option '${dashes}${word}' is ambiguous; possibilities:${names}`)
      return
    }
    const name = plain(found)
    const takes = takesOf(found.slice(name.length))
    if (takes === 'nothing') {
      if (inline === undefined) this.#out.push(`--${name}`)
      else this.#problems.push(`option '${dashes}${name}' doesn't allow an argument`)
      return
    }
    const value = inline ?? (takes === 'perhaps' ? '' : this.#ordering.words[++this.#at])
    if (value === undefined) this.#problems.push(`option '${dashes}${name}' requires an argument`)
    else this.#out.push(`--${name}`, this.#quote(value))
  }
}

function takesOf(colons: string): Takes {
  if (!colons.startsWith(':')) return 'nothing'
  return colons.startsWith('::') ? 'perhaps' : 'value'
}

// Parses options like git: combined short ones, long ones with `=` or a separate value, abbreviated ones, and `--`.

import { GitFailure } from './failure.ts'
import { refuseConflicts } from './option-conflicts.ts'

export class Arguments {
  readonly #values = new Map<string, string[]>()
  readonly #order: { name: string; value: string }[] = []
  /** Arguments that are not options, before and after `--`. */
  readonly plain: string[] = []
  /** Null if there was no `--`. */
  paths: string[] | null = null

  add(name: string, value: string): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value])
    this.#order.push({ name, value })
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** The last given value; `''` for an option without a value. */
  value(name: string): string | null {
    return this.all(name).at(-1) ?? null
  }

  /** Removes the option. */
  drop(name: string): void {
    this.#values.delete(name)
  }

  /** The option that was given last; null if none was. */
  latest(...names: string[]): string | null {
    return this.inOrder(...names).at(-1)?.name ?? null
  }

  /** The given ones of these options, in the order of the command line. */
  inOrder(...names: string[]): { name: string; value: string }[] {
    return this.#order.filter(({ name }) => names.includes(name))
  }

  all(name: string): string[] {
    return this.#values.get(name) ?? []
  }

  /** All arguments that are not options. */
  get rest(): string[] {
    return [...this.plain, ...(this.paths ?? [])]
  }

  /** Fails if more than one of the options was given. */
  assertOne(...names: string[]): void {
    const given = names.filter((name) => this.has(name))
    if (given.length > 1)
      throw new GitFailure(`fatal: options '--${given[0]}' and '--${given[1]}' cannot be used together`, 128)
  }
}

const SHOWN_AGAIN = ['patch', 'unified', 'patch-with-raw', 'patch-with-stat', 'binary']

interface Option {
  name: string
  letters: string[]
  words: string[]
  value: 'none' | 'needed' | 'optional' | 'next'
}

/**
 * Options of git that start with the name of another one. If a command does not have them, they are not abbreviations
 * of anything.
 */
const WHOLE_NAMES: ReadonlySet<string> = new Set(
  'abbrev all base branch cherry cherry-pick exclude file format glob log merge not objects output parents skip source stat stdin'.split(
    ' ',
  ),
)

/**
 * Each option is written as its names with `|` between them, a long one first if there is one: that is its key. A `=`
 * after it means that it requires a value, `?` that it may have one after a `=`, and `=?` that the next word is its
 * value if there is one.
 */
export function parseArguments(command: string, specs: readonly string[], args: readonly string[]): Arguments {
  const options = specs.map(optionOf)
  const parsed = new Arguments()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const takeNext = () => {
      const next = args[++i]
      if (next === undefined) throw new GitFailure(`error: ${shown(arg)} requires a value`, 129)
      return next
    }
    if (arg === '--') {
      parsed.paths = args.slice(i + 1)
      break
    }
    if (arg.startsWith('--')) parseLong(parsed, { command, options, arg, takeNext, next: args[i + 1] })
    else if (arg.startsWith('-') && arg !== '-')
      parseShort(parsed, { command, options, arg, takeNext, next: args[i + 1] })
    else parsed.plain.push(arg)
  }
  refuseConflicts(command, parsed)
  // An output option after `-s` is effective.
  if (parsed.latest('no-patch', ...SHOWN_AGAIN) !== 'no-patch') parsed.drop('no-patch')
  return parsed
}

function optionOf(spec: string): Option {
  const value = spec.endsWith('=?') ? 'next' : spec.endsWith('=') ? 'needed' : spec.endsWith('?') ? 'optional' : 'none'
  const names = spec.replace(/[=?]+$/, '').split('|')
  const words = names.filter((name) => name.length > 1)
  return { name: words[0] ?? names[0] ?? '', letters: names.filter((name) => name.length === 1), words, value }
}

type Parsing = { command: string; options: Option[]; arg: string; takeNext: () => string; next: string | undefined }

function parseLong(parsed: Arguments, { command, options, arg, takeNext, next }: Parsing): void {
  const [, word = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(arg) ?? []
  const exact = options.find(({ words }) => words.includes(word))
  const begun = WHOLE_NAMES.has(word)
    ? []
    : options.filter(({ words }) => words.some((other) => other.startsWith(word)))
  const option = exact ?? (begun.length === 1 ? begun[0] : undefined)
  if (!option) throw unavailable(command, arg)
  if (option.value === 'none' && value !== undefined) {
    throw new GitFailure(`error: option \`${word}' takes no value`, 129)
  }
  const takes = option.value === 'needed' || (option.value === 'next' && next !== undefined)
  parsed.add(option.name, value ?? (takes ? takeNext() : ''))
}

function parseShort(parsed: Arguments, { command, options, arg, takeNext }: Parsing): void {
  for (let at = 1; at < arg.length; at++) {
    const option = options.find(({ letters }) => letters.includes(arg[at] ?? ''))
    if (!option) throw unavailable(command, `-${arg[at]}`)
    if (option.value === 'none') {
      parsed.add(option.name, '')
      continue
    }
    const joined = arg.slice(at + 1)
    parsed.add(option.name, joined !== '' ? joined : option.value === 'needed' ? takeNext() : '')
    return
  }
}

/** What these end with for an option that git does not know; of the others it is 129. */
const UNKNOWN_CODES: ReadonlyMap<string, number> = new Map([
  ['diff', 255],
  ['log', 128],
  ['show', 128],
  ['format-patch', 128],
])

function unavailable(command: string, option: string): GitFailure {
  const exitCode = UNKNOWN_CODES.get(command) ?? 129
  return new GitFailure(`git ${command}: option '${option.replace(/=.*/s, '')}' is not available here`, exitCode)
}

/** For a word that is none of the command's own, which may be an option. */
export function unknownWord(word: string, usage: string): GitFailure {
  const what = word.startsWith('--') ? 'option' : word.startsWith('-') ? 'switch' : 'subcommand'
  if (what === 'subcommand') return new GitFailure(`error: unknown subcommand: \`${word}'\n${usage}`, 129)
  return new GitFailure(`error: unknown ${what} \`${word.replace(/^--?/, '')}'\n${usage}`, 129)
}

function shown(arg: string): string {
  return arg.startsWith('--') ? `option \`${arg.slice(2)}'` : `switch \`${arg.slice(-1)}'`
}

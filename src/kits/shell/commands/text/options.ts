// Parses options like GNU's commands: combined letters, abbreviated long names, operands in between, and the error
// messages.

import { Misuse } from './misuse.ts'

/** Whether an option takes a value. */
type Arity = 'none' | 'value' | 'optional'

export interface OptionTable {
  arity: ReadonlyMap<string, Arity>
  /** Long names, each with its resulting name. */
  long: ReadonlyMap<string, string>
}

/**
 * Options as text: `lines=n:` is `-n VALUE` and `--lines=VALUE`, `s` is only the letter, `tag` only the long name, and
 * a second colon makes the value optional.
 */
export function optionTable(words: string): OptionTable {
  const arity = new Map<string, Arity>()
  const long = new Map<string, string>()
  for (const word of words.split(/\s+/).filter((one) => one !== '')) {
    const [, name = '', letter, colons = ''] = /^([^=:]+)(?:=([^:]))?(:{0,2})$/.exec(word) ?? []
    const known = letter ?? name
    arity.set(known, colons === '' ? 'none' : colons === ':' ? 'value' : 'optional')
    if (name.length > 1) long.set(name, known)
  }
  return { arity, long }
}

export class GivenOptions {
  readonly list: { name: string; value: string | null }[] = []
  readonly operands: string[] = []

  has(name: string): boolean {
    return this.list.some((option) => option.name === name)
  }

  /** Of the last given one. */
  value(name: string): string | undefined {
    return this.list.findLast((option) => option.name === name)?.value ?? undefined
  }

  /** The last given of several mutually exclusive ones. */
  lastOf(names: string): string | undefined {
    return this.list.findLast((option) => names.includes(option.name))?.name
  }
}

interface Reading {
  args: readonly string[]
  at: number
  table: OptionTable
  given: GivenOptions
}

/** Throws a `Misuse` for unknown options. `endsAtOperand` is for commands that run another one. */
export function readOptions(args: readonly string[], table: OptionTable, endsAtOperand = false): GivenOptions {
  const reading: Reading = { args, at: 0, table, given: new GivenOptions() }
  const { operands } = reading.given
  for (; reading.at < args.length; reading.at++) {
    const arg = args[reading.at] ?? ''
    const isOption = arg.length > 1 && arg.startsWith('-')
    if (arg === '--' || (!isOption && endsAtOperand)) {
      for (const operand of args.slice(arg === '--' ? reading.at + 1 : reading.at)) operands.push(operand)
      break
    }
    if (!isOption) operands.push(arg)
    else if (arg.startsWith('--')) readLong(arg, reading)
    else readLetters(arg, reading)
  }
  return reading.given
}

function readLong(arg: string, reading: Reading): void {
  const equals = arg.indexOf('=')
  const typed = arg.slice(2, equals < 0 ? undefined : equals)
  const { long, arity } = reading.table
  const fitting = long.has(typed) ? [typed] : [...long.keys()].filter((name) => name.startsWith(typed))
  const meanings = new Set(fitting.map((name) => long.get(name)))
  const [full] = fitting
  if (full === undefined) throw new Misuse(`unrecognized option '--${typed}'`)
  if (meanings.size > 1) {
    throw new Misuse(
      `option '--${typed}' is ambiguous; possibilities: ${fitting.map((name) => `'--${name}'`).join(' ')}`,
    )
  }
  const name = long.get(full) ?? full
  const kind = arity.get(name)
  let value = equals < 0 ? null : arg.slice(equals + 1)
  if (value !== null && kind === 'none') throw new Misuse(`option '--${full}' doesn't allow an argument`)
  if (value === null && kind === 'value') {
    value = reading.args[++reading.at] ?? null
    if (value === null) throw new Misuse(`option '--${full}' requires an argument`)
  }
  reading.given.list.push({ name, value })
}

function readLetters(arg: string, reading: Reading): void {
  const letters = [...arg.slice(1)]
  for (const [i, letter] of letters.entries()) {
    const kind = reading.table.arity.get(letter)
    if (kind === undefined) throw new Misuse(`invalid option -- '${letter}'`)
    if (kind === 'none') {
      reading.given.list.push({ name: letter, value: null })
      continue
    }
    const rest = letters.slice(i + 1).join('')
    const value = rest === '' && kind === 'value' ? (reading.args[++reading.at] ?? null) : rest === '' ? null : rest
    if (value === null && kind === 'value') throw new Misuse(`option requires an argument -- '${letter}'`)
    reading.given.list.push({ name: letter, value })
    return
  }
}

// Parses options like GNU's `getopt_long`: combined letters, abbreviated long names, operands anywhere.

export interface GnuSpec {
  name: string
  /** Letters; a colon after one means that it requires a value, two that it may have a joined one. */
  letters: string
  /** Long names with the letter or name that each stands for; `=` after a name for a value, `=?` for an optional one. */
  long?: Readonly<Record<string, string>>
  /** The first operand ends the options. */
  stopsAtOperand?: boolean
  exitCode?: number
}

export interface GnuOptions {
  ok: true
  /** In the given order. */
  given: { name: string; value: string }[]
  has(name: string): boolean
  /** The last one with that name. */
  value(name: string): string | undefined
  operands: string[]
  /** Options and operands (without a name) in their order. */
  sequence: { name: string; value: string }[]
}

export type ReadGnuOptions = GnuOptions | { ok: false; stderr: string; exitCode: number }

type Option = { name: string; takes: 'nothing' | 'value' | 'perhaps' }

export function readGnuOptions(args: readonly string[], spec: GnuSpec): ReadGnuOptions {
  const given: GnuOptions['given'] = []
  const operands: string[] = []
  const sequence: GnuOptions['sequence'] = []
  const addOperands = (words: readonly string[]) => {
    for (const value of words) {
      operands.push(value)
      sequence.push({ name: '', value })
    }
  }
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--' || (spec.stopsAtOperand && (arg === '-' || !arg.startsWith('-')))) {
      addOperands(args.slice(arg === '--' ? at + 1 : at))
      break
    }
    if (arg === '-' || !arg.startsWith('-')) addOperands([arg])
    else {
      const read = arg.startsWith('--') ? longOption(arg, args[at + 1], spec) : shortOptions(arg, args[at + 1], spec)
      if (typeof read === 'string') return misuse(spec, read)
      given.push(...read.given)
      sequence.push(...read.given)
      if (read.tookNext) at++
    }
  }
  return {
    ok: true,
    given,
    operands,
    sequence,
    has: (name) => given.some((one) => one.name === name),
    value: (name) => given.findLast((one) => one.name === name)?.value,
  }
}

/** The message about invalid options and operands. */
export function misuse({ name, exitCode = 1 }: Pick<GnuSpec, 'name' | 'exitCode'>, problem: string) {
  const stderr = `${name}: ${problem}\nTry '${name} --help' for more information.\n`
  return { ok: false as const, stdout: '', stderr, exitCode }
}

type Read = { given: GnuOptions['given']; tookNext: boolean }

function longOption(arg: string, next: string | undefined, { long = {} }: GnuSpec): Read | string {
  const equals = arg.indexOf('=')
  const word = equals < 0 ? arg.slice(2) : arg.slice(2, equals)
  const inline = equals < 0 ? undefined : arg.slice(equals + 1)
  const plain = (key: string) => key.replace(/=\??$/, '')
  const exact = Object.keys(long).filter((key) => plain(key) === word)
  const fitting = exact.length > 0 ? exact : Object.keys(long).filter((key) => key.startsWith(word))
  const meant = new Set(fitting.map((key) => long[key]))
  const [key] = fitting
  if (key === undefined) return `unrecognized option '${equals < 0 ? arg : arg.slice(0, equals)}'`
  if (meant.size > 1) {
    return `option '${arg}' is ambiguous; possibilities: ${fitting.map((one) => `'--${plain(one)}'`).join(' ')}`
  }
  const name = long[key] ?? ''
  if (key.endsWith('=?')) return { given: [{ name, value: inline ?? '' }], tookNext: false }
  if (!key.endsWith('=')) {
    if (inline !== undefined) return `option '--${plain(key)}' doesn't allow an argument`
    return { given: [{ name, value: '' }], tookNext: false }
  }
  const value = inline ?? next
  if (value === undefined) return `option '--${plain(key)}' requires an argument`
  return { given: [{ name, value }], tookNext: inline === undefined }
}

function shortOptions(arg: string, next: string | undefined, { letters }: GnuSpec): Read | string {
  const given: GnuOptions['given'] = []
  for (let i = 1; i < arg.length; i++) {
    const option = optionOf(arg.charAt(i), letters)
    if (option === null) return `invalid option -- '${arg.charAt(i)}'`
    const rest = arg.slice(i + 1)
    if (option.takes === 'nothing') given.push({ name: option.name, value: '' })
    else if (option.takes === 'perhaps' || rest !== '') {
      return { given: [...given, { name: option.name, value: rest }], tookNext: false }
    } else if (next === undefined) return `option requires an argument -- '${option.name}'`
    else return { given: [...given, { name: option.name, value: next }], tookNext: true }
  }
  return { given, tookNext: false }
}

function optionOf(letter: string, letters: string): Option | null {
  const at = letter === ':' ? -1 : letters.indexOf(letter)
  if (at < 0) return null
  const colons = /^:*/.exec(letters.slice(at + 1))?.[0].length ?? 0
  return { name: letter, takes: colons === 0 ? 'nothing' : colons === 1 ? 'value' : 'perhaps' }
}

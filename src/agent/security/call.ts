// One command with its words, as it would run, and the source of its input.

export type Output = {
  /** True when it certainly writes nothing. */
  readonly isEmpty: boolean
  /** The words of the commands that write it; they include the names that these commands print. */
  readonly words: readonly string[]
}

export type Input =
  /** The input of the script itself. */
  | { readonly kind: 'inherited' }
  /** The text is in the script. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'pipe'; readonly from: Output }

export type Call = {
  /** Without its folder; for commands with subcommands both words: `git push`. */
  readonly name: string
  readonly args: readonly string[]
  readonly input: Input
  /** Options before the subcommand. */
  readonly before?: readonly string[]
}

export type CommandRule = {
  readonly risk: 'medium' | 'high'
  readonly says: string
  readonly commands: readonly string[]
  /** A further condition on its words and its input. */
  readonly given: (call: Call) => boolean
  /** The risk is high when the command runs on search results. */
  readonly deletes?: true
}

export const INHERITED: Input = { kind: 'inherited' }
export const NO_OUTPUT: Output = { isEmpty: true, words: [] }

/** Output of which nothing is known. */
export const SOME_OUTPUT: Output = { isEmpty: false, words: [] }
export const MAX_WORDS_OF_PIPE = 400

export function together(outputs: readonly Output[]): Output {
  const words = outputs.flatMap((output) => output.words)
  return { isEmpty: outputs.every(({ isEmpty }) => isEmpty), words: words.slice(-MAX_WORDS_OF_PIPE) }
}

export const isEmptyInput = (input: Input): boolean =>
  (input.kind === 'file' && input.path === '/dev/null') ||
  (input.kind === 'pipe' && input.from.isEmpty) ||
  (input.kind === 'text' && input.text === '')

/** Whether one of the letters is among the short options, or one of the long ones is there, abbreviated or not. */
export function has(args: readonly string[], letters: string, ...longs: readonly string[]): boolean {
  for (const arg of args) {
    if (arg === '--') return false
    if (arg.startsWith('--')) {
      if (longs.some((long) => isLong(arg, long))) return true
    } else if (/^-[A-Za-z0-9]/.test(arg) && longs.includes(arg)) return true
    else if (letters !== '' && /^-[A-Za-z0-9]+/.test(arg) && hasLetter(arg, letters)) return true
  }
  return false
}

const SHORTEST_ABBREVIATION = 3

function isLong(arg: string, long: string): boolean {
  const [name = ''] = arg.split('=', 1)
  return name === long || (name.length >= SHORTEST_ABBREVIATION && long.startsWith(name))
}

function hasLetter(arg: string, letters: string): boolean {
  const cluster = /^-([A-Za-z0-9]+)/.exec(arg)?.[1] ?? ''
  return [...cluster].some((letter) => letters.includes(letter))
}

/** The values of an option, given as `-x v`, `-xv`, `-abx v`, `--long v` or `--long=v`. */
export function valuesOf(args: readonly string[], letters: string, ...longs: readonly string[]): string[] {
  const values: string[] = []
  for (const [at, arg] of args.entries()) {
    if (arg === '--') break
    const next = args[at + 1]
    if (arg.startsWith('--')) {
      if (!longs.some((long) => isLong(arg, long))) continue
      const equals = arg.indexOf('=')
      if (equals >= 0) values.push(arg.slice(equals + 1))
      else if (next !== undefined) values.push(next)
    } else if (arg.startsWith('-') && letters !== '') {
      const place = [...arg.slice(1)].findIndex((letter) => letters.includes(letter))
      if (place < 0 || !/^[A-Za-z0-9]*$/.test(arg.slice(1, place + 1))) continue
      const rest = arg.slice(place + 2)
      if (rest !== '') values.push(rest)
      else if (next !== undefined) values.push(next)
    }
  }
  return values
}

/** The words that are neither options nor their values. `valued`: letters and long names of options that take a value. */
export function operandsOf(args: readonly string[], letters = '', ...longs: readonly string[]): string[] {
  const operands: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return [...operands, ...args.slice(at + 1)]
    if (arg === '-' || !arg.startsWith('-')) operands.push(arg)
    else if (takesNext(arg, letters, longs)) at++
  }
  return operands
}

/** The index of the first word that is neither an option nor its value: there the inner command begins. */
export function firstOperand(args: readonly string[], letters = '', ...longs: readonly string[]): number {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return at + 1
    if (!arg.startsWith('-') || arg === '-') return at
    if (takesNext(arg, letters, longs)) at++
  }
  return args.length
}

function takesNext(arg: string, letters: string, longs: readonly string[]): boolean {
  if (arg.startsWith('--') || longs.includes(arg)) return !arg.includes('=') && longs.some((long) => isLong(arg, long))
  const place = [...arg.slice(1)].findIndex((letter) => letters.includes(letter))
  return place >= 0 && place === arg.length - 2
}

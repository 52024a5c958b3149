// Parses the arguments of `jq`.

import type { JqValue } from './value.ts'

export interface JqOptions {
  program: string | null
  programFile: string | null
  files: string[]
  positional: { text: string; isJson: boolean }[]
  /** By name, with the source of the value. */
  named: { name: string; value: string; kind: 'text' | 'json' | 'slurp' | 'raw' }[]
  indent: string
  flags: ReadonlySet<string>
}

export type ReadJqOptions = { ok: true; options: JqOptions } | { ok: false; problem: string; isUsage: boolean }

const LETTERS = new Set([...'acrjnsRSeCMhV'])
const LONG: Readonly<Record<string, string>> = {
  ...{ 'ascii-output': 'a', 'compact-output': 'c', 'raw-output': 'r', 'join-output': 'j', 'null-input': 'n' },
  ...{ slurp: 's', 'raw-input': 'R', 'sort-keys': 'S', 'exit-status': 'e', 'color-output': 'C' },
  ...{ 'monochrome-output': 'M', help: 'h', version: 'V', stream: 'stream', seq: 'seq', unbuffered: 'unbuffered' },
}
const NAMED = { arg: 'text', argjson: 'json', slurpfile: 'slurp', rawfile: 'raw', argfile: 'slurp' } as const

const isNamedOption = (name: string): name is keyof typeof NAMED => Object.hasOwn(NAMED, name)

export function readJqOptions(args: readonly string[]): ReadJqOptions {
  const found = { words: [] as string[], flags: new Set<string>(), rest: 'files' as 'files' | 'text' | 'json' }
  const options: JqOptions = {
    program: null,
    programFile: null,
    files: [],
    positional: [],
    named: [],
    indent: '  ',
    flags: found.flags,
  }
  const operand = (word: string) => {
    if (options.program === null && options.programFile === null) options.program = word
    else if (found.rest === 'files') options.files.push(word)
    else options.positional.push({ text: word, isJson: found.rest === 'json' })
  }
  let endsOptions = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (endsOptions || !/^-[-a-zA-Z]/.test(arg)) operand(arg)
    else if (arg === '--') endsOptions = true
    else if (arg.startsWith('--')) {
      const name = arg.replace(/^--/, '')
      const taken = longOption(name, args.slice(at + 1), { options, found })
      if (typeof taken === 'string') return { ok: false, problem: taken, isUsage: true }
      at += taken
    } else {
      const taken = letters(arg.slice(1), args.slice(at + 1), { options, found })
      if (typeof taken === 'string') return { ok: false, problem: taken, isUsage: true }
      at += taken
    }
  }
  return { ok: true, options }
}

type Filling = { options: JqOptions; found: { flags: Set<string>; rest: 'files' | 'text' | 'json' } }

/** The number of further arguments used, or the error. */
function longOption(name: string, next: readonly string[], { options, found }: Filling): number | string {
  const [first, second] = next
  if (isNamedOption(name)) {
    if (first === undefined || second === undefined) {
      return `jq: --${name} takes two parameters (e.g. --${name} ${name.endsWith('file') ? 'varname filename' : name === 'argjson' ? 'varname text' : 'varname value'})`
    }
    options.named.push({ name: first, value: second, kind: NAMED[name] })
    return 2
  }
  if (name === 'args' || name === 'jsonargs') found.rest = name === 'args' ? 'text' : 'json'
  else if (name === 'tab') options.indent = '\t'
  else if (name === 'indent') return indentOf(first, options)
  else if (name === 'from-file') return programFile(first, options)
  else {
    const flag = Object.hasOwn(LONG, name) ? LONG[name] : undefined
    if (flag === undefined) return `jq: Unknown option: --${name}`
    found.flags.add(flag)
  }
  return 0
}

function indentOf(text: string | undefined, options: JqOptions): number | string {
  if (text === undefined) return 'jq: --indent takes one parameter'
  const width = Number.parseInt(text, 10)
  if (width < -1) return 'jq: Cannot indent less than -1 levels'
  if (width > 7) return 'jq: --indent takes a number between -1 and 7'
  options.indent = width === -1 ? '\t' : ' '.repeat(width || 0)
  return 1
}

function programFile(name: string | undefined, options: JqOptions): number | string {
  if (name === undefined) return 'jq: -f takes a file'
  // The argument that was taken for a program is a file.
  if (options.program !== null) options.files.unshift(options.program)
  options.program = null
  options.programFile = name
  return 1
}

function letters(word: string, next: readonly string[], { options, found }: Filling): number | string {
  let taken = 0
  for (const letter of word) {
    if (letter === 'f') {
      const problem = programFile(next[taken], options)
      if (typeof problem === 'string') return problem
      taken++
    } else if (letter === 'L') return 'jq: option -L is not available here'
    else if (LETTERS.has(letter)) found.flags.add(letter)
    else return `jq: Unknown option -${word}`
  }
  return taken
}

export function argumentsValue(named: ReadonlyMap<string, JqValue>, positional: readonly JqValue[]): JqValue {
  return new Map<string, JqValue>([
    ['positional', positional],
    ['named', named],
  ])
}

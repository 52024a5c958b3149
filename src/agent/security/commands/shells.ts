// Shells, and what the shell runs from a text or a file.

import type { Bench, Opener } from '../bench.ts'
import { has, INHERITED, type Input, operandsOf, valuesOf } from '../call.ts'
import { COMMAND_ALIAS, isSecretName } from '../variables.ts'
import { holdsOutput, holdsValue, MARK } from '../words.ts'

const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash ash zsh ksh ksh93 mksh pdksh fish csh tcsh rbash yash posh oksh hush pwsh'.split(' '),
)

export const isShellName = (name: string): boolean => SHELLS.has(name.replace(/^-/, '').replace(/-?\d[\d.]*$/, ''))

const STDIN = /^(-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

type ShellArguments = { code: string | null; isFromInput: boolean; operands: readonly string[] }

const shell: Opener = ({ args, input }, bench) => {
  const { code, isFromInput, operands } = readArguments(args)
  if (valuesOf(args, '', '--rcfile', '--init-file').length > 0) bench.meet('unknown-code')
  if (code !== null) {
    if (operands[0] !== undefined) bench.findings.variables.add('0', operands[0])
    giveArguments(operands.slice(1), bench)
    runText(code, input, bench)
    return
  }
  const [file] = operands
  if (isFromInput || file === undefined || STDIN.test(file)) runInput(input, bench)
  // With `-n` the file is only checked for syntax errors.
  else if (!has(args.slice(0, args.indexOf(file)), 'n')) runFile(file, bench)
}

/** Options end at the first operand; `-c` may be combined with other letters, and its text is that operand. */
function readArguments(args: readonly string[]): ShellArguments {
  let [hasCode, isFromInput] = [false, false]
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--' || arg === '-') {
      at += arg === '--' ? 1 : 0
      break
    }
    if (!/^[-+]/.test(arg)) break
    if (/^--(rcfile|init-file|command)$/.test(arg)) at += arg === '--command' ? 0 : 1
    if (/^-[A-Za-z]*c|^--command$/.test(arg)) hasCode = true
    if (/^-[A-Za-z]*s/.test(arg)) isFromInput = true
    if (/^[-+][A-Za-z]*[oO]$/.test(arg)) at++
  }
  const operands = args.slice(at)
  if (!hasCode) return { code: null, isFromInput, operands }
  const [code = '', ...others] = operands[0] === '--' ? operands.slice(1) : operands
  return { code, isFromInput: false, operands: others }
}

function giveArguments(values: readonly string[], bench: Bench): void {
  for (const [at, value] of values.entries()) bench.findings.variables.add(String(at + 1), value)
  for (const all of ['@', '*']) bench.findings.variables.add(all, values.join(' '))
}

/** Judges a text that a shell reads. An unknown part of it may end a quote and begin a command. */
export function runText(text: string, input: Input, bench: Bench): void {
  if (holdsOutput(text)) bench.meet('runs-made-text')
  else if (holdsValue(text)) bench.meet('unknown-code')
  bench.script(text, input)
}

function runInput(input: Input, bench: Bench): void {
  if (input.kind === 'text') runText(input.text, INHERITED, bench)
  else bench.meet(input.kind === 'pipe' ? 'runs-made-text' : 'unknown-code')
}

function runFile(file: string, bench: Bench): void {
  bench.meet(
    file.includes(MARK.pipe) || /^\/dev\/fd\/|^\/proc\/.*\/fd\//.test(file) ? 'runs-made-text' : 'unknown-code',
  )
}

const evaluate: Opener = ({ args, input }, bench) => {
  const text = (args[0] === '--' ? args.slice(1) : args).join(' ')
  if (holdsValue(text)) bench.meet('runs-made-text')
  bench.script(text, input)
}

const source: Opener = ({ args, input }, bench) => {
  const [file, ...others] = args[0] === '--' ? args.slice(1) : args
  if (file === undefined) return
  giveArguments(others, bench)
  if (STDIN.test(file)) runInput(input, bench)
  else runFile(file, bench)
}

const trap: Opener = ({ args }, bench) => {
  const [text = '', ...signals] = args[0] === '--' ? args.slice(1) : args
  if (text === '' || text === '-' || /^-[lp]/.test(text) || signals.length === 0) return
  runText(text, INHERITED, bench)
}

/** The text of an option such as `-c`, or the words after the first ones. */
const textOption =
  (...longs: string[]): Opener =>
  (call, bench) => {
    for (const text of valuesOf(call.args, 'c', ...longs)) runText(text, call.input, bench)
  }

export const SHELL_OPENERS: readonly (readonly [string, Opener])[] = [
  ...[...SHELLS].map((name) => [name, shell] as const),
  ['eval', evaluate],
  ['source', source],
  ['.', source],
  ['trap', trap],
  ['su', textOption('--command', '--session-command')],
  ['runuser', textOption('--command')],
  ['script', textOption('--command')],
]

// Shell builtins that assign values, change names, or expand a text a second time.

const declare: Opener = ({ args }, bench) => {
  for (const arg of args) {
    const [, name, index = '', append, value = ''] = /^([A-Za-z_]\w*)(\[[^\]]*\])?(\+?)=(.*)$/s.exec(arg) ?? []
    if (name === undefined) bench.expand(arg)
    else {
      if (index !== '') bench.expand(index)
      // An array, which the parser leaves as plain text.
      if (value.startsWith('(')) bench.script(`${name}=${value}`, { kind: 'inherited' })
      const before = append === '+' ? (bench.findings.variables.of(name)[0] ?? '') : ''
      bench.assign(name, before + value)
    }
  }
}

function noteIntegers(args: readonly string[], bench: Bench): void {
  for (const arg of args) {
    const [name = ''] = /^[A-Za-z_]\w*/.exec(arg) ?? []
    if (name === '') continue
    bench.findings.integers.add(name)
    bench.arithmetic(name)
  }
}

/** `declare -p NAME` and similar, and `declare -n`, which makes a variable a reference to another. */
const shown: Opener = (call, bench) => {
  const { args, name: called } = call
  if (called !== 'export' && args.some((arg) => /^-[A-Za-z]*i/.test(arg))) noteIntegers(args, bench)
  declare(call, bench)
  if (has(call.args, 'n')) {
    for (const value of call.args.flatMap((arg) => /=(.*)$/s.exec(arg)?.[1] ?? [])) {
      if (isSecretName(value, bench.findings.secretNames)) bench.meet('secret-variable')
      else if (!/^[A-Za-z_]\w*$/.test(value)) bench.meet('indirect-variable')
    }
  }
  if (has(call.args, 'p') && call.args.some((arg) => isSecretName(arg, bench.findings.secretNames)))
    bench.meet('secret-variable')
}

const printenv: Opener = ({ args }, bench) => {
  if (args.some((arg) => isSecretName(arg, bench.findings.secretNames))) bench.meet('secret-variable')
  if (args.some(holdsValue)) bench.meet('indirect-variable')
}

const set: Opener = ({ args }, bench) => {
  const from = args.findIndex((arg) => arg === '--' || arg === '-' || !/^[-+]/.test(arg))
  if (from < 0 || has(args.slice(0, from), 'o')) return
  const values = args.slice(args[from] === '--' || args[from] === '-' ? from + 1 : from)
  for (const [at, value] of values.entries()) bench.findings.variables.add(String(at + 1), value)
  for (const all of ['@', '*']) bench.findings.variables.add(all, values.join(' '))
}

const alias: Opener = ({ args }, bench) => {
  for (const arg of args) {
    const equals = arg.indexOf('=')
    if (equals <= 0 && holdsValue(arg)) bench.meet('unknown-code')
    if (equals <= 0) continue
    const value = arg.slice(equals + 1)
    bench.assign(`${COMMAND_ALIAS}${arg.slice(0, equals)}`, value)
  }
}

/** The words are names or expressions, and an index in them may contain a substitution. */
const expands: Opener = ({ args }, bench) => {
  for (const arg of args) expandIndex(arg, bench)
}

function expandIndex(arg: string, bench: Bench): void {
  if (/[$`]/.test(arg)) bench.expand(arg)
}

const letBuiltin: Opener = (call, bench) => {
  expands(call, bench)
  for (const arg of call.args) for (const [name] of arg.matchAll(/[A-Za-z_]\w*/g)) bench.arithmetic(name)
}

/** A word is evaluated only after `-v` and `-R`, and in comparisons of numbers. */
const test: Opener = ({ args }, bench) => {
  for (const [at, arg] of args.entries()) {
    if (/^-(v|R)$/.test(arg)) expandIndex(args[at + 1] ?? '', bench)
  }
}

const printf: Opener = ({ args }, bench) => {
  const [name = ''] = valuesOf(args.slice(0, 2), 'v')
  if (name === '') return
  expandIndex(name, bench)
  const given = args.slice(args[0] === '-v' ? 3 : 2)
  assignGiven(name, given.join(' '), bench)
}

/** The given text may be the value, or a part of it. */
function assignGiven(name: string, text: string, bench: Bench): void {
  const [variable = ''] = name.split('[', 1)
  bench.assignUnknown(variable)
  if (text !== '') bench.assign(variable, text)
}

const READ_VALUED = ['adinNptu'] as const

/** Its names get the contents of its input. */
const read: Opener = (call, bench) => {
  expands(call, bench)
  const { args, input } = call
  const names = [...operandsOf(args, ...READ_VALUED), ...valuesOf(args, 'a')]
  for (const name of names) assignGiven(name, input.kind === 'text' ? input.text.trim() : shownBy(input), bench)
}

/** The words of the commands that write the input. */
const shownBy = (input: Input) =>
  input.kind === 'pipe' ? (input.from.words.filter((word) => /[$`]/.test(word)).at(-1) ?? '') : ''

const getopts: Opener = (call, bench) => {
  expands(call, bench)
  const [, name] = call.args
  if (name !== undefined) bench.assignUnknown(name)
}

const fc: Opener = ({ args }, bench) => {
  if (!has(args, 'l')) bench.meet('unknown-code')
}

export const BUILTIN_OPENERS: readonly (readonly [string, Opener])[] = [
  ['declare', shown],
  ['typeset', shown],
  ['export', shown],
  ['readonly', shown],
  ['local', shown],
  ['printenv', printenv],
  ['set', set],
  ['alias', alias],
  ['let', letBuiltin],
  ['unset', expands],
  ['read', read],
  ['mapfile', read],
  ['readarray', read],
  ['getopts', getopts],
  ['test', test],
  ['[', test],
  ['printf', printf],
  ['fc', fc],
]

// Shells, and what the shell itself runs of a text or a file.

import type { Bench, Opener } from '../bench.ts'
import { has, INHERITED, type Input, valuesOf } from '../call.ts'
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
  // It is only read for mistakes.
  else if (!has(args.slice(0, args.indexOf(file)), 'n')) runFile(file, bench)
}

/** Options end at the first operand; `-c` may stand among other letters, and its text is that operand. */
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

/** A text that a shell reads. What in it is not known may end a quote and begin a command. */
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

/** The text of an option such as `-c`, or else the words after the first ones. */
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

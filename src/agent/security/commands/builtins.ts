// Builtins of the shell that give values and names, or expand a text once more.

import type { Bench } from '../bench.ts'
import { has } from '../call.ts'
import { isSecretName } from '../variables.ts'
import type { Opener } from './opener.ts'

const declare: Opener = ({ args }, bench) => {
  for (const arg of args) {
    const [, name, index = '', append, value = ''] = /^([A-Za-z_]\w*)(\[[^\]]*\])?(\+?)=(.*)$/s.exec(arg) ?? []
    if (name === undefined) bench.expand(arg)
    else {
      if (index !== '') bench.expand(index)
      // A list, which the parser leaves as the text that it is.
      if (value.startsWith('(')) bench.script(`${name}=${value}`, { kind: 'inherited' })
      const before = append === '+' ? (bench.findings.variables.of(name)[0] ?? '') : ''
      bench.assign(name, before + value)
    }
  }
}

/** `declare -p NAME` and its like, and `declare -n`, which gives a variable another name. */
const shown: Opener = (call, bench) => {
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
    if (equals <= 0) continue
    const value = arg.slice(equals + 1)
    bench.script(value, { kind: 'inherited' })
    bench.findings.aliases.set(arg.slice(0, equals), value)
  }
}

/** The words are names or expressions, and an index in them may hold a substitution. */
const expands: Opener = ({ args }, bench) => {
  for (const arg of args) expandIndex(arg, bench)
}

function expandIndex(arg: string, bench: Bench): void {
  if (/[$`]/.test(arg)) bench.expand(arg)
}

const letBuiltin: Opener = (call, bench) => {
  expands(call, bench)
  for (const arg of call.args) {
    for (const [name] of arg.matchAll(/[A-Za-z_]\w*/g))
      for (const value of bench.findings.variables.of(name)) bench.expand(value)
  }
}

/** Only after `-v` and `-R`, and where numbers are compared, is a word more than a text. */
const test: Opener = ({ args }, bench) => {
  for (const [at, arg] of args.entries()) {
    if (/^-(v|R)$/.test(arg)) expandIndex(args[at + 1] ?? '', bench)
  }
}

const printf: Opener = ({ args }, bench) => {
  if (args[0] === '-v') expandIndex(args[1] ?? '', bench)
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
  ['read', expands],
  ['getopts', expands],
  ['test', test],
  ['[', test],
  ['printf', printf],
  ['fc', fc],
]

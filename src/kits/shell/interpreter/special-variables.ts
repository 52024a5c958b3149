// Dynamic variables that the interpreter does not support, or only in some places (`${FUNCNAME[0]:-main}`). They are
// computed before a command that names one of them.

import { stackArrays } from './call-stack.ts'
import { copyWith, partsOf, withParts } from './heads.ts'
import { nextRandom, type OwnVariables } from './own-variables.ts'
import type { Position, Watched } from './position.ts'
import { headAsText } from './script-text.ts'
import type { Command, ShellVariables, StepResult } from './shape.ts'

const MADE = ['FUNCNAME', 'BASH_SOURCE', 'BASH_LINENO', 'DIRSTACK', 'GROUPS', 'BASH_VERSINFO', 'BASH_SUBSHELL']
const READ = ['EPOCHSECONDS', 'EPOCHREALTIME', 'SRANDOM', 'BASH_COMMAND', 'BASH_EXECUTION_STRING', 'SECONDS', 'RANDOM']
/** They belong to one shell, and are not kept for the next script. */
export const SPECIAL_NAMES: readonly string[] = [...MADE, ...READ, 'BASH', 'OPTERR', 'SHLVL']
export const isMade = (name: string): boolean => SPECIAL_NAMES.includes(name) || OF_INTERPRETER.test(name)
/** The interpreter computes these when they are read. */
const OF_INTERPRETER = /^(?:_|LINENO|U?E?UID|PPID|HOST\w+|(?:OS|MACH)TYPE|PIPESTATUS|\w+OPTS|BASH\w*|COLUMNS|LINES)$/
const READONLY = ['BASH_VERSINFO', 'UID', 'EUID', 'PPID']

const MENTIONS = new RegExp(`(?<![A-Za-z0-9_])(?:${[...MADE, ...READ, 'OPTIND'].join('|')})(?![A-Za-z0-9_])`)
const INDIRECT = /^(?:Indirection|VarNamePrefixExpansion|declare|typeset|set|compgen)$/
const VERSION = ['5', '2', '15', '1', 'release', 'x86_64-pc-linux-gnu']
export const DEFAULT_PS4 = '+ '

const NAMING = new WeakSet<Command>()

/** Called for each node of a script. */
export function markSpecial(node: object): void {
  if (!('type' in node) || !('redirections' in node) || node.type === 'FunctionDef') return
  for (const part of partsOf(node as Command)) {
    for (const value of Object.values(part)) {
      if (typeof value !== 'string' || !(MENTIONS.test(value) || INDIRECT.test(value))) continue
      NAMING.add(node as Command)
      return
    }
  }
}

/** At the start of a shell. */
export function beginVariables({ ctx }: Watched): void {
  const { state } = ctx
  const standard = { PS4: DEFAULT_PS4, OPTERR: '1', BASH: '/bin/bash' }
  for (const [name, value] of Object.entries(standard)) if (!state.env.has(name)) state.env.set(name, value)
  // The library uses the same set for all shells of a run.
  state.readonlyVars = new Set(state.readonlyVars)
  state.exportedVars = new Set(state.exportedVars)
  state.shoptOptions = { ...state.shoptOptions }
  for (const name of READONLY) state.readonlyVars.add(name)
  if (state.env.get('OLDPWD') === '') state.env.delete('OLDPWD')
  state.env.set('SHLVL', String((Number.parseInt(state.env.get('SHLVL') ?? '', 10) || 0) + 1))
  state.exportedVars.add('SHLVL')
}

type RunningCommand = { node: Command; run: (as: Command) => Promise<StepResult> }

/** For each command: the named variables are computed before it runs, and assignments to them are processed afterwards. */
export async function withSpecial(shell: Watched, position: Position, naming: RunningCommand): Promise<StepResult> {
  const { node, run } = naming
  if (!NAMING.has(node)) return run(node)
  const { own } = position
  makeVariables(shell, position, node)
  try {
    return await run(withKnown(position, shell.ctx.state, node))
  } finally {
    const { env } = shell.ctx.state
    const seconds = own.unset.has('SECONDS') ? undefined : env.get('SECONDS')
    if (seconds !== undefined) shell.ctx.state.startTime = Date.now() - (Number.parseInt(seconds, 10) || 0) * 1000
    const seed = own.unset.has('RANDOM') ? undefined : env.get('RANDOM')
    if (seed !== undefined && position.subshells === 0) own.seed = (Number.parseInt(seed, 10) || 0) >>> 0
    // Both are computed when they are read.
    if (seconds !== undefined) env.delete('SECONDS')
    if (seed !== undefined) env.delete('RANDOM')
    if (namesIndex(node)) own.letter = 0
  }
}

function makeVariables(shell: Watched, position: Position, node: Command): void {
  const { state } = shell.ctx
  const { own, subshells } = position
  const now = Date.now()
  const values: [string, string][] = [
    ['EPOCHSECONDS', String(Math.floor(now / 1000))],
    ['EPOCHREALTIME', `${Math.floor(now / 1000)}.${String((now % 1000) * 1000).padStart(6, '0')}`],
    ['SRANDOM', String(crypto.getRandomValues(new Uint32Array(1))[0])],
    ['BASH_SUBSHELL', String(subshells)],
    // In a trap's action it is the command for which the action is run.
    ['BASH_COMMAND', headAsText(position.actionCommand ?? node, position.textOf)],
  ]
  if (own.text !== null) values.push(['BASH_EXECUTION_STRING', own.text])
  for (const [name, value] of values) if (!own.unset.has(name)) state.env.set(name, value)
  makeArrays(state, own)
}

function makeArrays(state: ShellVariables, { unset }: OwnVariables): void {
  const { cwd, directoryStack = [], virtualGid } = state
  const arrays: [string, string[]][] = [
    ...stackArrays(state),
    ['DIRSTACK', [cwd, ...directoryStack]],
    ['GROUPS', [String(virtualGid)]],
    ['BASH_VERSINFO', VERSION],
  ]
  state.arrays ??= new Map()
  for (const [name, values] of arrays) {
    if (unset.has(name)) continue
    const elements = new Map(values.map((value, i) => [String(i), value]))
    if (values.length === 0) state.arrays.delete(name)
    else state.arrays.set(name, { kind: 'indexed', elements })
  }
}

const ASSIGNS: ReadonlySet<string> = new Set(['declare', 'typeset', 'local', 'export', 'readonly', 'unset', 'read'])

/** Whether it may set OPTIND: `OPTIND=1`, even if that is the current value, and `local OPTIND`. */
function namesIndex(node: Command): boolean {
  if (node.type !== 'SimpleCommand') return false
  if (node.name === null) return node.assignments.some(({ name }) => name === 'OPTIND')
  const [called] = node.name.parts
  if (called?.type !== 'Literal' || !ASSIGNS.has(called.value)) return false
  return node.args.some(({ parts: [first] }) => first?.type === 'Literal' && /^OPTIND\b/.test(first.value))
}

/** The interpreter supports no seed, and indexes only from the beginning of the stack. */
function withKnown(position: Position, state: ShellVariables, node: Command): Command {
  const isSeeded = position.own.seed !== null && position.subshells === 0
  return withParts(node, (part) => {
    if (part.type !== 'ParameterExpansion') return part
    const [, name = '', back = ''] = FROM_END.exec(String(part.parameter)) ?? []
    const elements = state.arrays?.get(name)?.elements
    if (elements) return copyWith(part, { parameter: `${name}[${elements.size - Number(back)}]` })
    if (part.parameter !== 'RANDOM' || part.operation) return part
    // An ordinary variable from then on.
    if (position.own.unset.has('RANDOM')) return { type: 'Literal', value: state.env.get('RANDOM') ?? '' }
    if (!isSeeded) return part
    return { type: 'Literal', value: String(nextRandom(position)) }
  })
}

const FROM_END = /^(FUNCNAME|BASH_SOURCE|BASH_LINENO)\[-(\d+)\]$/

// Rewrites parts of a script that the interpreter misreads. Each rewrite changes the form of the script, but not its
// meaning.

import { refusedScript } from '../script-work.ts'
import { isRunnable, mendArithmetic } from './arithmetic/mend.ts'
import { TOGGLED, unveil, veiled } from './arithmetic/veil.ts'
import { readDeclarations } from './array-declarations.ts'
import { placeSubshell, placeSubstitutions } from './lines.ts'
import { joinKeys, partedKeys } from './map-literals.ts'
import { type Position, type Watched, withTerminal } from './position.ts'
import { noteSelect } from './select-loops.ts'
import type {
  Command,
  FunctionDefinition,
  Script,
  ShellVariables,
  SimpleCommand,
  Statement,
  StepResult,
} from './shape.ts'
import { withoutSelfInput } from './shared-input.ts'
import { markSpecial } from './special-variables.ts'
import { textTaken } from './taken-text.ts'
import { scriptOf, statementOf } from './trap-runs.ts'
import { refuseMadeText } from './written-substitutions.ts'

const SEEN = new WeakSet<object>()
/** The scripts of process substitutions. */
const PROCESSES = new WeakSet<Script>()

export const isProcess = (script: Script): boolean => PROCESSES.has(script)

/** By command: why file name patterns in its words would not be matched correctly. */
const UNMATCHED = new WeakMap<object, string>()

export function repairWords(root: Script, parse: (text: string) => Script): void {
  if (SEEN.has(root)) return
  unveil(root)
  const open: object[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (SEEN.has(node)) continue
    SEEN.add(node)
    const { unread, read } = readDeclarations(node, parse)
    open.push(...read)
    for (const command of unread) {
      UNMATCHED.set(command, 'an array within this declaration is not understood: declare it, then name=(...)')
    }
    redirectBody(node)
    noteSelect(node)
    noteToggle(node)
    mendArithmetic(node, parse)
    nameInError(node)
    placeSubstitutions(node)
    if ('type' in node && node.type === 'Statement') placeSubshell(node as Statement)
    joinKeysIn(node)
    if ('args' in node && Array.isArray(node.args)) node.args = partedKeys(node.args)
    withoutDashes(node)
    withoutSelfInput(node)
    markSpecial(node)
    if ('type' in node && node.type === 'ProcessSubstitution' && 'body' in node) PROCESSES.add(node.body as Script)
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
}

function joinKeysIn(node: object): void {
  if ('type' in node && node.type === 'Assignment' && 'array' in node && Array.isArray(node.array)) {
    node.array = joinKeys(node.array)
  }
}

/** The redirections of a function apply to each call, not to its definition. */
function redirectBody(node: object): void {
  if (!('type' in node) || node.type !== 'FunctionDef') return
  const definition = node as FunctionDefinition
  const { body, redirections } = definition
  definition.body = { ...body, redirections: [...body.redirections, ...redirections] }
  definition.redirections = []
}

/** `${v~}`, see `arithmetic/veil.ts`. */
function noteToggle(node: object): void {
  if (!('type' in node) || node.type !== 'CaseModification' || !('pattern' in node)) return
  const { pattern } = node as { pattern: { parts: { type: string; value?: string }[] } | null }
  const [first] = pattern?.parts ?? []
  if (first?.value === undefined || !first.value.startsWith(TOGGLED)) return
  first.value = first.value.slice(TOGGLED.length)
  if (first.value === '') pattern?.parts.shift()
  Object.assign(node, { direction: 'toggle' })
}

/** For `exec --` the interpreter handles only the redirections. */
function withoutDashes(node: object): void {
  if (!('type' in node) || node.type !== 'SimpleCommand' || !('args' in node)) return
  const { name, args } = node as SimpleCommand
  if (textOfWord(name) === 'exec' && textOfWord(args[0]) === '--') args.shift()
}

function textOfWord(word: SimpleCommand['name'] | undefined): string | null {
  const [part, ...others] = word?.parts ?? []
  return part?.type === 'Literal' && others.length === 0 ? part.value : null
}

/** `${x?message}` prints the message without the name of the variable. */
function nameInError(node: object): void {
  if (!('parameter' in node) || !('operation' in node)) return
  const operation = node.operation
  if (typeof operation !== 'object' || operation === null || !('type' in operation)) return
  if (operation.type !== 'ErrorIfUnset' || !('word' in operation) || !('checkEmpty' in operation)) return
  const word = operation.word as { parts: unknown[] } | null
  const isEmpty = word === null || word.parts.every((part) => JSON.stringify(part).includes('"value":""'))
  const message = operation.checkEmpty ? 'parameter null or not set' : 'parameter not set'
  const parts = isEmpty ? [{ type: 'Literal', value: message }] : word.parts
  operation.word = { type: 'Word', parts: [{ type: 'Literal', value: `${String(node.parameter)}: ` }, ...parts] }
}

/** Why a command is refused if the interpreter would leave its patterns unexpanded. */
export function refusedPattern(node: Command): StepResult | null {
  const why = UNMATCHED.get(node)
  return why === undefined ? null : { stdout: '', stderr: `bash: ${why}\n`, exitCode: 1 }
}

/** For text that would keep the parser busy for too long. */
export function refusedText(text: string): StepResult | null {
  const stderr = refusedScript(text)
  return stderr === null ? null : { stdout: '', stderr: `${stderr}\n`, exitCode: 2 }
}

/**
 * The library treats our expression as a substitution within its arithmetic. A substitution would be a shell without
 * the functions and variables of this one.
 */
export function repairSubstitutions(shell: Watched, position: Position): void {
  const { execFn } = shell.ctx
  if (!execFn) return
  const runText: typeof execFn = async (...call) => {
    const [script] = call
    const refused = refusedText(script)
    if (refused !== null) return refused
    const [, ...rest] = call
    if (call.length !== 2) return execFn(veiled(script), ...rest)
    refuseMadeText(script, shell, position.watch)
    const literal = (value: string) => ({ type: 'Word' as const, parts: [{ type: 'SingleQuoted' as const, value }] })
    const command: Command = {
      type: 'SimpleCommand',
      assignments: [],
      name: literal('eval'),
      args: [literal('--'), literal(script)],
      redirections: [],
    }
    const subshell = { type: 'Subshell' as const, body: scriptOf([statementOf(command)]).statements, redirections: [] }
    return withTerminal(position, false, () => shell.executeCommand(subshell, '', true))
  }
  // Nothing is awaited before an expression, because loops evaluate many.
  shell.ctx.execFn = (...call) => {
    const [script] = call
    return isRunnable(script) ? script.run(shell) : runText(...call)
  }
}

/**
 * Bytes read by `read` and `mapfile` are converted to text for all later code. Returns an error if this is impossible:
 * `-n` counts bytes there, and may end within a character.
 */
export function repairRead({ arrays, env }: ShellVariables, args: readonly string[], standard: string): string | null {
  const counts = args.some((arg) => /^-[ers]*[nN]/.test(arg))
  const names = namesRead(args)
  for (const name of names.length > 0 ? names : [standard]) {
    const value = env.get(name)
    if (counts && HAS_HIGH.test(value ?? '')) return 'read: -n: characters beyond ASCII are not available here'
    if (value !== undefined) env.set(name, textOf(value))
    const elements = arrays?.get(name)?.elements
    for (const [at, element] of elements ?? []) elements?.set(at, textOf(element))
  }
  return null
}

/** The words that are neither options nor their values; the array of `-a` is included. */
function namesRead(args: readonly string[]): string[] {
  const names: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const option = /^-[ersS]*(?:t?)([aCcdinNOpstu])(.*)$/s.exec(arg)
    if (arg === '--') continue
    if (!arg.startsWith('-')) names.push(arg)
    else if (option && 'acdCinNOptu'.includes(option[1] ?? '') && !(option[1] === 't' && option[2] === '')) {
      const value = option[2] !== '' ? (option[2] ?? '') : (args[++i] ?? '')
      if (option[1] === 'a') names.push(value)
    }
  }
  return names
}

const IS_BYTES = /^[\0-\xff]*$/
const HAS_HIGH = /[\x80-\xff]/

function textOf(value: string): string {
  if (!IS_BYTES.test(value)) return value.replaceAll('\0', '')
  return textTaken(value.replaceAll('\0', ''))
}

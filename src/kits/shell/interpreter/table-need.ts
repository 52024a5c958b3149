// Decides whether a script needs its own output table (`output-routes.ts`). Without one, the output of a compound
// command is collected separately for each stream, and the order between output and errors is lost.

import { mayLookWithin } from './looking.ts'
import { isProcessTarget } from './output-redirections.ts'
import type { Command, Pipeline, Redirection } from './shape.ts'
import { writtenText } from './words-alone.ts'

const OUTPUT = 1
const OPENING: ReadonlySet<string> = new Set(['>', '>>', '>|', '&>', '&>>'])
const FIRST_COPY = 3
/** They run a script or another command, which writes in its own order. */
const RUNNING: ReadonlySet<string> = new Set([
  ...['bash', 'sh', 'eval', 'source', '.', 'command', 'builtin', 'exec', 'time'],
  ...['env', 'timeout', 'xargs', 'find', 'nice', 'nohup', 'setsid', 'stdbuf', 'flock'],
])
const READING: ReadonlySet<string> = new Set(['source', '.', 'eval'])

const KNOWN = new WeakMap<object, boolean>()

export function needsTable(root: object): boolean {
  const known = KNOWN.get(root) ?? isNeeded(root)
  KNOWN.set(root, known)
  return known
}

type ScriptTraits = {
  merged: (Command | null)[]
  /** Names of files that are written to. */
  written: Set<string>
  functions: Set<string>
  hasPipes: boolean
  readsOthers: boolean
}

function isNeeded(root: object): boolean {
  const seen: ScriptTraits = {
    merged: [],
    written: new Set(),
    functions: new Set(),
    hasPipes: false,
    readsOthers: false,
  }
  const open: object[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isCommand(node)) {
      if (node.redirections.some((one) => isCopy(one) || isProcessTarget(one))) return true
      if (redirectsShell(node) || writesInTurns(node)) return true
      look(seen, node)
    } else if (isPipeline(node)) lookAtPipe(seen, node)
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
  // A function's errors in a pipe would come while the next stage runs.
  if (seen.hasPipes && seen.functions.size > 0) return true
  if ([...seen.functions].some((name) => seen.written.has(name))) return true
  return seen.merged.some((command) => hasParts(command, seen))
}

function isCommand(node: object): node is Command & { redirections: Redirection[] } {
  return 'redirections' in node && Array.isArray(node.redirections)
}

function isPipeline(node: object): node is Pipeline {
  return 'type' in node && node.type === 'Pipeline'
}

function look(seen: ScriptTraits, node: Command): void {
  if (node.type === 'FunctionDef') seen.functions.add(node.name)
  const name = nameOf(node) ?? ''
  if (READING.has(name)) seen.readsOthers = true
  if (name !== '' && node.redirections.some(({ operator }) => OPENING.has(operator))) seen.written.add(name)
  if (node.redirections.some(merges)) seen.merged.push(node)
}

function lookAtPipe(seen: ScriptTraits, { commands, pipeStderr }: Pipeline): void {
  if (commands.length > 1) seen.hasPipes = true
  commands.forEach((command, i) => {
    if (pipeStderr?.[i]) seen.merged.push(command)
  })
}

/** `exec > log`: from then on everything that the shell runs writes there. */
function redirectsShell(node: Command): boolean {
  if (node.type !== 'SimpleCommand' || node.args.length > 0 || nameOf(node) !== 'exec') return false
  return node.redirections.some(({ operator }) => operator.includes('>') && operator !== '<>')
}

/** A loop or a group whose output file may be read or written by a command within it: its contents must be up to date. */
function writesInTurns(node: Command): boolean {
  if (node.type === 'SimpleCommand' || node.type === 'FunctionDef') return false
  return node.redirections.some(({ operator }) => OPENING.has(operator)) && mayLookWithin(node)
}

/** Of another descriptor than the standard streams. */
function isCopy({ operator, fd, fdVariable, target }: Redirection): boolean {
  if (operator !== '>&' || !('parts' in target)) return false
  if ((fd ?? OUTPUT) < FIRST_COPY && !fdVariable) return false
  return target.parts.map(writtenText).join('') !== '-'
}

/** Both streams go to the same destination. */
function merges({ operator, target }: Redirection): boolean {
  if (operator === '&>' || operator === '&>>') return true
  return operator === '>&' && 'parts' in target && target.parts.map(writtenText).join('') !== '-'
}

/** Whether it may alternate between the streams; a program writes its output and then its errors. */
function hasParts(command: Command | null, { functions, readsOthers }: ScriptTraits): boolean {
  if (command === null || command.type !== 'SimpleCommand') return true
  const name = nameOf(command)
  if (name === null || name.includes('/')) return true
  return RUNNING.has(name) || functions.has(name) || readsOthers
}

/** Null if it is only known at run time. */
function nameOf(command: Command): string | null {
  if (command.type !== 'SimpleCommand') return null
  const parts = command.name?.parts ?? []
  const isPlain = parts.every(({ type }) => type === 'Literal' || type === 'SingleQuoted' || type === 'Escaped')
  return isPlain ? parts.map(writtenText).join('') : null
}

// The commands that may read files. Before other commands, buffered file output (`unwritten.ts`) need not be written.

import { partsOf } from './heads.ts'
import type { Command, SimpleCommand } from './shape.ts'
import { writtenText } from './words-alone.ts'

/** They only use their arguments and variables. */
const BLIND: ReadonlySet<string> = new Set([
  ...['echo', 'printf', ':', 'true', 'false', 'let', 'local', 'shift', 'return', 'break', 'continue'],
])
const RUNNING: ReadonlySet<string> = new Set(['CommandSubstitution', 'ProcessSubstitution', 'Glob'])
/** Tests of texts and numbers. */
const BLIND_TEST = /^(?:-[nz]|-(?:eq|ne|lt|le|gt|ge)|==?|!=|!|[<>])$/

const KNOWN = new WeakMap<Command, boolean>()

export function looksAtFiles(node: Command): boolean {
  let known = KNOWN.get(node)
  if (known === undefined) {
    known = node.type !== 'FunctionDef' && looks(node)
    KNOWN.set(node, known)
  }
  return known
}

function looks(node: Command): boolean {
  if (node.type === 'FunctionDef' || node.redirections.length > 0 || node.type === 'Subshell') return true
  if (node.type === 'SimpleCommand' && !isBlind(node)) return true
  for (const part of partsOf(node)) {
    if (RUNNING.has(part.type)) return true
    const { operator } = part
    if (/^Cond(?:Unary|Binary)$/.test(part.type) && /^-/.test(String(operator)) && !BLIND_TEST.test(String(operator))) {
      return true
    }
  }
  return false
}

export const isBlindName = (name: string): boolean => BLIND.has(name)

function isBlind({ name }: SimpleCommand): boolean {
  return name === null || isBlindName(name.parts.map(writtenText).join(''))
}

/** Whether anything within may read files, or write to one directly. */
export function mayLookWithin(root: Command): boolean {
  const open: object[] = [{ ...root, redirections: [] }]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isCommand(node) && looksAtFiles(node)) return true
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
  return false
}

function isCommand(node: object): node is Command {
  return 'redirections' in node && Array.isArray(node.redirections) && 'type' in node
}

// Line numbers of commands (`$LINENO`). The interpreter counts them within a substitution from its beginning, and has
// none for a whole subshell: in bash that is the line of its closing bracket.

import { isNode, partsOf } from './heads.ts'
import type { Command, Statement } from './shape.ts'

/** Called for each node of a script, outer nodes first. */
export function placeSubstitutions(node: object): void {
  if (!('line' in node) || typeof node.line !== 'number' || node.line <= 1 || !('redirections' in node)) return
  for (const part of partsOf(node as Command)) {
    if (part.type === 'CommandSubstitution') moveDown(part.body, node.line - 1)
  }
}

/** Except nested substitutions, which are moved in their own turn. */
function moveDown(root: unknown, lines: number): void {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    if (isNode(value) && value !== root && value.type === 'CommandSubstitution') continue
    if ('line' in value && typeof value.line === 'number') value.line += lines
    open.push(...Object.values(value))
  }
}

/** For a statement that is only a subshell. */
export function placeSubshell({ pipelines: [first, ...others], sourceText = '' }: Statement): void {
  const [command, ...more] = first?.commands ?? []
  if (command?.type !== 'Subshell' || others.length > 0 || more.length > 0 || 'line' in command) return
  const line = lineOf(command.body)
  if (line === null) return
  const before = /^[\s(]*/.exec(sourceText)?.[0] ?? ''
  Object.assign(command, { line: line + lineEnds(sourceText.trimEnd()) - lineEnds(before) })
}

const lineEnds = (text: string): number => text.split('\n').length - 1

/** Of the first command in them. */
function lineOf(statements: readonly Statement[]): number | null {
  const [command] = statements[0]?.pipelines[0]?.commands ?? []
  if (command === undefined) return null
  if ('line' in command && typeof command.line === 'number') return command.line
  return command.type === 'Subshell' || command.type === 'Group' ? lineOf(command.body) : null
}

/** The first line of a statement; null if no line is known in it. */
export function firstLineOf({ pipelines, sourceText = '' }: Statement): number | null {
  const [first] = pipelines[0]?.commands ?? []
  if (first === undefined) return null
  if ('line' in first && first.line !== undefined) return first.line
  const inner = firstWithin(first)
  const line = inner === null ? null : firstLineOf(inner)
  if (line === null) return null
  const before = sourceText.slice(0, Math.max(0, sourceText.indexOf(inner?.sourceText ?? '')))
  return line - lineEnds(before)
}

export function lastLineOf(statement: Statement): number | null {
  const line = firstLineOf(statement)
  return line === null ? null : line + lineEnds(statement.sourceText ?? '')
}

function firstWithin(root: object): Statement | null {
  for (const value of Object.values(root)) {
    if (typeof value !== 'object' || value === null) continue
    if ('type' in value && value.type === 'Statement') return value as Statement
    const found = firstWithin(value)
    if (found !== null) return found
  }
  return null
}

// Patterns of `case` and of `[[ text == pattern ]]`, before the interpreter matches them. It takes the sign in `[!0-9]` for one
// of the list, and in `case` it forgets of `a"*"b` and `\[*\]` what was quoted, where that is not all of the pattern.

import { isNode, type Node, withParts } from './heads.ts'
import type { Command, ShellVariables } from './shape.ts'

const SIGNS = /[\\*?[\]@+!()|^-]/g
const IS_QUOTED = /^(?:SingleQuoted|DoubleQuoted|Escaped)$/
const COMPARES: ReadonlySet<unknown> = new Set(['==', '=', '!='])

/** The command as the interpreter is to run it. */
export function withPatterns(state: ShellVariables, command: Command): Command {
  if (command.type === 'ConditionalCommand') return withParts(command, (node) => compared(state, node))
  if (command.type !== 'Case') return command
  const items = command.items.map((item) => {
    const patterns = item.patterns.map((pattern) => ({ ...pattern, parts: ofCase(state, pattern.parts) }))
    return { ...item, patterns: patterns as typeof item.patterns }
  })
  return { ...command, items }
}

function compared(state: ShellVariables, node: Node): Node {
  if (node.type !== 'CondBinary' || !COMPARES.has(node.operator) || !isNode(node.right)) return node
  const { parts } = node.right
  return Array.isArray(parts) ? { ...node, right: { ...node.right, parts: negated(state, parts) } } : node
}

function ofCase(state: ShellVariables, parts: readonly unknown[]): unknown[] {
  const nodes = negated(state, parts)
  if (nodes.every(({ type }) => IS_QUOTED.test(type))) return nodes
  return nodes.map((part) => {
    const text = quotedText(state, part)
    return text === null ? part : literal(text.replace(SIGNS, '\\$&'))
  })
}

/** With `^` for the `!` that begins a list, which is the same to bash. */
function negated(state: ShellVariables, parts: readonly unknown[]): Node[] {
  let isOpen = false
  return parts.filter(isNode).map((part) => {
    const text = plainText(state, part)
    if (text === null) {
      isOpen = false
      return part
    }
    const mended = (isOpen ? text.replace(/^!/, '^') : text).replace(LISTS, (list) => list.replace(/^\[!/, '[^'))
    isOpen = text.endsWith('[')
    if (mended === text) return part
    return part.type === 'Glob' ? { ...part, pattern: mended } : literal(mended)
  })
}

/** One after the other, so that `[[!]` is a list of two signs. */
const LISTS = /\\[\s\S]|\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]?/g

/** Null for what is quoted, or has to be expanded first. */
function plainText(state: ShellVariables, part: Node): string | null {
  if (part.type === 'Glob') return String(part.pattern)
  return part.type === 'Literal' ? String(part.value) : variable(state, part)
}

function quotedText(state: ShellVariables, part: Node): string | null {
  if (part.type === 'Escaped' || part.type === 'SingleQuoted') return String(part.value)
  if (part.type !== 'DoubleQuoted' || !Array.isArray(part.parts)) return null
  const texts = part.parts
    .filter(isNode)
    .map((inner) =>
      inner.type === 'Literal' || inner.type === 'Escaped' ? String(inner.value) : variable(state, inner),
    )
  return texts.every((text) => text !== null) ? texts.join('') : null
}

/** Of a plain variable that is set. */
function variable({ env }: ShellVariables, part: Node): string | null {
  const isPlain = part.type === 'ParameterExpansion' && part.operation === null
  return isPlain && /^[A-Za-z_]\w*$/.test(String(part.parameter)) ? (env.get(String(part.parameter)) ?? null) : null
}

const literal = (value: string): Node => ({ type: 'Literal', value })

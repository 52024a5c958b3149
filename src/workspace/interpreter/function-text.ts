// `declare -f`, and `type` of a function: the interpreter shows no body. The text is the library's, which means the same
// and is laid out otherwise than bash would.

import { asWritten } from './arithmetic/mend.ts'
import { joined, type Position, type Watched } from './position.ts'
import type { Redirection, StepResult } from './shape.ts'
import { scriptOf, statementOf } from './trap-runs.ts'

/** Null for any other use of `declare`. */
export function declaredFunctions(shell: Watched, position: Position, args: readonly string[]): StepResult | null {
  if (args[0] !== '-f') return null
  const { functions } = shell.ctx.state
  const names = args.length > 1 ? args.slice(1) : [...functions.keys()].sort()
  const texts = names.filter((name) => functions.has(name)).map((name) => `${textOf(shell, position, name)}\n`)
  return { stdout: texts.join(''), stderr: '', exitCode: texts.length === names.length ? 0 : 1 }
}

/** `type` with functions among its words, whose bodies the interpreter leaves out or shortens; null for any other use. */
export async function typeOfFunctions(
  shell: Watched,
  position: Position,
  args: readonly string[],
): Promise<StepResult | null> {
  const { functions } = shell.ctx.state
  if (args.some((arg) => arg.startsWith('-')) || !args.some((arg) => functions.has(arg))) return null
  let whole: StepResult = { stdout: '', stderr: '', exitCode: 0 }
  for (const name of args) {
    const stdout = `${name} is a function\n${textOf(shell, position, name)}\n`
    const one = functions.has(name)
      ? { stdout, stderr: '', exitCode: 0 }
      : await shell.runCommand('type', [name], [false], '')
    whole = joined(whole, one, Math.max(whole.exitCode, one.exitCode))
  }
  return whole
}

function textOf({ ctx }: Watched, position: Position, name: string): string {
  const definition = ctx.state.functions.get(name)
  if (!definition) return name
  return position.textOf(scriptOf([statementOf(withoutHeredocs(definition))])).trimEnd()
}

/** The library writes what follows a here-document on the line that ends it. As a here-string the text says the same. */
function withoutHeredocs<Node>(node: Node): Node {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map(withoutHeredocs) as Node
  const written = asWritten(node)
  if (written !== undefined) return written as Node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutHeredocs(value)])) as Node
  const target = 'target' in node ? (node.target as Redirection['target']) : null
  return target?.type === 'HereDoc' ? ({ ...copy, ...hereString(target) } as Node) : copy
}

type HereDoc = Extract<Redirection['target'], { type: 'HereDoc' }>

/** A here-string ends its text with a line end, and an empty text has none. */
function hereString({ content, quoted, stripTabs }: HereDoc): Pick<Redirection, 'operator' | 'target'> {
  const parts = content.parts.map((part) => ({ ...part }))
  if (stripTabs) for (const part of parts) if (part.type === 'Literal') part.value = part.value.replace(/^\t+/gm, '')
  const last = parts.at(-1)
  if (last?.type !== 'Literal' || !last.value.endsWith('\n')) {
    return { operator: '<', target: { type: 'Word', parts: [{ type: 'Literal', value: '/dev/null' }] } }
  }
  last.value = last.value.slice(0, -1)
  const whole = parts.map((part) => (part.type === 'Literal' ? part.value : '')).join('')
  const word = quoted ? ({ type: 'SingleQuoted', value: whole } as const) : ({ type: 'DoubleQuoted', parts } as const)
  return { operator: '<<<', target: { type: 'Word', parts: [word] } }
}

// For code that analyzes a script without running it: the library's own tree of each `((…))`, which it could not build
// from the veiled text.

import type { Script } from '../shape.ts'

type Holder = { type: 'ArithmeticExpression'; expression: object; originalText?: string }

export function readAgain(root: Script, parse: (text: string) => Script): void {
  const open: object[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('type' in node && (node.type === 'ArithmeticCommand' || node.type === 'CStyleFor')) {
      const { expression, init, condition, update } = node as Readonly<Record<string, unknown>>
      for (const holder of [expression, init, condition, update]) if (isHolder(holder)) readHolder(holder, parse)
    }
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'ArithmeticExpression'
}

function readHolder(holder: Holder, parse: (text: string) => Script): void {
  const { originalText } = holder
  if (originalText === undefined || !/\W/.test(originalText)) return
  const [part] = wordOf(`: $((${originalText}))`, parse)
  if (part?.type !== 'ArithmeticExpansion') return
  // Nodes of the parser contain no references to their parents.
  Object.assign(holder, { expression: part.expression.expression })
}

function wordOf(text: string, parse: (text: string) => Script) {
  try {
    const [statement] = parse(text).statements
    const [command] = statement?.pipelines[0]?.commands ?? []
    return command?.type === 'SimpleCommand' ? (command.args[0]?.parts ?? []) : []
  } catch {
    // Any error of the parser means that the text is invalid, and it stays unchanged.
    return []
  }
}

// `${text/pattern/[&]}`: since bash 5.2 an `&` that is not quoted is what the pattern matched. The interpreter finds what that
// is, one match after the other, and the text is put together here.

import { isNode, type Node } from './heads.ts'
import type { StepResult } from './shape.ts'
import type { Filling } from './transforms.ts'
import { valuesOf } from './values.ts'
import { type Part, textOfParts, writtenText } from './words-alone.ts'

type Expansion = Extract<Part, { type: 'ParameterExpansion' }>
type Replacement = Extract<NonNullable<Expansion['operation']>, { type: 'PatternReplacement' }>
type Spans = (text: string) => Promise<[start: number, end: number][] | StepResult>

const MARK = '\ue000'

export function replacementOf(node: Node): Replacement | null {
  if (node.type !== 'ParameterExpansion' || !isNode(node.operation)) return null
  const { operation } = node as unknown as Expansion
  return operation?.type === 'PatternReplacement' && operation.replacement ? operation : null
}

/** Whether the replacement may hold one. */
export function mayHaveMatch({ replacement }: Replacement): boolean {
  return (replacement?.parts ?? []).some((part) => {
    const text = part.type === 'SingleQuoted' || part.type === 'Escaped' ? '' : writtenText(part)
    return text === null ? part.type !== 'DoubleQuoted' : text.includes('&')
  })
}

export async function replaced(node: Node, filling: Filling): Promise<Node | StepResult | null> {
  const operation = replacementOf(node)
  const { shell, run, temporaries } = filling
  const { state } = shell.ctx
  const found = operation && valuesOf(state, String(node.parameter))
  if (!found || !operation?.replacement || hasPlainValues(operation.replacement.parts, state.env)) return null
  const quote = (text: string) => text.replace(/[\\&]/g, '\\$&')
  const template = await textOfParts(shell, operation.replacement.parts, { run, quote })
  if (typeof template !== 'string') return template
  const spansIn = spansOf(operation, filling)
  const results: string[] = []
  for (const value of found.values) {
    const spans = await spansIn(value)
    if (!Array.isArray(spans)) return spans
    results.push(filled(value, spans, template))
  }
  return temporaries.hold(results, found.all)
}

/** Most have one value put in, which is a name or a path. */
function hasPlainValues(parts: readonly Part[], env: ReadonlyMap<string, string>): boolean {
  return parts.every((part) => {
    if (part.type === 'DoubleQuoted' || part.type === 'SingleQuoted' || part.type === 'Escaped') return true
    if (part.type === 'ParameterExpansion' && part.operation === null && /^\w+$/.test(part.parameter)) {
      return !/[&\\]/.test(env.get(part.parameter) ?? '')
    }
    return !(writtenText(part) ?? '&').includes('&')
  })
}

function filled(value: string, spans: readonly [number, number][], template: string): string {
  let [text, at] = ['', 0]
  for (const [start, end] of spans) {
    const match = value.slice(start, end)
    text += value.slice(at, start) + template.replace(/\\([\\&])|&/g, (_, quoted) => quoted ?? match)
    at = end
  }
  return text + value.slice(at)
}

function spansOf(operation: Replacement, filling: Filling): Spans {
  const text = operation.pattern.parts.every(isPlain) ? operation.pattern.parts.map(writtenText).join('') : null
  if (text === null) return (value) => spansByPattern(value, operation, filling)
  return async (value) => spansOfText(value, text, operation)
}

const isPlain = (part: Part): boolean =>
  part.type === 'SingleQuoted' || part.type === 'Escaped' || (part.type === 'Literal' && !/[*?[\\(]/.test(part.value))

function spansOfText(value: string, text: string, { all, anchor }: Replacement): [number, number][] {
  if (anchor === 'start') return value.startsWith(text) ? [[0, text.length]] : []
  if (anchor === 'end') return value.endsWith(text) ? [[value.length - text.length, value.length]] : []
  const spans: [number, number][] = []
  if (text === '') return spans
  for (let at = value.indexOf(text); at >= 0; at = value.indexOf(text, at + text.length)) {
    spans.push([at, at + text.length])
    if (!all) break
  }
  return spans
}

async function spansByPattern(value: string, operation: Replacement, { shell, run, temporaries }: Filling) {
  let mark = MARK
  while (value.includes(mark)) mark += MARK
  const replacement = { type: 'Word' as const, parts: [{ type: 'SingleQuoted' as const, value: mark }] }
  const once = { ...operation, all: false, replacement }
  const spans: [number, number][] = []
  let at = 0
  while (at <= value.length) {
    const rest = temporaries.hold([value.slice(at)], null)
    const marked = await textOfParts(shell, [{ ...rest, operation: once } as unknown as Part], { run })
    if (typeof marked !== 'string') return marked
    const start = marked.indexOf(mark)
    const length = value.length - at - (marked.length - mark.length)
    if (start < 0 || length <= 0) break
    spans.push([at + start, at + start + length])
    at += start + length
    if (!operation.all || operation.anchor !== null || at === value.length) break
  }
  return spans
}

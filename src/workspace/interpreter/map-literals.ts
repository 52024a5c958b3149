// `m=([a key]=value ["$k"]=value)` and `m=(key value …)`. The interpreter parts words at blanks within brackets, and takes a key
// that holds an expansion for a part of the value. Here the key is expanded, and handed on as a text in quotes.

import type { Node } from './heads.ts'
import type { StepResult } from './shape.ts'
import type { Filling } from './transforms.ts'
import { literal, type Part, textOfParts, type Word, wordsAlone } from './words-alone.ts'

type Element = { key: Part[]; sign: '=' | '+='; value: Part[] }
const CLOSE = /\](\+?=)/

/** For the words of an array as they were parsed: a key with blanks is one again. */
export function joinKeys(words: Word[]): Word[] {
  const joined: Word[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (!word) continue
    let parts = word.parts
    let last = i
    while (isOpen(parts) && words.slice(last + 1).some(closes)) {
      const next = words[++last]
      parts = [...parts, { type: 'Literal', value: ' ' }, ...(next?.parts ?? [])]
    }
    joined.push(last === i ? word : { ...word, parts })
    i = last
  }
  return joined
}

const closes = ({ parts }: Word): boolean => parts.some((part) => part.type === 'Literal' && CLOSE.test(part.value))

/** `[` without the `]=` that belongs to it. */
function isOpen(parts: readonly Part[]): boolean {
  const [first] = parts
  if (first?.type !== 'Glob' || first.pattern !== '[') return false
  return !parts.some((part) => part.type === 'Literal' && CLOSE.test(part.value))
}

export function isLiteralOfKeys(node: Node): boolean {
  return node.type === 'Assignment' && Array.isArray(node.array) && node.array.length > 0
}

/** Null where the interpreter understands it. */
export async function keyedLiteral(node: Node, filling: Filling): Promise<Node | StepResult | null> {
  const { shell, run } = filling
  const words = node.array as Word[]
  const name = String(node.name)
  const { arrays, associativeArrays } = shell.ctx.state
  const isMap = arrays?.get(name)?.kind === 'associative' || (associativeArrays?.has(name) ?? false)
  const elements = words.map(elementOf)
  if (!isMap && !elements.some((one) => one?.key.some((part) => EXPANDED.has(part.type)))) return null
  if (isMap && elements[0] === null) return inPairs(node, filling)
  const array: Word[] = []
  for (const [i, element] of elements.entries()) {
    const word = words[i]
    if (element === null && word) array.push(word)
    if (element === null) continue
    const key = await textOfParts(shell, element.key, { run })
    if (typeof key !== 'string') return key
    // A map's values are not looked at for `~`.
    const value = await textOfParts(shell, isMap ? element.value.map(asWritten) : element.value, { run })
    if (typeof value !== 'string') return value
    array.push(isMap ? keyed(key, element.sign, value) : indexed(key, element.sign, value))
  }
  return { ...node, array }
}

const EXPANDED: ReadonlySet<string> = new Set([
  ...['ParameterExpansion', 'CommandSubstitution', 'ArithmeticExpansion', 'DoubleQuoted'],
])

const keyed = (key: string, sign: string, value: string): Word => ({
  type: 'Word',
  parts: [
    { type: 'Glob', pattern: '[' },
    { type: 'SingleQuoted', value: key },
    { type: 'Literal', value: `]${sign}` },
    { type: 'SingleQuoted', value },
  ],
})

const indexed = (key: string, sign: string, value: string): Word => ({
  type: 'Word',
  parts: [
    { type: 'Glob', pattern: `[${key}]` },
    { type: 'Literal', value: sign },
    { type: 'SingleQuoted', value },
  ],
})

function elementOf({ parts }: Word): Element | null {
  const [first, ...rest] = parts
  if (first?.type !== 'Glob' || !first.pattern.startsWith('[')) return null
  const [next] = rest
  const whole = /^\[([\s\S]+)\]$/.exec(first.pattern)?.[1]
  const [, sign = '', text = ''] = next?.type === 'Literal' ? (/^(\+?=)([\s\S]*)$/.exec(next.value) ?? []) : []
  if (whole !== undefined && sign !== '') {
    return { key: [{ type: 'Literal', value: whole }], sign: sign as '=', value: withText(text, rest.slice(1)) }
  }
  const at = rest.findIndex((part) => part.type === 'Literal' && CLOSE.test(part.value))
  const close = rest[at]
  if (close?.type !== 'Literal') return null
  const [closing, mark = '='] = CLOSE.exec(close.value) ?? ['']
  const end = close.value.indexOf(closing)
  const begun = first.pattern.slice(1)
  const key = [...withText(begun, rest.slice(0, at)), ...withText(close.value.slice(0, end), [])]
  return { key, sign: mark as '=', value: withText(close.value.slice(end + closing.length), rest.slice(at + 1)) }
}

const asWritten = (part: Part): Part =>
  part.type === 'TildeExpansion' ? { type: 'Literal', value: `~${part.user ?? ''}` } : part

const withText = (text: string, parts: readonly Part[]): Part[] =>
  text === '' ? [...parts] : [{ type: 'Literal', value: text }, ...parts]

async function inPairs(node: Node, { shell, run }: Filling): Promise<Node | StepResult> {
  const texts: string[] = []
  for (const word of node.array as Word[]) {
    const words = await wordsAlone(shell, word, run)
    if (!Array.isArray(words)) return words
    texts.push(...words)
  }
  const array: Word[] = []
  for (let i = 0; i < texts.length; i += 2) array.push(keyed(texts[i] ?? '', '=', texts[i + 1] ?? ''))
  return { ...node, array: array.length > 0 ? array : [literal('')] }
}

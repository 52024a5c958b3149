// `m=([a key]=value ["$k"]=value)` and `m=(key value …)`. The interpreter splits words at blanks within brackets, and
// treats a key with an expansion as a part of the value. Here the key is expanded, and passed on as a quoted text.

import { evaluateText, mistakeInAssignment } from './arithmetic/expression.ts'
import { fieldsOfWord } from './expansion/braces.ts'
import type { Expander } from './expansion/expander.ts'
import type { SimpleCommand } from './shape.ts'
import { literal, type Part, type Word } from './words-alone.ts'

type Assignment = SimpleCommand['assignments'][number]

type Element = { key: Part[]; sign: '=' | '+='; value: Part[] }
const CLOSE = /\](\+?=)/

/** For the parsed words of an array: rejoins a key with blanks. */
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

const NAME = /^[A-Za-z_]\w*$/

/** For the arguments of a command, in which the parser includes a blank of `a[b c]` in the word. */
export function partedKeys(words: Word[]): Word[] {
  return words.some(mayBeTwo) ? words.flatMap((word) => (mayBeTwo(word) ? partedKey(word) : [word])) : words
}

function mayBeTwo({ parts: [name, index] }: Word): boolean {
  return name?.type === 'Literal' && NAME.test(name.value) && index?.type === 'Glob' && index.pattern.startsWith('[')
}

function partedKey({ parts }: Word): Word[] {
  const words: Part[][] = [[]]
  let depth = 0
  for (const [i, part] of parts.entries()) {
    const text = part.type === 'Glob' ? part.pattern : part.type === 'Literal' && depth > 0 ? part.value : null
    const as = (value: string): Part =>
      part.type === 'Glob' ? { type: 'Glob', pattern: value } : { type: 'Literal', value }
    let piece = ''
    for (const [sign] of text?.matchAll(/'[^']*'|\\[\s\S]|[\s\S]/g) ?? []) {
      if (i > 0 && depth === 0 && sign !== '[') {
        piece += sign
        continue
      }
      if (sign === '[') depth++
      if (sign === ']') depth--
      if (!/^\s$/.test(sign)) {
        piece += sign
        continue
      }
      if (piece !== '') words.at(-1)?.push(as(piece))
      if (words.at(-1)?.length) words.push([])
      piece = ''
    }
    if (text === null) words.at(-1)?.push(part)
    else if (piece !== '') words.at(-1)?.push(as(piece))
  }
  return words.filter((some) => some.length > 0).map((some) => ({ type: 'Word', parts: some }))
}

const closes = ({ parts }: Word): boolean => parts.some((part) => part.type === 'Literal' && CLOSE.test(part.value))

/** `[` without its `]=`. */
function isOpen(parts: readonly Part[]): boolean {
  const [first] = parts
  if (first?.type !== 'Glob' || first.pattern !== '[') return false
  return !parts.some((part) => part.type === 'Literal' && CLOSE.test(part.value))
}

/** The array of an assignment with texts for its words and numbers for its indexes. */
export async function elementsExpanded(expander: Expander, node: Assignment): Promise<Assignment> {
  const { name, array } = node
  if (!array || array.length === 0) return node
  const { arrays, associativeArrays } = expander.state
  const isMap = arrays?.get(name)?.kind === 'associative' || (associativeArrays?.has(name) ?? false)
  const elements = array.map(elementOf)
  if (isMap && elements[0] === null) return inPairs(expander, node)
  const values: Value[] = []
  for (const [i, element] of elements.entries()) {
    const word = array[i]
    if (element !== null) values.push(await elementValue(expander, element, isMap))
    else if (word)
      values.push(...(await fieldsOfWord(expander, word)).map((value) => ({ key: null, sign: '=', value })))
  }
  const isInteger = expander.state.integerVars?.has(name) ?? false
  const isSettled = !isInteger && values.every(({ key }) => key === null || /^\d+$/.test(key))
  const settled = isMap || isSettled ? values : settledOneByOne(expander, node, { values, isInteger })
  return { ...node, array: settled.map((one) => wordOf(one, isMap)) }
}

/** One element, as texts. */
type Value = { key: string | null; sign: string; value: string }

async function elementValue(expander: Expander, element: Element, isMap: boolean): Promise<Value> {
  const key = await expander.text(element.key)
  // Values of an associative array have no tilde expansion.
  const parts = isMap ? element.value.map(asWritten) : withPathTildes(element.value)
  return { key, sign: element.sign, value: await expander.text(parts, 'assignment') }
}

/** After all values are expanded, indexes are evaluated one after another, and each sees the previous elements. */
function settledOneByOne(
  expander: Expander,
  { name, append }: Assignment,
  { values, isInteger }: { values: readonly Value[]; isInteger: boolean },
): Value[] {
  const { state } = expander
  state.arrays ??= new Map()
  const before = state.arrays.get(name)
  const elements = new Map(append ? before?.elements : [])
  state.arrays.set(name, { kind: 'indexed', elements })
  const number = (text: string) => (isInteger ? integer(expander, text) : text)
  let next = 0
  for (const key of elements.keys()) next = Math.max(next, Number(key) + 1)
  try {
    return values.flatMap(({ key, sign, value }) => {
      const index = key === null ? next : Number(integer(expander, key))
      let end = 0
      if (index < 0) for (const one of elements.keys()) end = Math.max(end, Number(one) + 1)
      const at = index + end
      if (at < 0) {
        expander.stderr += `bash: line ${state.currentLine}: [${key}]${sign}${value}: bad array subscript\n`
        return []
      }
      const present = sign === '+=' ? elements.get(String(at)) : undefined
      const text =
        isInteger && present !== undefined ? number(`${present}+(${value})`) : (present ?? '') + number(value)
      elements.set(String(at), text)
      next = at + 1
      return [{ key: String(at), sign: '=', value: text }]
    })
  } finally {
    if (before) state.arrays.set(name, before)
    else state.arrays.delete(name)
  }
}

function wordOf({ key, sign, value }: Value, isMap: boolean): Word {
  if (key === null) return literal(value)
  return isMap ? keyed(key, sign, value) : indexed(key, sign, value)
}

function integer({ shell }: Expander, text: string): string {
  try {
    return String(evaluateText(shell, text))
  } catch (error) {
    throw mistakeInAssignment(shell, error)
  }
}

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

/** After a colon, a tilde starts a path too. */
function withPathTildes(parts: readonly Part[]): Part[] {
  return parts.flatMap((part) => {
    if (part.type !== 'Literal') return [part]
    return [...part.value.matchAll(/(?<=:)~([\w.-]*)(?=[:/]|$)|(?:(?!(?<=:)~[\w.-]*(?:[:/]|$))[\s\S])+/g)].map(
      ([value, user]): Part => {
        return user === undefined
          ? { type: 'Literal', value }
          : { type: 'TildeExpansion', user: user === '' ? null : user }
      },
    )
  })
}

const withText = (text: string, parts: readonly Part[]): Part[] =>
  text === '' ? [...parts] : [{ type: 'Literal', value: text }, ...parts]

async function inPairs(expander: Expander, node: Assignment): Promise<Assignment> {
  const texts: string[] = []
  for (const word of node.array ?? []) texts.push(...(await fieldsOfWord(expander, word)))
  const array: Word[] = []
  for (let i = 0; i < texts.length; i += 2) array.push(keyed(texts[i] ?? '', '=', texts[i + 1] ?? ''))
  return { ...node, array: array.length > 0 ? array : [literal('')] }
}

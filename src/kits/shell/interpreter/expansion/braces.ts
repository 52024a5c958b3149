// `{a,b}` and `{1..5}`: several words instead of one, before any other expansion.

import type { Part, Word } from '../words-alone.ts'
import type { Expander } from './expander.ts'
import { ExpansionFailure } from './failure.ts'

type Items = Extract<Part, { type: 'BraceExpansion' }>['items']
type Range = Extract<Items[number], { type: 'Range' }>

/** Each is a separate word in memory. */
const MOST = 100_000
const BACKSLASH = 0x5c
/** Parts that are a backquote from a range of letters. */
const SIGNS = new WeakSet<Part>()

const hasBraces = ({ parts }: Word): boolean => parts.some(({ type }) => type === 'BraceExpansion')

/** The fields of a word, including brace expansion. */
export async function fieldsOfWord(expander: Expander, word: Word): Promise<string[]> {
  if (!hasBraces(word)) return expander.words(word)
  const fields: string[] = []
  for (const one of bracesOf(word)) fields.push(...(typeof one === 'string' ? [one] : await expander.words(one)))
  return fields
}

/** A string if it contains nothing else. */
function bracesOf(word: Word): (Word | string)[] {
  return choicesOf(word.parts).map((parts) => {
    const [part, ...others] = tildeRead(parts)
    const isText = part?.type === 'Literal' && others.length === 0
    refuseQuote(parts)
    return isText ? part.value : { type: 'Word', parts: part ? [part, ...others] : [] }
  })
}

/** In `~{a,b}`, the parser has not recognized that each one is a user name. */
function tildeRead(parts: readonly Part[]): readonly Part[] {
  const [first] = parts
  if (first?.type !== 'Literal' || !first.value.startsWith('~')) return parts
  const end = parts.findIndex((part) => part.type !== 'Literal')
  const written = end < 0 ? parts : parts.slice(0, end)
  const text = written.map((part) => ('value' in part ? part.value : '')).join('')
  const [whole, user = ''] = /^~([\w.-]*)(?=\/|$)/.exec(text) ?? []
  const rest = parts.slice(written.length)
  if (whole === undefined || (whole === text && rest.length > 0)) return [{ type: 'Literal', value: text }, ...rest]
  const tilde: Part = { type: 'TildeExpansion', user: user === '' ? null : user }
  return whole === text ? [tilde] : [tilde, { type: 'Literal', value: text.slice(whole.length) }, ...rest]
}

function choicesOf(parts: readonly Part[]): Part[][] {
  let choices: Part[][] = [[]]
  for (const part of parts) {
    const next = part.type === 'BraceExpansion' ? joinedItems(part.items).flatMap(itemsOf) : [[part]]
    if (choices.length * next.length > MOST) throw tooMany()
    choices = choices.flatMap((before) => next.map((after) => [...before, ...after]))
  }
  return choices
}

/** The parser also splits at a comma after a backslash. */
function joinedItems(items: Items): Items[number][] {
  const joined: Items[number][] = []
  for (const item of items) {
    const before = joined.at(-1)
    const last = before?.type === 'Word' ? before.word.parts.at(-1) : undefined
    if (before?.type !== 'Word' || item.type !== 'Word' || last?.type !== 'Literal' || !last.value.endsWith('\\')) {
      joined.push(item)
      continue
    }
    const start: Part[] = [...before.word.parts.slice(0, -1), { ...last, value: last.value.slice(0, -1) }]
    const parts: Part[] = [...start, { type: 'Escaped', value: ',' }, ...item.word.parts]
    joined[joined.length - 1] = { type: 'Word', word: { type: 'Word', parts } }
  }
  return joined
}

function itemsOf(item: Items[number]): Part[][] {
  if (item.type === 'Word') return choicesOf(item.word.parts)
  return rangeOf(item).map((value): Part[] => {
    const part: Part = { type: 'Literal', value }
    if (value === '`') SIGNS.add(part)
    return [part]
  })
}

/** One of the characters between `Z` and `a` is a backquote, which quotes the following text. */
function refuseQuote(parts: readonly Part[]): void {
  const at = parts.findIndex((part) => SIGNS.has(part))
  if (at < 0 || at === parts.length - 1) return
  const rest = parts.slice(at).map((part) => ('value' in part ? part.value : ''))
  const stderr = `bash: bad substitution: no closing "\`" in ${rest.join('')}\n`
  throw new ExpansionFailure({ stdout: '', stderr, exitCode: 1 }, 'reports')
}

function tooMany(): ExpansionFailure {
  const stderr = `bash: brace expansion: more than ${MOST} words, use seq\n`
  return new ExpansionFailure({ stdout: '', stderr, exitCode: 1 })
}

function rangeOf({ start, end, step, startStr, endStr }: Range): string[] {
  const first = typeof start === 'number' ? start : (start.codePointAt(0) ?? 0)
  const last = typeof end === 'number' ? end : (end.codePointAt(0) ?? 0)
  const each = Math.abs(step ?? 1) || 1
  const count = Math.floor(Math.abs(last - first) / each) + 1
  if (count > MOST) throw tooMany()
  const isPadded = [startStr, endStr].some((text) => /^-?0\d/.test(text ?? ''))
  const width = isPadded ? Math.max(startStr?.length ?? 0, endStr?.length ?? 0) : 0
  return Array.from({ length: count }, (_, i) => {
    const number = first + i * (first <= last ? each : -each)
    // A backslash that quotes nothing.
    if (typeof start !== 'number') return number === BACKSLASH ? '' : String.fromCodePoint(number)
    return number < 0 ? `-${String(-number).padStart(width - 1, '0')}` : String(number).padStart(width, '0')
  })
}

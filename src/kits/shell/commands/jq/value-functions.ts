// Built-in functions from values to a value: those of texts, arrays and objects. Numbers are in `maths.ts`, times in
// `dates.ts`.

import { DATE_FUNCTIONS } from './dates.ts'
import { asText, formatted } from './formats.ts'
import { parsedJson } from './json-read.ts'
import { numberText, toJson } from './json-write.ts'
import { MATHS } from './maths.ts'
import { add, JqError, splitText, valueLabel } from './operators.ts'
import { deletePaths, hasKey, indicesOf, keysOf, setPath, valueAt } from './paths.ts'
import { matched } from './regex.ts'
import { compareValues, equalValues, isArray, isObject, type JqValue, sortedKeys, typeOf } from './value.ts'
import type { ValueFunction } from './value-function.ts'

export const VALUE_FUNCTIONS: Readonly<Record<string, ValueFunction>> = {
  ...MATHS,
  ...DATE_FUNCTIONS,
  'length/0': lengthOf,
  'utf8bytelength/0': (input) => {
    if (typeof input !== 'string') throw new JqError(`${valueLabel(input)} only strings have UTF-8 byte length`)
    return new TextEncoder().encode(input).byteLength
  },
  'keys/0': (input) => (isObject(input) ? sortedKeys(input) : keysOf(input)),
  'keys_unsorted/0': keysOf,
  'has/1': (input, [key = null]) => hasKey(input, key),
  'contains/1': (input, [other = null]) => contains(input, other),
  'add/0': sum,
  'reverse/0': (input) => {
    if (typeof input === 'string') return [...input].reverse().join('') === '' ? [] : raiseIndex(input)
    return input === null ? [] : list(input, 'be reversed, as it is not an array').slice().reverse()
  },
  'sort/0': (input) => sortable(input).slice().sort(compareValues),
  '_sort_by/1': (input, [keys = null]) => sorted(input, keys).map(({ item }) => item),
  '_group_by/1': (input, [keys = null]) => groups(input, keys),
  '_unique_by/1': (input, [keys = null]) => groups(input, keys).map((group) => group[0] ?? null),
  '_min_by/1': (input, [keys = null]) => extreme(input, keys, (found) => found < 0),
  '_max_by/1': (input, [keys = null]) => extreme(input, keys, (found) => found >= 0),
  'unique/0': (input) =>
    groups(
      input,
      sortable(input).map((item) => [item]),
    ).map((group) => group[0] ?? null),
  'min/0': (input) => extreme(input, input, (found) => found < 0),
  'max/0': (input) => extreme(input, input, (found) => found >= 0),
  'flatten/0': (input) => flattened(input, Number.POSITIVE_INFINITY),
  'flatten/1': (input, [depth = null]) => {
    if (typeof depth === 'number' && depth < 0) throw new JqError('flatten depth must not be negative')
    return flattened(input, typeof depth === 'number' ? depth : 0)
  },
  'transpose/0': transposed,
  'join/1': joined,
  'indices/1': (input, [wanted = null]) => {
    if (isArray(input)) return indicesOf(input, isArray(wanted) ? wanted : [wanted])
    if (typeof input === 'string' && typeof wanted === 'string') return placesIn(input, wanted)
    return valueAt(input, wanted)
  },
  'setpath/2': (input, [path = null, put = null]) => setPath(input, pathFrom(path), put),
  'delpaths/1': (input, [paths = null]) => {
    if (!isArray(paths)) throw new JqError('Paths must be specified as an array')
    return deletePaths(input, paths)
  },
  'type/0': typeOf,
  'tostring/0': asText,
  'tojson/0': (input) => toJson(input),
  'fromjson/0': (input) => {
    if (typeof input !== 'string') throw new JqError(`${valueLabel(input)} only strings can be parsed`)
    return parsedJson(input)
  },
  'tonumber/0': toNumber,
  'format/1': (input, [name = null]) => {
    if (typeof name !== 'string') throw new JqError(`${valueLabel(name)} is not a valid format`)
    return formatted(`@${name}`, input)
  },
  'explode/0': (input) => [...text(input, 'explode input must be a string')].map((char) => char.codePointAt(0) ?? 0),
  'implode/0': imploded,
  'split/1': (input, [separator = null]) => {
    if (typeof input !== 'string' || typeof separator !== 'string') {
      throw new JqError('split input and separator must be strings')
    }
    return splitText(input, separator)
  },
  'startswith/1': (input, [start = null]) => both(input, start, 'startswith').startsWith(String(start)),
  'endswith/1': (input, [end = null]) => both(input, end, 'endswith').endsWith(String(end)),
  'ltrimstr/1': (input, [start = null]) =>
    typeof input === 'string' && typeof start === 'string' && input.startsWith(start)
      ? input.slice(start.length)
      : input,
  'rtrimstr/1': (input, [end = null]) =>
    typeof input === 'string' && typeof end === 'string' && end !== '' && input.endsWith(end)
      ? input.slice(0, -end.length)
      : input,
  '_lower/0': (input) => text(input, 'explode input must be a string').replace(/[A-Z]+/g, (part) => part.toLowerCase()),
  '_upper/0': (input) => text(input, 'explode input must be a string').replace(/[a-z]+/g, (part) => part.toUpperCase()),
  '_match/3': matched,
  '_pieces/3': (_, [input = null, edits = null, put = null]) => replacedIn(String(input), edits, put),
  'bsearch/1': searched,
  'modulemeta/0': () => {
    throw new JqError('modules are not available here')
  },
}

function raiseIndex(input: JqValue): never {
  throw new JqError(`Cannot index ${typeOf(input)} with number`)
}

function lengthOf(input: JqValue): JqValue {
  if (input === null) return 0
  if (typeof input === 'number') return Math.abs(input)
  if (typeof input === 'string') return /[\ud800-\udbff]/.test(input) ? [...input].length : input.length
  if (isArray(input)) return input.length
  if (isObject(input)) return input.size
  throw new JqError(`${valueLabel(input)} has no length`)
}

function text(input: JqValue, message: string): string {
  if (typeof input !== 'string') throw new JqError(message)
  return input
}

function both(input: JqValue, other: JqValue, name: string): string {
  if (typeof input !== 'string' || typeof other !== 'string') throw new JqError(`${name}() requires string inputs`)
  return input
}

function list(input: JqValue, cannot: string): readonly JqValue[] {
  if (!isArray(input)) throw new JqError(`${valueLabel(input)} cannot ${cannot}`)
  return input
}

const sortable = (input: JqValue): readonly JqValue[] => list(input, 'be sorted, as it is not an array')

function contains(a: JqValue, b: JqValue): boolean {
  if (isObject(a) && isObject(b)) {
    return [...b].every(([key, value]) => {
      const there = a.get(key)
      return there !== undefined && contains(there, value)
    })
  }
  if (isArray(a) && isArray(b))
    return b.every((wanted) => a.some((item) => typeOf(item) === typeOf(wanted) && contains(item, wanted)))
  if (typeof a === 'string' && typeof b === 'string') return a.includes(b)
  if (typeOf(a) === typeOf(b)) return equalValues(a, b)
  throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot have their containment checked`)
}

/** Adding long lists of texts, arrays and objects in pairs would take too long. */
function sum(input: JqValue): JqValue {
  const items = isObject(input) ? [...input.values()] : isArray(input) ? input : null
  if (items === null) throw new JqError(`Cannot iterate over ${valueLabel(input)}`)
  if (items.every((item) => typeof item === 'string') && items.length > 0) return items.join('')
  if (items.every(isArray) && items.length > 0) return items.flat()
  if (items.every(isObject) && items.length > 0) return new Map(items.flatMap((item) => [...item]))
  return items.reduce<JqValue>(add, null)
}

type Keyed = { item: JqValue; key: JqValue }

function sorted(input: JqValue, keys: JqValue): Keyed[] {
  const of = isArray(keys) ? keys : []
  return sortable(input)
    .map((item, i) => ({ item, key: of[i] ?? null }))
    .sort((a, b) => compareValues(a.key, b.key))
}

function groups(input: JqValue, keys: JqValue): JqValue[][] {
  const found: JqValue[][] = []
  let last: Keyed | null = null
  for (const one of sorted(input, keys)) {
    if (last && equalValues(last.key, one.key)) found.at(-1)?.push(one.item)
    else found.push([one.item])
    last = one
  }
  return found
}

function extreme(input: JqValue, keys: JqValue, isBetter: (compared: number) => boolean): JqValue {
  const items = list(input, 'be iterated over, as it is not an array')
  const of = isArray(keys) ? keys : []
  let best = 0
  for (let i = 1; i < items.length; i++) if (isBetter(compareValues(of[i] ?? null, of[best] ?? null))) best = i
  return items[best] ?? null
}

function flattened(input: JqValue, depth: number): JqValue[] {
  const items = isArray(input) ? input : isObject(input) ? [...input.values()] : null
  if (items === null) throw new JqError(`Cannot iterate over ${valueLabel(input)}`)
  return items.flatMap((item) => (isArray(item) && depth > 0 ? flattened(item, depth - 1) : [item]))
}

function transposed(input: JqValue): JqValue {
  const rows = list(input, 'be transposed, as it is not an array').map((row) => list(row, 'be indexed with number'))
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  return Array.from({ length: width }, (_, i) => rows.map((row) => row[i] ?? null))
}

function joined(input: JqValue, [separator = null]: readonly JqValue[]): JqValue {
  const items = isObject(input) ? [...input.values()] : list(input, 'be iterated over')
  if (items.length === 0) return ''
  const parts = items.map((item) => {
    if (item === null) return ''
    if (typeof item === 'boolean') return String(item)
    if (typeof item === 'number') return numberText(item)
    if (typeof item !== 'string') throw new JqError(`${valueLabel('')} and ${valueLabel(item)} cannot be added`)
    return item
  })
  if (typeof separator !== 'string' && items.length > 1)
    throw new JqError(`${valueLabel('')} and ${valueLabel(separator)} cannot be added`)
  return parts.join(String(separator))
}

/** In bytes of UTF-8, like in jq 1.6. */
function placesIn(input: string, wanted: string): number[] {
  const found: number[] = []
  if (wanted === '') return found
  const encoder = new TextEncoder()
  let [bytes, counted] = [0, 0]
  for (let at = input.indexOf(wanted); at >= 0; at = input.indexOf(wanted, at + 1)) {
    bytes += encoder.encode(input.slice(counted, at)).byteLength
    counted = at
    found.push(bytes)
  }
  return found
}

function pathFrom(path: JqValue): readonly JqValue[] {
  if (!isArray(path)) throw new JqError('Path must be specified as an array')
  return path
}

function toNumber(input: JqValue): JqValue {
  if (typeof input === 'number') return input
  if (typeof input !== 'string') throw new JqError(`${valueLabel(input)} cannot be parsed as a number`)
  const parsed = parsedJson(input)
  if (typeof parsed === 'number') return parsed
  throw new JqError(`${valueLabel(input)} cannot be parsed as a number`)
}

function imploded(input: JqValue): JqValue {
  if (!isArray(input)) throw new JqError('implode input must be an array')
  return input
    .map((point) => {
      if (typeof point !== 'number' || !(point >= 0 && point <= 0x10ffff)) {
        throw new JqError('Unicode codepoint must be numeric')
      }
      return point >= 0xd800 && point <= 0xdfff ? '\ufffd' : String.fromCodePoint(point)
    })
    .join('')
}

/** The text with its matches replaced; each part uses its first replacement. */
function replacedIn(input: string, edits: JqValue, put: JqValue): JqValue {
  const chars = [...input]
  let [result, at, previous]: [string, number, number | undefined] = ['', 0, undefined]
  const replacements = isArray(put) ? put : []
  for (const [i, edit] of (isArray(edits) ? edits : []).entries()) {
    const [offset, length] = [valueAt(edit, 'offset'), valueAt(edit, 'length')].map(Number)
    // A global search finds the end of the text repeatedly.
    if (i > 0 && length === 0 && offset === at && offset === previous) continue
    previous = offset
    const options = replacements[i]
    const chosen = options !== undefined && isArray(options) ? options[0] : undefined
    if (chosen === undefined) return input
    if (typeof chosen !== 'string') throw new JqError(`${valueLabel('')} and ${valueLabel(chosen)} cannot be added`)
    result += chars.slice(at, offset).join('') + chosen
    at = (offset ?? 0) + (length ?? 0)
  }
  return result + chars.slice(at).join('')
}

/** The index of the value in a sorted array, or minus one minus its insertion point. */
function searched(input: JqValue, [wanted = null]: readonly JqValue[]): JqValue {
  const items = list(input, 'be searched from')
  let [low, high] = [0, items.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = compareValues(items[middle] ?? null, wanted)
    if (found === 0) return middle
    if (found < 0) low = middle + 1
    else high = middle - 1
  }
  return -1 - low
}

// Getting, setting and deleting what a path leads to.

import { JqError, named } from './operators.ts'
import { compareValues, equalValues, isArray, isObject, type JqObject, type JqValue, typeOf } from './value.ts'

/** Containers that were made for one operation and are seen by nobody else yet: they may be changed in place. */
export type Owned = Set<object>

/** Longer keys are not shown in messages. */
const SHOWN_KEY_BYTES = 30
/** An array is filled up with nulls; a program must not fill the memory with them. */
const MAX_ITEMS = 16_777_216

/** `value[key]`; null for what is not there. */
export function valueAt(value: JqValue, key: JqValue): JqValue {
  if (typeof key === 'string') {
    if (isObject(value)) return value.get(key) ?? null
    if (value === null) return null
  } else if (typeof key === 'number') {
    if (isArray(value)) return itemAt(value, key)
    if (value === null) return null
  } else if (isObject(key)) {
    if (value === null || isArray(value) || typeof value === 'string') return sliced(value, boundsOf(key))
  } else if (isArray(key) && isArray(value)) return indicesOf(value, key)
  throw cannotIndex(value, key)
}

function itemAt(list: readonly JqValue[], key: number): JqValue {
  if (!Number.isInteger(key)) return null
  return list[key < 0 ? key + list.length : key] ?? null
}

function cannotIndex(value: JqValue, key: JqValue): JqError {
  const isShown = typeof key === 'string' && key.length <= SHOWN_KEY_BYTES
  return new JqError(`Cannot index ${typeOf(value)} with ${isShown ? `string "${key}"` : typeOf(key)}`)
}

export type Bounds = { from: JqValue; to: JqValue }

const boundsOf = (key: JqObject): Bounds => ({ from: key.get('start') ?? null, to: key.get('end') ?? null })

/** Of a text the characters, of an array the items. */
export function sliced(value: JqValue, bounds: Bounds): JqValue {
  if (value === null) return null
  if (typeof value === 'string') {
    const chars = [...value]
    const [from, to] = rangeIn(chars.length, bounds)
    return chars.slice(from, to).join('')
  }
  if (!isArray(value)) throw new JqError(`Cannot index ${typeOf(value)} with object`)
  const [from, to] = rangeIn(value.length, bounds)
  return value.slice(from, to)
}

function rangeIn(length: number, { from, to }: Bounds): [number, number] {
  if ((from !== null && typeof from !== 'number') || (to !== null && typeof to !== 'number')) {
    throw new JqError('Start and end indices of an array slice must be numbers')
  }
  const placed = (bound: number) => Math.max(0, Math.min(length, bound < 0 ? bound + length : bound))
  const start = Math.floor(placed(from ?? 0))
  return [start, Math.max(start, Math.ceil(placed(to ?? length)))]
}

export function indicesOf(list: readonly JqValue[], wanted: readonly JqValue[]): number[] {
  const found: number[] = []
  if (wanted.length === 0) return found
  for (let at = 0; at + wanted.length <= list.length; at++) {
    if (wanted.every((item, i) => equalValues(list[at + i] ?? null, item))) found.push(at)
  }
  return found
}

export function getPath(value: JqValue, path: readonly JqValue[]): JqValue {
  let found = value
  for (const key of path) {
    if (found === null) return null
    found = valueAt(found, key)
  }
  return found
}

/** A copy of the value with another one at the path; what is owned already is not copied again. */
export function setPath(
  value: JqValue,
  path: readonly JqValue[],
  put: JqValue,
  owned: Owned = new Set(),
  depth = 0,
): JqValue {
  if (depth === path.length) return put
  const key = path[depth] ?? null
  const inner = setPath(value === null ? null : valueAt(value, key), path, put, owned, depth + 1)
  return withKey(value, key, { put: inner, owned })
}

type Putting = { put: JqValue; owned: Owned }

function withKey(value: JqValue, key: JqValue, { put, owned }: Putting): JqValue {
  if (typeof key === 'string' && (value === null || isObject(value))) return ownObject(value, owned).set(key, put)
  if (typeof key === 'number' && (value === null || isArray(value))) return withItem(value, key, { put, owned })
  if (isObject(key) && (value === null || isArray(value))) return withSlice(value ?? [], boundsOf(key), put)
  if (isObject(key)) throw new JqError(`Cannot update field at object index of ${typeOf(value)}`)
  if (isArray(key) && isArray(value)) throw new JqError('Cannot update field at array index of array')
  throw cannotIndex(value, key)
}

function ownObject(value: JqObject | null, owned: Owned): Map<string, JqValue> {
  if (value instanceof Map && owned.has(value)) return value
  const copy = new Map(value ?? [])
  owned.add(copy)
  return copy
}

export function ownList(value: readonly JqValue[] | null, owned: Owned): JqValue[] {
  // Whatever is owned was made as an array that can be changed.
  if (value !== null && owned.has(value)) return value as JqValue[]
  const copy = value === null ? [] : value.slice()
  owned.add(copy)
  return copy
}

function withItem(value: readonly JqValue[] | null, key: number, { put, owned }: Putting): JqValue[] {
  const floor = Math.floor(key)
  const at = floor < 0 ? floor + (value?.length ?? 0) : floor
  if (at < 0) throw new JqError('Out of bounds negative array index')
  if (at >= MAX_ITEMS) throw new JqError('Array index too large')
  const list = ownList(value, owned)
  while (list.length < at) list.push(null)
  list[at] = put
  return list
}

function withSlice(value: readonly JqValue[], bounds: Bounds, put: JqValue): JqValue {
  const [from, to] = rangeIn(value.length, bounds)
  if (!isArray(put)) throw new JqError('A slice of an array can only be assigned another array')
  return [...value.slice(0, from), ...put, ...value.slice(to)]
}

/** Without what the paths lead to; the last ones go first, so that the others stay where they are. */
export function deletePaths(value: JqValue, paths: readonly JqValue[]): JqValue {
  const sorted = paths.slice().sort(compareValues).reverse()
  const owned: Owned = new Set()
  let left = value
  for (const path of sorted) {
    if (!isArray(path)) throw new JqError('Path must be specified as an array')
    left = without(left, path, owned)
  }
  return left
}

function without(value: JqValue, path: readonly JqValue[], owned: Owned): JqValue {
  if (path.length === 0 || value === null) return null
  const [key = null, ...rest] = path
  if (rest.length > 0) {
    const inner = valueAt(value, key)
    return inner === null ? value : withKey(value, key, { put: without(inner, rest, owned), owned })
  }
  if (typeof key === 'string' && isObject(value)) {
    if (!value.has(key)) return value
    const object = ownObject(value, owned)
    object.delete(key)
    return object
  }
  if (typeof key === 'number' && isArray(value)) {
    const at = Math.floor(key) < 0 ? Math.floor(key) + value.length : Math.floor(key)
    if (at < 0 || at >= value.length) return value
    const list = ownList(value, owned)
    list.splice(at, 1)
    return list
  }
  if (isObject(key) && isArray(value)) {
    const [from, to] = rangeIn(value.length, boundsOf(key))
    return [...value.slice(0, from), ...value.slice(to)]
  }
  throw cannotDelete(value, key)
}

function cannotDelete(value: JqValue, key: JqValue): JqError {
  if (isObject(value) && typeof key === 'number') return new JqError('Cannot delete field at array index of object')
  if (isArray(value) && typeof key === 'string') return new JqError('Cannot delete field at object index of array')
  return new JqError(`Cannot delete field at ${typeof key === 'number' ? 'array' : 'object'} index of ${typeOf(value)}`)
}

/** Whether the value has the key. */
export function hasKey(value: JqValue, key: JqValue): boolean {
  if (isObject(value) && typeof key === 'string') return value.has(key)
  if (isArray(value) && typeof key === 'number') return key >= 0 && key < value.length
  throw new JqError(
    `Cannot check whether ${typeOf(value)} has a ${typeof key === 'string' ? 'string' : typeOf(key)} key`,
  )
}

export function keysOf(value: JqValue): JqValue[] {
  if (isArray(value)) return value.map((_, i) => i)
  if (isObject(value)) return [...value.keys()]
  throw new JqError(`${named(value)} has no keys`)
}

/** The pieces of a container with their keys. */
export function piecesOf(value: JqValue): Iterable<readonly [JqValue, JqValue]> {
  if (isArray(value)) return value.entries()
  if (isObject(value)) return value
  throw new JqError(`Cannot iterate over ${value === null ? 'null (null)' : named(value)}`)
}

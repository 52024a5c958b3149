// Reads, sets and deletes the values at paths.

import { JqError, valueLabel } from './operators.ts'
import { compareValues, equalValues, isArray, isObject, type JqObject, type JqValue, typeOf } from './value.ts'

/** Containers created in one operation that are not visible elsewhere yet: they may be changed in place. */
export type Owned = Set<object>

/** Longer keys are not shown in messages. */
const SHOWN_KEY_BYTES = 30
/** An array is filled up with nulls, so its length is limited to protect the memory. */
const MAX_ITEMS = 16_777_216

/** `value[key]`; null if it does not exist. */
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

/** Both must exist; only null stands for an open end. */
const boundsOf = (key: JqObject): Bounds => ({
  from: key.get('start') ?? missing(key),
  to: key.get('end') ?? missing(key),
})

const missing = (key: JqObject): JqValue => (key.has('start') && key.has('end') ? null : false)

/** The characters of a text, or the items of an array. */
function sliced(value: JqValue, bounds: Bounds): JqValue {
  if (value === null) return null
  if (typeof value === 'string') {
    const chars = [...value]
    const [from, to] = rangeIn(chars.length, bounds, 'string')
    return chars.slice(from, to).join('')
  }
  if (!isArray(value)) throw new JqError(`Cannot index ${typeOf(value)} with object`)
  const [from, to] = rangeIn(value.length, bounds)
  return value.slice(from, to)
}

function rangeIn(length: number, { from, to }: Bounds, kind = 'array'): [number, number] {
  if ((from !== null && typeof from !== 'number') || (to !== null && typeof to !== 'number')) {
    throw new JqError(`Start and end indices of an ${kind} slice must be numbers`)
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

/** A copy of the value with another one at the path; owned containers are not copied again. */
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
  // All owned arrays were created as mutable.
  if (value !== null && owned.has(value)) return value as JqValue[]
  const copy = value === null ? [] : value.slice()
  owned.add(copy)
  return copy
}

function withItem(value: readonly JqValue[] | null, key: number, { put, owned }: Putting): JqValue[] {
  const whole = Math.trunc(key)
  const at = whole < 0 ? whole + (value?.length ?? 0) : whole
  if (!(at >= 0)) throw new JqError('Out of bounds negative array index')
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

/** Without the values at the paths. */
export function deletePaths(value: JqValue, paths: readonly JqValue[]): JqValue {
  const sorted = paths.slice().sort(compareValues)
  const lists = sorted.map((path) => {
    if (!isArray(path)) throw new JqError(`Path must be specified as array, not ${typeOf(path)}`)
    return path
  })
  if (lists.length === 0) return value
  return lists[0]?.length === 0 ? null : without(value, lists, { start: 0, owned: new Set() })
}

/** The paths are sorted, and those with a common start are processed together. */
function without(
  value: JqValue,
  paths: readonly (readonly JqValue[])[],
  { start, owned }: { start: number; owned: Owned },
): JqValue {
  const gone: JqValue[] = []
  let left = value
  for (let i = 0; i < paths.length; ) {
    const path = paths[i] ?? []
    const key = path[start] ?? null
    let end = i + 1
    while (end < paths.length && equalValues(key, paths[end]?.[start] ?? null)) end++
    if (path.length === start + 1) gone.push(key)
    else {
      const inner = left === null ? null : valueAt(left, key)
      if (inner !== null) {
        left = withKey(left, key, { put: without(inner, paths.slice(i, end), { start: start + 1, owned }), owned })
      }
    }
    i = end
  }
  return gone.length === 0 ? left : withoutKeys(left, gone, owned)
}

function withoutKeys(value: JqValue, keys: readonly JqValue[], owned: Owned): JqValue {
  if (value === null) return null
  if (isArray(value)) return withoutItems(value, keys)
  if (!isObject(value)) throw new JqError(`Cannot delete fields from ${typeOf(value)}`)
  const object = ownObject(value, owned)
  for (const key of keys) {
    if (typeof key !== 'string') throw new JqError(`Cannot delete ${typeOf(key)} field of object`)
    object.delete(key)
  }
  return object
}

function withoutItems(list: readonly JqValue[], keys: readonly JqValue[]): JqValue {
  const gone = new Set<number>()
  for (const key of keys) {
    if (typeof key === 'number') gone.add(key < 0 ? Math.trunc(key) + list.length : Math.trunc(key))
    else if (isObject(key)) {
      const [from, to] = rangeIn(list.length, boundsOf(key))
      for (let at = from; at < to; at++) gone.add(at)
    } else throw new JqError(`Cannot delete ${typeOf(key)} element of array`)
  }
  return list.filter((_, i) => !gone.has(i))
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
  throw new JqError(`${valueLabel(value)} has no keys`)
}

/** The entries of a container with their keys. */
export function piecesOf(value: JqValue): Iterable<readonly [JqValue, JqValue]> {
  if (isArray(value)) return value.entries()
  if (isObject(value)) return value
  throw new JqError(`Cannot iterate over ${value === null ? 'null (null)' : valueLabel(value)}`)
}

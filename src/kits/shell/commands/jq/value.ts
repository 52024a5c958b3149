// The values of a jq program, and their order. Objects are maps: they keep the order of their keys, including keys that
// look like numbers.

export type JqObject = ReadonlyMap<string, JqValue>
export type JqValue = null | boolean | number | string | readonly JqValue[] | JqObject

export const isObject = (value: JqValue): value is JqObject => value instanceof Map
export const isArray = (value: JqValue): value is readonly JqValue[] => Array.isArray(value)
export const isTrue = (value: JqValue): boolean => value !== null && value !== false

export function typeOf(value: JqValue): string {
  if (value === null) return 'null'
  if (isArray(value)) return 'array'
  return isObject(value) ? 'object' : typeof value
}

const ORDER = ['null', 'false', 'true', 'number', 'string', 'array', 'object']
const rank = (value: JqValue): number => ORDER.indexOf(typeof value === 'boolean' ? String(value) : typeOf(value))

/** In jq's order of all values: negative, zero or positive. NaN is less than every number. */
export function compareValues(a: JqValue, b: JqValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b || Number.isNaN(a) ? -1 : a === b ? 0 : 1
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  const byType = rank(a) - rank(b)
  if (byType !== 0) return byType
  if (isArray(a) && isArray(b)) return compareLists(a, b)
  return isObject(a) && isObject(b) ? compareObjects(a, b) : 0
}

/** By code points, which is the order of the UTF-8 bytes. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  const most = Math.min(a.length, b.length)
  for (let i = 0; i < most; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // A surrogate represents a code point above all others.
    const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdfff
    return isHigh(x) === isHigh(y) ? x - y : isHigh(x) ? 1 : -1
  }
  return a.length - b.length
}

function compareLists(a: readonly JqValue[], b: readonly JqValue[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const found = compareValues(a[i] ?? null, b[i] ?? null)
    if (found !== 0) return found
  }
  return a.length - b.length
}

function compareObjects(a: JqObject, b: JqObject): number {
  const keys = sortedKeys(a)
  const byKeys = compareLists(keys, sortedKeys(b))
  if (byKeys !== 0) return byKeys
  for (const key of keys) {
    const found = compareValues(a.get(key) ?? null, b.get(key) ?? null)
    if (found !== 0) return found
  }
  return 0
}

export function sortedKeys(object: JqObject): string[] {
  return [...object.keys()].sort(compareTexts)
}

export function equalValues(a: JqValue, b: JqValue): boolean {
  return compareValues(a, b) === 0
}

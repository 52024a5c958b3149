// Writes values as JSON text, like jq 1.6.

import { isArray, isObject, type JqValue, sortedKeys } from './value.ts'

export interface Writing {
  /** The indentation of each level; empty for a single line. */
  indent: string
  sortsKeys: boolean
  /** Only ASCII. */
  escapes: boolean
  colours: boolean
}

const COMPACT: Writing = { indent: '', sortsKeys: false, escapes: false, colours: false }

/** jq refuses deeper values; here the stack would overflow. */
const MAX_DEPTH = 256
const START = {
  null: '1;30',
  false: '0;39',
  true: '0;39',
  number: '0;39',
  string: '0;32',
  array: '1;39',
  object: '1;39',
}
const KEY_COLOUR = '\x1b[34;1m'
const PLAIN = '\x1b[0m'

export function toJson(value: JqValue, writing: Writing = COMPACT): string {
  const parts: string[] = []
  if (writing.colours) writeColoured(value, { parts, writing, depth: 0 })
  else write(value, { parts, writing, depth: 0 })
  return parts.join('')
}

type Output = { parts: string[]; writing: Writing; depth: number }

function write(value: JqValue, where: Output): void {
  const { parts, writing, depth } = where
  const list = isArray(value) ? value : null
  const object = list === null && isObject(value) ? value : null
  if (depth > MAX_DEPTH) {
    parts.push('<stripped: exceeds max depth>')
    return
  }
  if (list === null && object === null) {
    parts.push(scalar(value, writing))
    return
  }
  if ((list?.length ?? object?.size) === 0) {
    parts.push(list ? '[]' : '{}')
    return
  }
  const inner = { parts, writing, depth: depth + 1 }
  parts.push(list ? '[' : '{')
  let comma = ''
  const next = () => {
    parts.push(comma, newline(writing, depth + 1))
    comma = ','
  }
  for (const item of list ?? []) {
    next()
    write(item, inner)
  }
  for (const key of object ? keysOf(object, writing) : []) {
    next()
    parts.push(textJson(key, writing.escapes), writing.indent === '' ? ':' : ': ')
    write(object?.get(key) ?? null, inner)
  }
  parts.push(newline(writing, depth), list ? ']' : '}')
}

/** With terminal colors; their positions are jq's own. */
function writeColoured(value: JqValue, { parts, writing, depth }: Output): void {
  const start = `\x1b[${colourOf(value)}m`
  const list = isArray(value) ? value : null
  const object = list === null && isObject(value) ? value : null
  if (list === null && object === null) {
    parts.push(start, scalar(value, writing), PLAIN)
    return
  }
  if ((list?.length ?? object?.size) === 0) {
    parts.push(start, list ? '[]' : '{}', PLAIN)
    return
  }
  const inner = { parts, writing, depth: depth + 1 }
  parts.push(start, list ? '[' : '{')
  let comma = ''
  for (const item of list ?? []) {
    parts.push(comma, newline(writing, depth + 1))
    writeColoured(item, inner)
    comma = `${start},`
  }
  for (const key of object ? keysOf(object, writing) : []) {
    parts.push(comma, newline(writing, depth + 1), PLAIN, KEY_COLOUR, textJson(key, writing.escapes), PLAIN)
    parts.push(start, writing.indent === '' ? ':' : ': ', PLAIN)
    writeColoured(object?.get(key) ?? null, inner)
    comma = `${start},`
  }
  // An object resets its last value's color twice.
  parts.push(start, newline(writing, depth), start, list ? ']' : '}', PLAIN)
}

function colourOf(value: JqValue): string {
  if (value === null) return START.null
  if (typeof value === 'boolean') return START.true
  if (isArray(value)) return START.array
  return isObject(value) ? START.object : typeof value === 'number' ? START.number : START.string
}

const keysOf = (object: ReadonlyMap<string, JqValue>, { sortsKeys }: Writing): Iterable<string> =>
  sortsKeys ? sortedKeys(object) : object.keys()

const newline = ({ indent }: Writing, depth: number): string => (indent === '' ? '' : `\n${indent.repeat(depth)}`)

function scalar(value: JqValue, { escapes }: Writing): string {
  if (typeof value === 'string') return textJson(value, escapes)
  return typeof value === 'number' ? numberText(value) : String(value)
}

const ASCII_ONLY = /[\u0080-\uffff]/g

function textJson(text: string, escapes: boolean): string {
  // `JSON.stringify` differs in one character.
  const json = JSON.stringify(text.isWellFormed() ? text : text.toWellFormed()).replaceAll('\x7f', '\\u007f')
  return escapes ? json.replace(ASCII_ONLY, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`) : json
}

/** The shortest digits of this number; in plain form with at most 15 additional zeros, otherwise with an exponent. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return 'null'
  if (Object.is(value, -0)) return '-0'
  const finite = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))
  if (Number.isInteger(finite) && Math.abs(finite) < 1e15) return String(finite)
  const [mantissa = '', exponent = '0'] = Math.abs(finite).toExponential().split('e')
  const digits = mantissa.replace('.', '')
  const point = Number(exponent) + 1
  const sign = finite < 0 ? '-' : ''
  if (point <= -4 || point > digits.length + 15) {
    const shown = Math.abs(point - 1)
      .toString()
      .padStart(2, '0')
    return `${sign}${mantissa}e${point - 1 < 0 ? '-' : '+'}${shown}`
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

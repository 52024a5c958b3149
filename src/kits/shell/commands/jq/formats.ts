// `@csv` and similar: values as text for other programs.

import { textToBytes } from '../../../../workspace/text-encodings.ts'
import { toJson } from './json-write.ts'
import { JqError, valueLabel } from './operators.ts'
import { isArray, isObject, type JqValue } from './value.ts'

type Format = (value: JqValue) => string

const FORMATS: Readonly<Record<string, Format>> = {
  '@text': asText,
  '@json': (value) => toJson(value),
  '@csv': (value) => row(value, 'csv', (text) => `"${text.replaceAll('"', '""')}"`, ','),
  '@tsv': (value) => row(value, 'tsv', (text) => text.replace(/[\\\t\n\r]/g, (char) => TSV[char] ?? char), '\t'),
  '@html': (value) => asText(value).replace(/[<>&'"]/g, (char) => HTML[char] ?? char),
  '@uri': (value) => encodeURIComponent(asText(value).toWellFormed()),
  '@sh': (value) => (isArray(value) ? value : [value]).map(shellWord).join(' '),
  '@base64': (value) => toBase64(asText(value)),
  '@base64d': (value) => fromBase64(asText(value)),
}
const TSV: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const HTML: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&apos;', '"': '&quot;' }

export function formatted(name: string, value: JqValue): string {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined
  if (!format) throw new JqError(`${name.slice(1)} is not a valid format`)
  return format(value)
}

export function asText(value: JqValue): string {
  return typeof value === 'string' ? value : toJson(value)
}

function row(value: JqValue, kind: string, quote: (text: string) => string, separator: string): string {
  if (!isArray(value)) throw new JqError(`${valueLabel(value)} cannot be ${kind}-formatted, only array`)
  const cells = value.map((cell) => {
    if (typeof cell === 'string') return quote(cell)
    if (isArray(cell) || isObject(cell)) throw new JqError(`${valueLabel(cell)} is not valid in a csv row`)
    return cell === null ? '' : toJson(cell)
  })
  return cells.join(separator)
}

function shellWord(value: JqValue): string {
  if (isArray(value) || isObject(value)) throw new JqError(`${valueLabel(value)} can not be escaped for shell`)
  return typeof value === 'string' ? `'${value.replaceAll("'", "'\\''")}'` : toJson(value)
}

function toBase64(text: string): string {
  let latin1 = ''
  for (const byte of new TextEncoder().encode(text)) latin1 += String.fromCharCode(byte)
  return btoa(latin1)
}

/** Invalid UTF-8 becomes the replacement character. Invalid characters are skipped. */
function fromBase64(text: string): string {
  const letters = text.replace(/=+$/, '').replace(/[^A-Za-z0-9+/]/g, '')
  const usable = letters.length % 4 === 1 ? letters.slice(0, -1) : letters
  if (usable === '' && text.replace(/=+$/, '') !== '') throw new JqError(`${valueLabel(text)} is not valid base64 data`)
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(textToBytes(usable, 'base64'))
}

// Describes text files for `file`: their encoding, their line ends, and for some their language.

import type { Kind } from './signatures.ts'

export interface Encoding {
  words: string
  charset: string
  /** The readable part of the text. */
  text: string
}

/** Longer lines are mentioned. */
const LONG_LINE = 300
/** Only this much of a file is checked. */
export const MAX_LOOKED_AT = 1024 * 1024

/** Null if it is not text. */
export function encodingOf(bytes: Uint8Array): Encoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return utf16(bytes, 'little')
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return utf16(bytes, 'big')
  let [isAscii, isLatin] = [true, true]
  for (const byte of bytes) {
    if (!isTextByte(byte)) return null
    if (byte >= 0x80) isAscii = false
    if (byte >= 0x80 && byte < 0xa0 && byte !== 0x85) isLatin = false
  }
  const latin = () => new TextDecoder('latin1').decode(bytes)
  if (isAscii) return { words: 'ASCII', charset: 'us-ascii', text: latin() }
  const text = utf8(bytes)
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  if (text !== null) return { words: `Unicode text, UTF-8${hasMark ? ' (with BOM)' : ''}`, charset: 'utf-8', text }
  if (isLatin) return { words: 'ISO-8859', charset: 'iso-8859-1', text: latin() }
  return { words: 'Non-ISO extended-ASCII', charset: 'unknown-8bit', text: latin() }
}

function isTextByte(byte: number): boolean {
  return byte >= 0x20 ? byte !== 0x7f : (byte >= 0x07 && byte <= 0x0d) || byte === 0x1b
}

/** Null for invalid bytes; an incomplete character at the end is ignored. */
function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return null
  }
}

function utf16(bytes: Uint8Array, order: 'little' | 'big'): Encoding {
  const charset = order === 'little' ? 'utf-16le' : 'utf-16be'
  let text = ''
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 2; at + 1 < bytes.length; at += 2) text += String.fromCharCode(view.getUint16(at, order === 'little'))
  return { words: `Unicode text, UTF-16, ${order}-endian`, charset, text }
}

/** `, with CRLF line terminators` and similar. */
function linesTold(text: string): string {
  const crlf = text.match(/\r\n/g)?.length ?? 0
  const cr = (text.match(/\r/g)?.length ?? 0) - crlf
  const lf = (text.match(/\n/g)?.length ?? 0) - crlf
  const longest = text.split(/\r\n|[\r\n]/).reduce((most, line) => Math.max(most, line.length), 0)
  let told = longest > LONG_LINE ? `, with very long lines (${longest})` : ''
  if (crlf + cr + lf === 0) told += ', with no line terminators'
  else if (crlf + cr > 0) {
    const ends = [...(crlf > 0 ? ['CRLF'] : []), ...(cr > 0 ? ['CR'] : []), ...(lf > 0 ? ['LF'] : [])]
    told += `, with ${ends.join(', ')} line terminators`
  }
  if (text.includes('\x1b')) told += ', with escape sequences'
  return text.includes('\b') ? `${told}, with overstriking` : told
}

export function textKind({ words, text }: Encoding): Kind {
  const json = jsonWords(text)
  if (json !== null) return { words: json, mime: 'application/json' }
  const lines = linesTold(text)
  const language = languageOf(text)
  if (!language) return { words: `${words} text${lines}`, mime: 'text/plain' }
  return { words: language.words(words, lines), mime: language.mime }
}

/** An object or a list, or one per line. */
function jsonWords(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null
  if (isJson(text)) return 'JSON text data'
  const lines = text.trim().split('\n')
  return lines.length > 1 && lines.every(isJson) ? 'New Line Delimited JSON text data' : null
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

interface Language {
  /** The description around the encoding and line ends. */
  words: (encoding: string, lines: string) => string
  mime: string
}

const script =
  (name: string): Language['words'] =>
  (encoding, lines) =>
    `${name}, ${encoding} text executable${lines}`
const source =
  (name: string): Language['words'] =>
  (encoding, lines) =>
    `${name}, ${encoding} text${lines}`

/** By the program after `#!`. */
const SCRIPTS: readonly (readonly [RegExp, Language['words'], string])[] = [
  [/^bash$/, script('Bourne-Again shell script'), 'text/x-shellscript'],
  [/^sh$/, script('POSIX shell script'), 'text/x-shellscript'],
  [/^zsh$/, script("Paul Falstad's zsh script"), 'text/x-shellscript'],
  [/^python[\d.]*$/, script('Python script'), 'text/x-script.python'],
  [/^node(js)?$/, source('Node.js script executable'), 'application/javascript'],
  [/^perl$/, () => 'Perl script text executable', 'text/x-perl'],
  [/^ruby$/, script('Ruby script'), 'text/x-ruby'],
  [/^php$/, script('PHP script'), 'text/x-php'],
  [/^[gmn]?awk$/, script('awk script'), 'text/x-awk'],
]

const LANGUAGES: readonly (readonly [RegExp, string, string])[] = [
  [/^\s*<\?xml version=["'](1\.[01])["']/, 'XML $1 document', 'text/xml'],
  [/^\s*(?:<!doctype html|<html|<head|<title|<body)/i, 'HTML document', 'text/html'],
  [/^\s*<\?php/, 'PHP script', 'text/x-php'],
  [/^diff |^--- \S+.*\n\+\+\+ /, 'diff output', 'text/x-diff'],
  [/^\s*#\s*include\s*[<"]/m, 'C source', 'text/x-c'],
]

function languageOf(text: string): Language | null {
  const head = text.slice(0, 8192)
  const named = /^#![ \t]*(\S+)(?:[ \t]+([^\n]*\S))?/.exec(head)
  if (named) {
    const [, path = '', words = ''] = named
    const isEnv = path.endsWith('/env')
    const program = (isEnv ? words : path).replace(/^.*\//, '').split(' ', 1)[0] ?? ''
    const known = SCRIPTS.find(([names]) => names.test(program))
    if (known) return { words: known[1], mime: known[2] }
    const whole = isEnv ? words : `${path}${words === '' ? '' : ` ${words}`}`
    return { words: script(`a ${whole} script`), mime: 'text/plain' }
  }
  for (const [pattern, name, mime] of LANGUAGES) {
    const found = pattern.exec(head)
    if (found) return { words: source(name.replace('$1', found[1] ?? '')), mime }
  }
  return null
}

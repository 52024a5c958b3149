// The character sets of `tr`: ranges, classes, repetitions and escapes, as a list of bytes.

import { curly, Misuse, refusal } from '../misuse.ts'

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what the class is about
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}

export interface ByteSet {
  bytes: string
  /** The positions of the classes for case conversion: these are translated letter by letter. */
  cases: { at: number; name: 'lower' | 'upper' }[]
  hasOtherClass: boolean
  /** The position of `[x*]`, which fills the set up to the length of the other one. */
  filler: { at: number; byte: string } | null
}

/** A byte of the set as it is written; an escaped one never starts a range or a class. */
interface Item {
  byte: string
  isEscaped: boolean
}

export function byteSetOf(text: string, isSecond: boolean): ByteSet {
  const items = unescaped(text)
  const set: ByteSet = { bytes: '', cases: [], hasOtherClass: false, filler: null }
  for (let at = 0; at < items.length; ) {
    const taken = bracketAt(items, at, set, isSecond) || rangeAt(items, at, set)
    if (taken === 0) set.bytes += items[at]?.byte ?? ''
    at += Math.max(1, taken)
  }
  return set
}

function unescaped(text: string): Item[] {
  const items: Item[] = []
  for (let at = 0; at < text.length; at++) {
    const byte = text.charAt(at)
    const octal = byte === '\\' ? /^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/.exec(text.slice(at + 1, at + 4))?.[0] : undefined
    if (octal !== undefined) {
      items.push({ byte: String.fromCharCode(Number.parseInt(octal, 8)), isEscaped: true })
      at += octal.length
    } else if (byte === '\\' && at + 1 < text.length) {
      const next = text.charAt(++at)
      items.push({ byte: ESCAPES[next] ?? next, isEscaped: true })
    } else items.push({ byte, isEscaped: false })
  }
  return items
}

/** The number of items of a class, an equivalence or a repetition; 0 if there is none. */
function bracketAt(items: readonly Item[], at: number, set: ByteSet, isSecond: boolean): number {
  const plain = (i: number) => (items[i]?.isEscaped === false ? (items[i]?.byte ?? '') : '')
  if (plain(at) !== '[') return 0
  const kind = plain(at + 1)
  if (kind === ':' || kind === '=') {
    let close = at + 2
    while (close < items.length && !(plain(close) === kind && plain(close + 1) === ']')) close++
    // `[:]` and `[=]` alone are three characters.
    if (close >= items.length) return 0
    const name = items
      .slice(at + 2, close)
      .map(({ byte }) => byte)
      .join('')
    if (kind === ':') addClass(name, set)
    else if (name.length === 1) set.bytes += name
    else throw refusal(`${name}: equivalence class operand must be a single character`)
    return close + 2 - at
  }
  return repetitionAt(items, at, set, isSecond)
}

function addClass(name: string, set: ByteSet): void {
  const members = CLASSES[name]
  if (members === undefined) throw refusal(`invalid character class ${curly(name)}`)
  if (name === 'lower' || name === 'upper') set.cases.push({ at: set.bytes.length, name })
  else set.hasOtherClass = true
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    if (members.test(byte)) set.bytes += byte
  }
}

function repetitionAt(items: readonly Item[], at: number, set: ByteSet, isSecond: boolean): number {
  const [repeated, star] = [items[at + 1], items[at + 2]]
  if (repeated === undefined || star?.byte !== '*' || star.isEscaped) return 0
  let close = at + 3
  let digits = ''
  while (close < items.length && /\d/.test(items[close]?.byte ?? '')) digits += items[close++]?.byte
  if (items[close]?.byte !== ']') return 0
  if (!isSecond) throw refusal('the [c*] repeat construct may not appear in string1')
  const count = digits.startsWith('0') ? Number.parseInt(digits, 8) : Number(digits || 0)
  if (count > 0) set.bytes += repeated.byte.repeat(Math.min(count, 65_536))
  else if (set.filler) throw refusal('only one [c*] repeat construct may appear in string2')
  else set.filler = { at: set.bytes.length, byte: repeated.byte }
  return close + 1 - at
}

function rangeAt(items: readonly Item[], at: number, set: ByteSet): number {
  const [first, dash, last] = [items[at], items[at + 1], items[at + 2]]
  if (first === undefined || last === undefined || dash?.byte !== '-' || dash.isEscaped) return 0
  const [from, to] = [first.byte.charCodeAt(0), last.byte.charCodeAt(0)]
  if (from > to) {
    throw new Misuse(`range-endpoints of '${first.byte}-${last.byte}' are in reverse collating sequence order`, {
      showsHint: false,
    })
  }
  for (let code = from; code <= to; code++) set.bytes += String.fromCharCode(code)
  return 3
}

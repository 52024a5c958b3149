// What a program for `sed` runs, reads and writes.

import type { Bench } from '../bench.ts'
import { isSecretFile } from '../paths.ts'

const ADDRESS = /(?:[\d\uE000\uE001]+|\$|\/(?:[^/\\]|\\.)*\/[IM]*|\\(.)(?:(?!\1)[\s\S])*\1[IM]*)(?:~\d+)?/y
const BLANK = /[\s;{}]*/y

type SedOptions = { readonly inPlace: boolean; readonly quiet: boolean }
type Cursor = { at: number; readonly text: string }

export function judgeSed(text: string, how: SedOptions, bench: Bench): void {
  const place: Cursor = { at: 0, text }
  let prints = false
  for (skip(place, BLANK); place.at < text.length; skip(place, BLANK)) {
    bench.findings.spend()
    const address = addressAt(place)
    const command = text[place.at++] ?? ''
    if (command === '{' || command === '}' || command === '') continue
    if ('pPwWlr='.includes(command)) prints = true
    if (/[dQ]/.test(command) && takesAll(address) && how.inPlace) bench.meet('empties-file')
    if (!commandAt(command, place, bench)) {
      bench.meet('unknown-code')
      return
    }
  }
  if (how.inPlace && how.quiet && !prints && !/p/.test(text)) bench.meet('empties-file')
}

/** No address, or one that every line meets. */
const takesAll = (address: string) =>
  /^(1,\$|0?,?|\$!.*|\/\/|\/\^\/|\/\$\/|\/\^?\.[*+]?\$?\/|\/\^?\.\*\$?\/)$/.test(address)

function addressAt(place: Cursor): string {
  const from = place.at
  for (let count = 0; count < 2; count++) {
    skip(place, ADDRESS)
    skip(place, /\s*/y)
    if (count === 0 && place.text[place.at] === ',') {
      place.at++
      skip(place, /\s*[+~]?/y)
    } else break
  }
  const address = place.text.slice(from, place.at).replace(/\s/g, '')
  skip(place, /[!\s]*/y)
  return place.text.slice(from, place.at).includes('!') ? `${address}!` : address
}

function skip(place: Cursor, pattern: RegExp): string {
  pattern.lastIndex = place.at
  const found = pattern.exec(place.text)?.[0] ?? ''
  place.at += found.length
  return found
}

const LINE = /[^\n]*/y

/** False for what is no command of sed's. */
function commandAt(command: string, place: Cursor, bench: Bench): boolean {
  switch (command) {
    case 's':
      return substitution(place, bench)
    case 'y':
      return delimited(place, 2)
    case 'e': {
      const run = skip(place, LINE).trim()
      if (run === '') bench.meet('runs-made-text')
      else bench.script(run, { kind: 'inherited' })
      return true
    }
    case 'w':
    case 'W':
      bench.write(skip(place, LINE).trim())
      return true
    case 'r':
    case 'R':
      if (isSecretFile(skip(place, LINE).trim())) bench.meet('secret-file')
      return true
    case 'a':
    case 'i':
    case 'c':
      skip(place, /(?:[^\n\\]|\\[\s\S])*/y)
      return true
    case '#':
      skip(place, LINE)
      return true
    case ':':
    case 'b':
    case 't':
    case 'T':
    case 'v':
      skip(place, /[^\n;}]*/y)
      return true
    default:
      skip(place, /[ \t\d]*/y)
      return 'dDgGhHlnNpPqQxFz='.includes(command)
  }
}

function substitution(place: Cursor, bench: Bench): boolean {
  if (!delimited(place, 2)) return false
  const flags = skip(place, /[gpiIMm0-9e\uE000\uE001]*/y)
  if (flags.includes('e')) bench.meet('runs-made-text')
  if (place.text[place.at] === 'w') {
    place.at++
    bench.write(skip(place, LINE).trim())
  }
  return true
}

/** Goes behind the given number of parts that the next character ends. */
function delimited(place: Cursor, parts: number): boolean {
  const end = place.text[place.at++]
  if (end === undefined || end === '\n' || end === '\\') return false
  for (let left = parts; left > 0; left--) {
    let inClass = false
    for (; place.at < place.text.length; place.at++) {
      const char = place.text[place.at]
      if (char === '\\') place.at++
      else if (left === parts && char === '[' && end !== '[') inClass = true
      else if (char === ']') inClass = false
      else if (char === end && !(inClass && closesClass(place))) break
    }
    if (place.at >= place.text.length) return false
    place.at++
  }
  return true
}

/** A delimiter inside `[…]` is a letter only where the bracket is closed behind it. */
const closesClass = ({ text, at }: Cursor) => /^[^\n[]*\]/.test(text.slice(at, at + 200))

// What a `sed` program runs, reads and writes.

import type { Bench } from '../bench.ts'
import { isGitInternal, isNetworkDevice, isRunByItself, isSecretFile } from '../paths.ts'
import { isSecretName } from '../variables.ts'

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

/** No address, or one that matches every line. */
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

/** False for text that is not a sed command. */
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

/** Moves behind the given number of parts that end with the next character. */
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

/** A delimiter inside `[…]` is an ordinary character only if the bracket is closed after it. */
const closesClass = ({ text, at }: Cursor) => /^[^\n[]*\]/.test(text.slice(at, at + 200))

// What an `awk` program runs and writes, and which variables it reads.

type Token = { readonly kind: 'string' | 'regex' | 'word' | 'sign'; readonly text: string }

const TOKEN = /"(?:[^"\\\n]|\\[\s\S])*"?|#[^\n]*|[A-Za-z_@]\w*|\|&|\|\||&&|>>|>=|<=|==|!=|\d[\w.]*|\S/y
const REGEX = /\/(?:[^/\\\n]|\\.)+\//y
/** After these, `/` is a division. */
const OPERAND = /^[\w)\]$"]/

export function judgeAwk(program: string, bench: Bench): void {
  const tokens = tokensOf(program)
  for (const [at, token] of tokens.entries()) {
    bench.findings.spend()
    if (token.kind === 'word') wordAt(tokens, at, bench)
    else if (token.kind === 'string') {
      stringAt(tokens, at, bench)
    } else if (token.text === '|' || token.text === '|&') pipeAt(tokens, at, bench)
    else if (token.text === '>' || token.text === '>>') writeAt(tokens, at, bench)
    else if (token.text === '<') readAt(tokens, at, bench)
  }
}

function tokensOf(program: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < program.length; ) {
    const last = tokens.at(-1)
    const isRegex =
      program[at] === '/' &&
      (last === undefined || last.kind === 'sign' ? !/^[)\]$]$/.test(last?.text ?? '') : !OPERAND.test(last.text))
    const pattern = isRegex ? REGEX : TOKEN
    pattern.lastIndex = at
    let text = pattern.exec(program)?.[0] ?? ''
    if (text === '' && isRegex) {
      TOKEN.lastIndex = at
      text = TOKEN.exec(program)?.[0] ?? ''
    } else if (isRegex) {
      tokens.push({ kind: 'regex', text })
      at += text.length
      continue
    }
    if (text === '') {
      at++
      continue
    }
    at += text.length
    if (text.startsWith('#')) continue
    if (text.startsWith('"')) tokens.push({ kind: 'string', text: unquoted(text) })
    else tokens.push({ kind: /^[A-Za-z_@]/.test(text) ? 'word' : 'sign', text })
  }
  return tokens
}

const unquoted = (text: string) =>
  text.replace(/^"|"$/g, '').replace(/\\(x[\da-f]{1,2}|[0-7]{1,3}|.)/gi, (_, spelled: string) => {
    if (/^x./i.test(spelled)) return String.fromCharCode(Number.parseInt(spelled.slice(1), 16))
    if (/^[0-7]/.test(spelled)) return String.fromCharCode(Number.parseInt(spelled, 8) & 255)
    return { n: '\n', t: '\t', r: '\r' }[spelled] ?? spelled
  })

function wordAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const text = tokens[at]?.text ?? ''
  if (text === 'system') runAt(tokens, at + 2, bench)
  else if (text.startsWith('@')) bench.meet('unknown-code')
  else if (text === 'ENVIRON') environment(tokens, at, bench)
}

/** A file name may be stored, passed on, or concatenated from adjacent texts. */
function stringAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const { text = '' } = tokens[at] ?? {}
  if (/^\/inet[46]?\//.test(text)) bench.meet('network-device')
  const next = tokens[at + 1]
  for (const name of next?.kind === 'string' ? [text, text + next.text] : [text]) {
    if (/\s/.test(name)) continue
    if (isSecretFile(name)) bench.meet('secret-file')
    if ((isGitInternal(name) || isRunByItself(name)) && tokens.some((token) => /^>>?$|^\|/.test(token.text)))
      bench.write(name)
  }
}

/** The command that begins here: a single text is known, a concatenation is not. */
function runAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const first = tokens[at]
  if (first?.kind === 'string') bench.script(first.text, { kind: 'pipe', from: { isEmpty: false, words: [] } })
  const after = tokens[at + 1]?.text ?? ';'
  if (first?.kind !== 'string' || !/^([;})>\n]|\|&?|getline|printf?|next|exit|close)$/.test(after))
    bench.meet('unknown-code')
}

/** `print … | "command"`, or `"command" | getline`. */
function pipeAt(tokens: readonly Token[], at: number, bench: Bench): void {
  if (tokens[at + 1]?.text !== 'getline') {
    runAt(tokens, at + 1, bench)
    return
  }
  const before = tokens[at - 1]
  const isAlone =
    before?.kind === 'string' && (at < 2 || /^[({;!]$|^(while|if|BEGIN|END)$/.test(tokens[at - 2]?.text ?? ''))
  if (before?.kind === 'string') bench.script(before.text, { kind: 'inherited' })
  if (!isAlone) bench.meet('unknown-code')
}

function writeAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const target = tokens[at + 1]
  if (target?.kind === 'string') bench.write(target.text)
  const [word, text] = [tokens[at - 2], tokens[at - 1]]
  if (word?.text === 'printf' && text?.kind === 'string' && text.text === '') bench.meet('empties-file')
}

function readAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const from = tokens[at + 1]
  if (from?.kind !== 'string') return
  if (isSecretFile(from.text)) bench.meet('secret-file')
  if (isNetworkDevice(from.text)) bench.meet('network-device')
}

function environment(tokens: readonly Token[], at: number, bench: Bench): void {
  if (tokens[at - 1]?.text === 'in' || tokens[at + 1]?.text !== '[') {
    bench.meet('all-variables')
    return
  }
  const name = tokens[at + 2]
  if (name?.kind !== 'string' || tokens[at + 3]?.text !== ']') bench.meet('indirect-variable')
  else if (isSecretName(name.text, bench.findings.secretNames)) bench.meet('secret-variable')
}

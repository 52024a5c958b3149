// What the words and texts of a JavaScript program say once their escapes are read.

import type { Token } from '../../../workspace/commands/javascript/lexer.ts'

const ESCAPE = /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|([0-7]{1,3})|(\r\n|[\s\S]))/gi
const PLAIN_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
  '\r\n': '',
}

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(ESCAPE, (_, long, short, hex, octal, plain) => {
        const code = long ?? short ?? hex
        if (code !== undefined) return characterOf(Number.parseInt(code, 16))
        return octal === undefined ? (PLAIN_ESCAPES[plain] ?? plain) : characterOf(Number.parseInt(octal, 8))
      })
    : text

const characterOf = (code: number) => (code <= 0x10ffff ? String.fromCodePoint(code) : '')

/** The text of a string or of a template without expressions. */
export function stringOf({ text }: Token): string {
  return unescaped(text.replace(/^['"`}]/, '').replace(/(['"`]|\$\{)$/, ''))
}

/** A word or sign as it is meant; of a text what it says. */
export function wordOf(token: Token): string {
  if (token.kind === 'string') return stringOf(token)
  return token.kind === 'word' ? unescaped(token.text) : token.text
}

const MAX_TEXTS = 400

/** The texts of a program; those that are added, and those that are joined as parts of a path, as one too. */
export function* foldedStrings(tokens: readonly Token[]): Generator<string> {
  let given = 0
  for (let at = 0; at < tokens.length && given < MAX_TEXTS; at++) {
    const first = tokens[at]
    if (first === undefined || !isText(first)) continue
    given++
    yield stringOf(first)
    yield* run(tokens, at, { sign: '+', between: '' })
    yield* run(tokens, at, { sign: ',', between: '/' })
    yield* run(tokens, at, { sign: ',', between: '' })
  }
}

const isText = ({ kind }: Token) => kind === 'string' || kind === 'template'

function* run(
  tokens: readonly Token[],
  from: number,
  { sign, between }: { sign: string; between: string },
): Generator<string> {
  // Not in the middle of a row, which has been given already.
  if (tokens[from - 1]?.text === sign && from > 1 && isText(tokens[from - 2] ?? NONE)) return
  const parts = [stringOf(tokens[from] ?? NONE)]
  for (let at = from + 1; tokens[at]?.text === sign && isText(tokens[at + 1] ?? NONE); at += 2) {
    parts.push(stringOf(tokens[at + 1] ?? NONE))
  }
  if (parts.length > 1) yield parts.join(between)
}

const NONE: Token = { kind: 'punctuator', text: '', start: 0, end: 0, onNewLine: false, depth: 0, functions: 0 }

// The tokens of an awk program.

import { AWK_ESCAPES } from '../../posix-regex/escapes.ts'
import { AwkError, mistake } from './syntax.ts'

export interface Token {
  kind: 'number' | 'string' | 'regex' | 'name' | 'function-name' | 'builtin' | 'keyword' | 'newline' | 'end' | 'sign'
  /** The source text; for a string or a regular expression, its value. */
  text: string
  line: number
}

const KEYWORDS = new Set(
  'BEGIN END function func if else while for do break continue next nextfile exit return delete in getline print printf'.split(
    ' ',
  ),
)

/** The minimum and maximum number of arguments of each. */
export const BUILTINS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ...(['sin', 'cos', 'exp', 'log', 'sqrt', 'int', 'tolower', 'toupper', 'system', 'close'] as const).map(
    (name) => [name, [1, 1]] as [string, [number, number]],
  ),
  ...(['atan2', 'index', 'match'] as const).map((name) => [name, [2, 2]] as [string, [number, number]]),
  ['length', [0, 1]],
  ['substr', [2, 3]],
  ['split', [2, 3]],
  ['sub', [2, 3]],
  ['gsub', [2, 3]],
  ['sprintf', [1, 1000]],
  ['rand', [0, 0]],
  ['srand', [0, 1]],
  ['fflush', [0, 1]],
  ['systime', [0, 0]],
  ['mktime', [1, 1]],
  ['strftime', [0, 3]],
])

const SIGNS = /\*\*=|>>|\*\*|&&|\|\||\+\+|--|\+=|-=|\*=|\/=|%=|\^=|==|<=|>=|!=|!~|[{}()[\];,+\-*/%^!<>|?:~$=&]/y
const NUMBER = /0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y
const NAME = /[A-Za-z_]\w*/y
const BLANK = /(?:[ \t\r\f\v]+|\\\r?\n|#[^\n]*)+/y

/** After these a slash is a division; elsewhere it starts a regular expression. */
function endsOperand(token: Token | undefined): boolean {
  if (token === undefined) return false
  if (token.kind === 'sign') return [')', ']', '$', '++', '--'].includes(token.text)
  return ['number', 'string', 'regex', 'name', 'builtin'].includes(token.kind)
}

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let [at, line] = [0, 1]
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [text = ''] = pattern.exec(source) ?? []
    at += text.length
    return text
  }
  for (;;) {
    line += take(BLANK).split('\n').length - 1
    const char = source[at]
    if (char === undefined)
      return [...tokens, { kind: 'newline', text: '\n', line }, { kind: 'end', text: '', line: line + 1 }]
    if (char === '\n') {
      tokens.push({ kind: 'newline', text: '\n', line: line++ })
      at++
    } else if (char === '"') {
      const { text, end } = readString(source, at + 1, line)
      tokens.push({ kind: 'string', text, line })
      line += source.slice(at, end).split('\n').length - 1
      at = end
    } else if (char === '/' && !endsOperand(tokens.at(-1))) {
      const { text, end } = readRegex(source, at + 1, line)
      tokens.push({ kind: 'regex', text, line })
      at = end
    } else {
      const number = take(NUMBER)
      const name = number === '' ? take(NAME) : ''
      const sign = number === '' && name === '' ? take(SIGNS) : ''
      if (number !== '') tokens.push({ kind: 'number', text: number, line })
      else if (name !== '') tokens.push({ kind: kindOf(name, source[at]), text: name, line })
      else if (sign !== '') tokens.push({ kind: 'sign', text: plainSign(sign), line })
      else throw new AwkError(`${line}: unexpected character '${String.fromCodePoint(source.codePointAt(at) ?? 0)}'`)
    }
  }
}

function kindOf(name: string, next: string | undefined): Token['kind'] {
  if (KEYWORDS.has(name)) return 'keyword'
  if (BUILTINS.has(name)) return 'builtin'
  return next === '(' ? 'function-name' : 'name'
}

function plainSign(sign: string): string {
  return sign === '**' ? '^' : sign === '**=' ? '^=' : sign
}

function readString(source: string, start: number, line: number): { text: string; end: number } {
  let end = start
  while (source[end] !== '"') {
    if (end >= source.length || source[end] === '\n')
      throw mistake(line, `runaway string constant "${source.slice(start, end).slice(0, 10)} ...`)
    end += source[end] === '\\' ? 2 : 1
  }
  return { text: unescapeString(source.slice(start, end)), end: end + 1 }
}

/**
 * The value of a text between quotes, of `-v` and of an assignment among the operands. Anything that is not an escape
 * is unchanged.
 */
export function unescapeString(text: string): string {
  if (!text.includes('\\')) return text
  let [value, from] = ['', 0]
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    value += text.slice(from, at)
    const next = text[at + 1]
    const found = next === '"' || next === '\\' ? { char: next, end: at + 2 } : AWK_ESCAPES.read(text, at)
    if (found) value += found.char
    else if (next === '/') value += '/'
    else if (next !== '\n') value += text.slice(at, at + 2)
    from = found?.end ?? at + 2
  }
  return value + text.slice(from)
}

/** A slash in brackets does not end it. */
function readRegex(source: string, start: number, line: number): { text: string; end: number } {
  REGEX.lastIndex = start
  const text = REGEX.exec(source)?.[0]
  if (text === undefined)
    throw mistake(line, `runaway regular expression /${source.slice(start, start + 10).split('\n')[0]} ...`)
  return { text: text.slice(0, -1), end: start + text.length }
}

/** Escapes, brackets closed on the same line, with their classes, and all other characters before the slash. */
const REGEX = /(?:\\[^\n]|\[\^?\]?(?:\[:\w+:\]|\\[^\n]|[^\]\\\n])*\]|[^/\\\n])*\//y

// Parses the terms of a jq program: the operands with their suffixes.

import type { Node, Pattern } from './ast.ts'
import { JqSyntaxError, type Token } from './lexer.ts'
import type { TokenStream } from './token-stream.ts'

const IDENTITY: Node = { kind: 'identity' }

/** A term with all its `.name`, `[…]` and `?`. */
export function parseTerm(stream: TokenStream): Node {
  let isAccess = stream.next.kind === 'field' || (stream.is('.') && stream.peek(1).kind === 'text')
  let term = parsePrimary(stream)
  for (; ; isAccess = true) {
    const { next } = stream
    if (next.kind === 'field') {
      stream.take()
      term = { kind: 'index', target: term, key: { kind: 'literal', value: next.text } }
    } else if (stream.is('.') && stream.peek(1).kind === 'text') {
      stream.take()
      term = { kind: 'index', target: term, key: parseText(stream, '') }
    } else if (stream.is('.') && isSymbol(stream.peek(1), '[')) {
      stream.take()
    } else if (stream.is('[')) term = parseSuffix(stream, term)
    else if (stream.takeIf('?')) term = isAccess ? optional(term) : { kind: 'try', body: term, handler: null }
    else return term
  }
}

function optional(term: Node): Node {
  const isFirst = (term.kind === 'index' || term.kind === 'slice' || term.kind === 'iterate') && !term.isOptional
  return isFirst ? { ...term, isOptional: true } : { kind: 'try', body: term, handler: null }
}

const isSymbol = (token: Token, text: string): boolean => token.kind === 'symbol' && token.text === text

function parseSuffix(stream: TokenStream, target: Node): Node {
  stream.expect('[')
  if (stream.takeIf(']')) return { kind: 'iterate', target }
  if (stream.takeIf(':')) {
    const to = stream.pipe()
    stream.expect(']')
    return { kind: 'slice', target, from: null, to }
  }
  const key = stream.pipe()
  if (stream.takeIf(']')) return { kind: 'index', target, key }
  stream.expect(':')
  const to = stream.is(']') ? null : stream.pipe()
  stream.expect(']')
  return { kind: 'slice', target, from: key, to }
}

function parsePrimary(stream: TokenStream): Node {
  const { next } = stream
  switch (next.kind) {
    case 'number':
      stream.take()
      return { kind: 'literal', value: next.value }
    case 'text':
      return parseText(stream, '')
    case 'format':
      stream.take()
      return stream.next.kind === 'text' ? parseText(stream, next.text) : { kind: 'format', name: next.text }
    case 'field':
      stream.take()
      return { kind: 'index', target: IDENTITY, key: { kind: 'literal', value: next.text } }
    case 'variable':
      stream.take()
      return next.text === '__loc__' ? location(next.line) : { kind: 'variable', name: next.text }
    case 'name':
      return parseCall(stream)
    case 'keyword':
      return parseKeyword(stream, next.text)
    case 'symbol':
      return parseSymbol(stream, next.text)
    case 'end':
      return stream.fail()
  }
}

function location(line: number): Node {
  const entry = (name: string, value: string | number) => ({
    key: { kind: 'literal' as const, value: name },
    value: { kind: 'literal' as const, value },
  })
  return { kind: 'object', entries: [entry('file', '<top-level>'), entry('line', line)] }
}

function parseText(stream: TokenStream, format: string): Node {
  const token = stream.take()
  if (token.kind !== 'text') return stream.fail(token)
  const parts = token.parts.map((part) => (typeof part === 'string' ? part : stream.whole(part)))
  const [only = ''] = parts
  if (parts.length === 1 && typeof only === 'string') return { kind: 'literal', value: only }
  return { kind: 'text', format, parts }
}

const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map([
  ['null', null],
  ['true', true],
  ['false', false],
])

function parseCall(stream: TokenStream): Node {
  const name = stream.word('name')
  const args: Node[] = []
  if (stream.takeIf('(')) {
    do args.push(stream.pipe())
    while (stream.takeIf(';'))
    stream.expect(')')
  }
  const constant = CONSTANTS.get(name)
  if (args.length === 0 && constant !== undefined) return { kind: 'literal', value: constant }
  if (name === 'break' && args.length === 0 && stream.next.kind === 'variable') {
    return { kind: 'break', name: stream.word('variable') }
  }
  return { kind: 'call', name, args }
}

function parseSymbol(stream: TokenStream, symbol: string): Node {
  stream.take()
  if (symbol === '.')
    return stream.next.kind === 'text' ? { kind: 'index', target: IDENTITY, key: parseText(stream, '') } : IDENTITY
  if (symbol === '..') return { kind: 'recurse' }
  if (symbol === '-') return { kind: 'negate', body: parseTerm(stream) }
  if (symbol === '(') {
    const inner = stream.pipe()
    stream.expect(')')
    return inner
  }
  if (symbol === '[') {
    if (stream.takeIf(']')) return { kind: 'list', body: null }
    const body = stream.pipe()
    stream.expect(']')
    return { kind: 'list', body }
  }
  if (symbol === '{') return parseObject(stream)
  throw new JqSyntaxError(`syntax error, unexpected ${symbol.length === 1 ? `'${symbol}'` : symbol}`)
}

function parseObject(stream: TokenStream): Node {
  const entries: { key: Node; value: Node }[] = []
  while (!stream.is('}')) {
    if (entries.length > 0) stream.expect(',')
    entries.push(parseEntry(stream))
  }
  stream.expect('}')
  return { kind: 'object', entries }
}

function parseEntry(stream: TokenStream): { key: Node; value: Node } {
  const { next } = stream
  if (next.kind === 'variable') {
    stream.take()
    if (next.text === '__loc__') stream.fail(next)
    return { key: { kind: 'literal', value: next.text }, value: { kind: 'variable', name: next.text } }
  }
  const key = parseKey(stream)
  if (stream.takeIf(':')) return { key, value: parseEntryValue(stream) }
  if (isSymbol(next, '(')) stream.fail()
  return { key, value: { kind: 'index', target: IDENTITY, key } }
}

function parseKey(stream: TokenStream): Node {
  const { next } = stream
  if (next.kind === 'text') return parseText(stream, '')
  stream.take()
  if (next.kind === 'format') return parseText(stream, next.text)
  if (next.kind === 'name' || next.kind === 'keyword') return { kind: 'literal', value: next.text }
  if (next.kind === 'number') return { kind: 'literal', value: next.value }
  if (!isSymbol(next, '(')) return stream.fail(next)
  const key = stream.pipe()
  stream.expect(')')
  return key
}

/** Terms, and terms joined by `|`: other operators need parentheses. */
function parseEntryValue(stream: TokenStream): Node {
  const left: Node = stream.takeIf('-') ? { kind: 'negate', body: parseTerm(stream) } : parseTerm(stream)
  return stream.takeIf('|') ? { kind: 'pipe', left, right: parseEntryValue(stream) } : left
}

function parseKeyword(stream: TokenStream, word: string): Node {
  if (word === 'import' || word === 'include') throw new JqSyntaxError(`${word} is not available here`)
  stream.take()
  if (word === 'if') return parseIf(stream)
  if (word === 'try') {
    const body = parseTerm(stream)
    return { kind: 'try', body, handler: stream.takeIf('catch') ? parseTerm(stream) : null }
  }
  if (word === 'reduce' || word === 'foreach') return parseFold(stream, word)
  if (word === 'def' || word === 'label') return stream.fail()
  return stream.fail({ kind: 'keyword', text: word, line: stream.next.line })
}

function parseIf(stream: TokenStream): Node {
  const condition = stream.pipe()
  stream.expect('then')
  const yes = stream.pipe()
  if (stream.takeIf('elif')) return { kind: 'if', condition, yes, no: parseIf(stream) }
  stream.expect('else')
  const no = stream.pipe()
  stream.expect('end')
  return { kind: 'if', condition, yes, no }
}

function parseFold(stream: TokenStream, kind: 'reduce' | 'foreach'): Node {
  const source = parseTerm(stream)
  stream.expect('as')
  const pattern = parsePattern(stream)
  stream.expect('(')
  const start = stream.pipe()
  stream.expect(';')
  const update = stream.pipe()
  const extract = kind === 'foreach' && stream.takeIf(';') ? stream.pipe() : null
  stream.expect(')')
  return kind === 'reduce'
    ? { kind, source, pattern, start, update }
    : { kind, source, pattern, start, update, extract }
}

/** One, or several separated by `?//`, of which the first that matches is used. */
export function parsePatterns(stream: TokenStream): Pattern[] {
  const found = [parsePattern(stream)]
  while (stream.takeIf('?//')) found.push(parsePattern(stream))
  return found
}

function parsePattern(stream: TokenStream): Pattern {
  if (stream.peek(0).kind === 'variable') return { kind: 'name', name: stream.word('variable') }
  if (stream.takeIf('[')) {
    const items: Pattern[] = []
    do items.push(parsePattern(stream))
    while (stream.takeIf(','))
    stream.expect(']')
    return { kind: 'items', items }
  }
  stream.expect('{')
  const entries: Extract<Pattern, { kind: 'entries' }>['entries'] = []
  do {
    const variable = stream.peek(0).kind === 'variable' ? stream.word('variable') : null
    const key: Node = variable === null ? parseKey(stream) : { kind: 'literal', value: variable }
    const value = stream.takeIf(':') ? parsePattern(stream) : null
    if (value === null && variable === null) stream.fail()
    entries.push({ key, variable, value })
  } while (stream.takeIf(','))
  stream.expect('}')
  return { kind: 'entries', entries }
}

// Parses the tokens of a jq program. The precedences are those of jq 1.6's grammar.

import type { Definition, Node } from './ast.ts'
import { tokensOf } from './lexer.ts'
import { parsePatterns, parseTerm } from './parse-term.ts'
import { TokenStream } from './token-stream.ts'

/** From lowest to highest precedence, above `|` and `,`. */
const LEVELS: readonly { operators: readonly string[]; side: 'left' | 'right' | 'none' }[] = [
  { operators: ['//'], side: 'right' },
  { operators: ['=', '|=', '+=', '-=', '*=', '/=', '%=', '//='], side: 'none' },
  { operators: ['or'], side: 'left' },
  { operators: ['and'], side: 'left' },
  { operators: ['==', '!=', '<', '<=', '>', '>='], side: 'none' },
  { operators: ['+', '-'], side: 'left' },
  { operators: ['*', '/', '%'], side: 'left' },
]

export function parseProgram(text: string): Node {
  const stream = new TokenStream(tokensOf(text), parsePipe)
  if (stream.isAtEnd) return { kind: 'identity' }
  const program = endsAfterDefinitions(stream) ?? parsePipe(stream)
  if (!stream.isAtEnd) stream.fail()
  return program
}

/** A program with only definitions returns its input. */
function endsAfterDefinitions(stream: TokenStream): Node | null {
  const definitions: Definition[] = []
  while (stream.is('def')) definitions.push(parseDefinition(stream))
  if (definitions.length === 0) return null
  const body: Node = stream.isAtEnd ? { kind: 'identity' } : parsePipe(stream)
  return definitions.reduceRight<Node>((inner, definition) => ({ kind: 'define', definition, body: inner }), body)
}

/** Only definitions, like in the prelude. */
export function parseDefinitions(text: string): Definition[] {
  const stream = new TokenStream(tokensOf(text), parsePipe)
  const found: Definition[] = []
  while (!stream.isAtEnd) found.push(parseDefinition(stream))
  return found
}

function parsePipe(stream: TokenStream): Node {
  if (stream.is('def')) {
    const definition = parseDefinition(stream)
    return { kind: 'define', definition, body: parsePipe(stream) }
  }
  if (stream.is('label')) {
    stream.take()
    const name = stream.word('variable')
    stream.expect('|')
    return { kind: 'label', name, body: parsePipe(stream) }
  }
  const left = parseComma(stream)
  return stream.takeIf('|') ? { kind: 'pipe', left, right: parsePipe(stream) } : left
}

function parseComma(stream: TokenStream): Node {
  let left = parseBinary(stream, 0)
  while (stream.takeIf(',')) left = { kind: 'comma', left, right: parseBinary(stream, 0) }
  return left
}

function parseBinary(stream: TokenStream, level: number): Node {
  const rule = LEVELS[level]
  if (!rule) return parseUnary(stream)
  let left = parseBinary(stream, level + 1)
  for (;;) {
    const { next } = stream
    const operator = next.kind === 'symbol' || next.kind === 'keyword' ? next.text : ''
    if (!rule.operators.includes(operator)) return left
    stream.take()
    const right = parseBinary(stream, rule.side === 'right' ? level : level + 1)
    left = joined(operator, left, right)
    if (rule.side === 'none') return left
  }
}

function joined(operator: string, left: Node, right: Node): Node {
  if (operator === 'and' || operator === 'or') return { kind: operator, left, right }
  if (operator === '//') return { kind: 'alternative', left, right }
  return { kind: operator.endsWith('=') && !COMPARING.has(operator) ? 'update' : 'binary', operator, left, right }
}

const COMPARING = new Set(['==', '!=', '<=', '>='])

function parseUnary(stream: TokenStream): Node {
  if (stream.takeIf('-')) return { kind: 'negate', body: parseUnary(stream) }
  const term = parseTerm(stream)
  if (!stream.takeIf('as')) return term
  const patterns = parsePatterns(stream)
  stream.expect('|')
  return { kind: 'bind', source: term, patterns, body: parsePipe(stream) }
}

function parseDefinition(stream: TokenStream): Definition {
  stream.expect('def')
  const token = stream.take()
  if (token.kind !== 'name' && token.kind !== 'keyword') stream.fail(token)
  const params: Definition['params'] = []
  if (stream.takeIf('(')) {
    do {
      const isValue = stream.next.kind === 'variable'
      params.push({ name: stream.word(isValue ? 'variable' : 'name'), isValue })
    } while (stream.takeIf(';'))
    stream.expect(')')
  }
  stream.expect(':')
  const body = parsePipe(stream)
  stream.expect(';')
  return { name: token.kind === 'name' || token.kind === 'keyword' ? token.text : '', params, body }
}

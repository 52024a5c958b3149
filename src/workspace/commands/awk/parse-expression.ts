// Expressions of awk, each kind above those that bind more tightly.

import { BUILTINS, type Token, tokensOf } from './lexer.ts'
import { type AwkError, type Binary, type Expression, mistake, type Target } from './syntax.ts'

const COMPARISONS = new Set(['<', '<=', '==', '!=', '>', '>='])
const ASSIGNMENTS: Readonly<Record<string, Binary | null>> = {
  '=': null,
  '+=': '+',
  '-=': '-',
  '*=': '*',
  '/=': '/',
  '%=': '%',
  '^=': '^',
}
/** Depth of brackets in each other, which is the depth of the calls here. */
const MAX_DEPTH = 400

export class ExpressionParser {
  readonly #tokens: Token[]
  #at = 0
  #depth = 0
  /** `>` redirects in `print`, and `in` belongs to `for` in its head. */
  #noGreater = false
  #noIn = false

  constructor(source: string) {
    this.#tokens = tokensOf(source)
  }

  get token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', line: 1 }
  }

  ahead(count: number): Token | undefined {
    return this.#tokens[this.#at + count]
  }

  advance(): Token {
    const { token } = this
    this.#at++
    return token
  }

  is(text: string): boolean {
    const { kind } = this.token
    return this.token.text === text && (kind === 'sign' || kind === 'keyword' || kind === 'newline')
  }

  take(text: string): boolean {
    if (!this.is(text)) return false
    this.#at++
    return true
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.unexpected()
  }

  skipNewlines(): void {
    while (this.token.kind === 'newline') this.#at++
  }

  unexpected(): AwkError {
    const { kind, line, text } = this.token
    if (kind === 'end') return mistake(line, 'missing } near end of file')
    if (kind === 'newline')
      return mistake(this.ahead(1)?.kind === 'end' ? line + 1 : line, 'syntax error at or near end of line')
    if (text === ')' || text === '}' || text === ']') return mistake(line, `extra '${text}'`)
    return mistake(line, `syntax error at or near ${kind === 'regex' ? `/${text}/` : text}`)
  }

  /** An expression in which `>` is what follows it. */
  printed(): Expression {
    return this.#within({ noGreater: true }, () => this.expression())
  }

  /** The head of a `for`, as far as it may turn out to be `name in array`. */
  withoutIn(): Expression {
    return this.#within({ noIn: true }, () => this.expression())
  }

  /** Where a redirection leads: no operator but concatenation belongs to it. */
  destination(): Expression {
    return this.#within({ noGreater: true }, () => this.#concatenation())
  }

  expressions(end: string): Expression[] {
    const found: Expression[] = []
    if (this.is(end)) return found
    do {
      this.skipNewlines()
      found.push(this.expression())
      this.skipNewlines()
    } while (this.take(','))
    return found
  }

  expression(): Expression {
    if (++this.#depth > MAX_DEPTH) throw mistake(this.token.line, 'expression is nested too deeply')
    const left = this.#choice()
    const operator = this.token.kind === 'sign' ? ASSIGNMENTS[this.token.text] : undefined
    this.#depth--
    if (operator === undefined) return left
    // `!x = y` and `1 + x = y` assign to the last operand, as their grammar has no other reading.
    const target = asTarget(left)
    if (!target) throw this.unexpected()
    this.advance()
    this.skipNewlines()
    return { kind: 'assign', operator, target, value: this.expression() }
  }

  #choice(): Expression {
    const condition = this.#either()
    if (!this.take('?')) return condition
    this.skipNewlines()
    const yes = this.expression()
    this.skipNewlines()
    this.expect(':')
    this.skipNewlines()
    return { kind: 'choice', condition, yes, no: this.expression() }
  }

  #either(): Expression {
    let left = this.#both()
    while (this.take('||')) {
      this.skipNewlines()
      left = { kind: 'either', left, right: this.#assigning(this.#both()) }
    }
    return left
  }

  #both(): Expression {
    let left = this.#membership()
    while (this.take('&&')) {
      this.skipNewlines()
      left = { kind: 'both', left, right: this.#assigning(this.#membership()) }
    }
    return left
  }

  /** `a && b = c`: the assignment belongs to the last operand. */
  #assigning(operand: Expression): Expression {
    const operator = this.token.kind === 'sign' ? ASSIGNMENTS[this.token.text] : undefined
    const target = operator === undefined ? null : asTarget(operand)
    if (operator === undefined || !target) return operand
    this.advance()
    this.skipNewlines()
    return { kind: 'assign', operator, target, value: this.expression() }
  }

  #membership(): Expression {
    let left = this.#match()
    while (!this.#noIn && this.is('in')) {
      const { line } = this.advance()
      const index = left.kind === 'list' ? left.items : [left]
      left = { kind: 'in', index, array: this.name(), line }
    }
    return left
  }

  name(): string {
    if (this.token.kind !== 'name') throw this.unexpected()
    return this.advance().text
  }

  #match(): Expression {
    let left = this.#comparison()
    while (this.is('~') || this.is('!~')) {
      const isNegated = this.advance().text === '!~'
      left = { kind: 'match', isNegated, left, right: this.#comparison() }
    }
    return left
  }

  #comparison(): Expression {
    const left = this.#piped()
    const { kind, text } = this.token
    if (kind !== 'sign' || !COMPARISONS.has(text) || (text === '>' && this.#noGreater)) return left
    this.advance()
    return { kind: 'binary', operator: text as Binary, left, right: this.#assigning(this.#piped()) }
  }

  #piped(): Expression {
    let left = this.#concatenation()
    while (this.is('|') && this.ahead(1)?.text === 'getline' && this.ahead(1)?.kind === 'keyword') {
      this.advance()
      this.advance()
      left = { kind: 'getline', source: 'command', from: left, target: this.#optionalTarget() }
    }
    return left
  }

  #concatenation(): Expression {
    let left = this.#sum()
    while (this.#beginsOperand()) left = { kind: 'binary', operator: 'concat', left, right: this.#sum() }
    return left
  }

  #beginsOperand(): boolean {
    const { kind, text } = this.token
    if (kind === 'keyword') return text === 'getline' && !this.#noIn
    if (kind === 'sign') return ['$', '!', '(', '-', '+', '++', '--'].includes(text) && text !== '+' && text !== '-'
    return ['number', 'string', 'regex', 'name', 'function-name', 'builtin'].includes(kind)
  }

  #sum(): Expression {
    let left = this.#product()
    while (this.is('+') || this.is('-')) {
      const operator = this.advance().text as Binary
      left = { kind: 'binary', operator, left, right: this.#product() }
    }
    return left
  }

  #product(): Expression {
    let left = this.#unary()
    while (this.is('*') || this.is('/') || this.is('%')) {
      const operator = this.advance().text as Binary
      left = { kind: 'binary', operator, left, right: this.#unary() }
    }
    return left
  }

  #unary(): Expression {
    if (!this.is('!') && !this.is('-') && !this.is('+')) return this.#power()
    if (++this.#depth > MAX_DEPTH) throw mistake(this.token.line, 'expression is nested too deeply')
    const operator = this.advance().text as '!' | '-' | '+'
    const of = this.#unary()
    this.#depth--
    return { kind: 'unary', operator, of: operator === '!' ? this.#assigning(of) : of }
  }

  #power(): Expression {
    const left = this.#stepped()
    if (!this.take('^')) return left
    const right = this.is('-') || this.is('+') || this.is('!') ? this.#unary() : this.#power()
    return { kind: 'binary', operator: '^', left, right }
  }

  #stepped(): Expression {
    if (this.is('++') || this.is('--')) {
      const by = this.advance().text === '++' ? 1 : -1
      const target = asTarget(this.#primary())
      if (!target) throw this.unexpected()
      return { kind: 'step', target, by, isPrefix: true }
    }
    const operand = this.#primary()
    const target = asTarget(operand)
    if (!target || !(this.is('++') || this.is('--'))) return operand
    return { kind: 'step', target, by: this.advance().text === '++' ? 1 : -1, isPrefix: false }
  }

  #primary(): Expression {
    const { kind, text, line } = this.token
    if (kind === 'number') return { kind, value: Number(this.advance().text) }
    if (kind === 'string') return { kind, value: this.advance().text }
    if (kind === 'regex') return { kind, source: this.advance().text }
    if (kind === 'builtin') return this.#builtin()
    if (kind === 'function-name') {
      this.advance()
      return { kind: 'call', name: text, args: this.#arguments(), line }
    }
    if (kind === 'name') return this.#variable()
    if (this.take('$')) return { kind: 'field', of: this.#fieldNumber() }
    if (this.is('(')) return this.#grouped()
    if (this.is('getline')) return this.#getline()
    throw this.unexpected()
  }

  /** `$i++` counts the field, `$++i` the variable. */
  #fieldNumber(): Expression {
    if (this.is('++') || this.is('--')) return this.#stepped()
    if (this.is('-') || this.is('+') || this.is('!')) {
      const operator = this.advance().text as '!' | '-' | '+'
      return { kind: 'unary', operator, of: this.#fieldNumber() }
    }
    return this.#primary()
  }

  #variable(): Expression {
    const { text: name, line } = this.advance()
    if (!this.take('[')) return { kind: 'name', name, line }
    const index = this.#within({}, () => this.expressions(']'))
    if (index.length === 0) throw this.unexpected()
    this.expect(']')
    return { kind: 'element', array: name, index, line }
  }

  #arguments(): Expression[] {
    this.expect('(')
    const args = this.#within({}, () => this.expressions(')'))
    this.expect(')')
    return args
  }

  #builtin(): Expression {
    const { text: name, line } = this.advance()
    if (!this.is('(')) {
      if (name !== 'length') throw this.unexpected()
      return { kind: 'builtin', name, args: [], line }
    }
    const args = this.#arguments()
    const [least, most] = BUILTINS.get(name) ?? [0, 0]
    if (args.length < least || args.length > most) throw mistake(line, `wrong number of arguments in call to ${name}`)
    return { kind: 'builtin', name, args, line }
  }

  #grouped(): Expression {
    this.expect('(')
    const items = this.#within({}, () => this.expressions(')'))
    this.expect(')')
    const [only] = items
    if (!only) throw this.unexpected()
    if (items.length > 1) return { kind: 'list', items }
    // A target in brackets is still one: `($1)++`. Anything else must not be taken apart by what follows.
    return only
  }

  #getline(): Expression {
    this.advance()
    const target = this.#optionalTarget()
    if (!this.take('<')) return { kind: 'getline', source: 'input', from: null, target }
    return { kind: 'getline', source: 'file', from: this.#stepped(), target }
  }

  #optionalTarget(): Target | null {
    if (this.token.kind !== 'name' && !this.is('$')) return null
    return asTarget(this.#primary())
  }

  #within<Result>(flags: { noGreater?: boolean; noIn?: boolean }, parse: () => Result): Result {
    const before = [this.#noGreater, this.#noIn] as const
    this.#noGreater = flags.noGreater ?? false
    this.#noIn = flags.noIn ?? false
    const result = parse()
    ;[this.#noGreater, this.#noIn] = before
    return result
  }
}

function asTarget(expression: Expression): Target | null {
  const { kind } = expression
  return kind === 'name' || kind === 'element' || kind === 'field' ? expression : null
}

// Parses expressions of awk, from the lowest to the highest precedence.

import { asTarget, OperandParser } from './parse-operand.ts'
import { type Binary, type Expression, mistake } from './syntax.ts'

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
/** The depth of nested brackets, which is the depth of calls here. */
const MAX_DEPTH = 400

export class ExpressionParser extends OperandParser {
  #depth = 0

  /** An expression before a `>` that is a redirection. */
  printed(): Expression {
    return this.within({ noGreater: true }, () => this.expression())
  }

  /** The head of a `for`, which may be `name in array`. */
  withoutIn(): Expression {
    return this.within({ noIn: true }, () => this.expression())
  }

  /** The target of a redirection: it contains no operator except concatenation. */
  destination(): Expression {
    return this.within({ noGreater: true }, () => this.#concatenation())
  }

  expression(): Expression {
    if (++this.#depth > MAX_DEPTH) throw mistake(this.token.line, 'expression is nested too deeply')
    const left = this.#choice()
    const operator = this.token.kind === 'sign' ? ASSIGNMENTS[this.token.text] : undefined
    this.#depth--
    if (operator === undefined) return left
    // `!x = y` and `1 + x = y` assign to the last operand, because the grammar allows no other reading.
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
    while (!this.noIn && this.is('in')) {
      const { line } = this.advance()
      const index = left.kind === 'list' ? left.items : [left]
      left = { kind: 'in', index, array: this.name(), line }
    }
    return left
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
    if (kind !== 'sign' || !COMPARISONS.has(text) || (text === '>' && this.noGreater)) return left
    this.advance()
    return { kind: 'binary', operator: text as Binary, left, right: this.#assigning(this.#piped()) }
  }

  #piped(): Expression {
    let left = this.#concatenation()
    while (this.is('|') && this.ahead(1)?.text === 'getline' && this.ahead(1)?.kind === 'keyword') {
      this.advance()
      this.advance()
      left = { kind: 'getline', source: 'command', from: left, target: this.optionalTarget() }
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
    if (kind === 'keyword') return text === 'getline' && !this.noIn
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
    const left = this.stepped()
    if (!this.take('^')) return left
    const right = this.is('-') || this.is('+') || this.is('!') ? this.#unary() : this.#power()
    return { kind: 'binary', operator: '^', left, right }
  }
}

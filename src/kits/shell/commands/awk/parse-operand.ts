// Parses the operands of an awk expression.

import { BUILTINS } from './lexer.ts'
import { type Expression, mistake, type Target } from './syntax.ts'
import { TokenReader } from './token-reader.ts'

export abstract class OperandParser extends TokenReader {
  /** `>` is a redirection in `print`, and `in` belongs to the head of a `for`. */
  protected noGreater = false
  protected noIn = false

  abstract expression(): Expression

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

  protected stepped(): Expression {
    if (this.is('++') || this.is('--')) {
      const by = this.advance().text === '++' ? 1 : -1
      const target = asTarget(this.primary())
      if (!target) throw this.unexpected()
      return { kind: 'step', target, by, isPrefix: true }
    }
    const operand = this.primary()
    const target = asTarget(operand)
    if (!target || !(this.is('++') || this.is('--'))) return operand
    return { kind: 'step', target, by: this.advance().text === '++' ? 1 : -1, isPrefix: false }
  }

  protected primary(): Expression {
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

  /** `$i++` increments the field, `$++i` the variable. */
  #fieldNumber(): Expression {
    if (this.is('++') || this.is('--')) return this.stepped()
    if (this.is('-') || this.is('+') || this.is('!')) {
      const operator = this.advance().text as '!' | '-' | '+'
      return { kind: 'unary', operator, of: this.#fieldNumber() }
    }
    return this.primary()
  }

  #variable(): Expression {
    const { text: name, line } = this.advance()
    if (!this.take('[')) return { kind: 'name', name, line }
    const index = this.within({}, () => this.expressions(']'))
    if (index.length === 0) throw this.unexpected()
    this.expect(']')
    return { kind: 'element', array: name, index, line }
  }

  #arguments(): Expression[] {
    this.expect('(')
    const args = this.within({}, () => this.expressions(')'))
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
    const items = this.within({}, () => this.expressions(')'))
    this.expect(')')
    const [only] = items
    if (!only) throw this.unexpected()
    if (items.length > 1) return { kind: 'list', items }
    // A target in brackets is still a target: `($1)++`. Anything else must not be split by the following text.
    return only
  }

  #getline(): Expression {
    this.advance()
    const target = this.optionalTarget()
    if (!this.take('<')) return { kind: 'getline', source: 'input', from: null, target }
    return { kind: 'getline', source: 'file', from: this.stepped(), target }
  }

  protected optionalTarget(): Target | null {
    if (this.token.kind !== 'name' && !this.is('$')) return null
    return asTarget(this.primary())
  }

  protected within<Result>(flags: { noGreater?: boolean; noIn?: boolean }, parse: () => Result): Result {
    const before = [this.noGreater, this.noIn] as const
    this.noGreater = flags.noGreater ?? false
    this.noIn = flags.noIn ?? false
    const result = parse()
    ;[this.noGreater, this.noIn] = before
    return result
  }
}

export function asTarget(expression: Expression): Target | null {
  const { kind } = expression
  return kind === 'name' || kind === 'element' || kind === 'field' ? expression : null
}

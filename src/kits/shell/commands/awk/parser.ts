// Parses rules, functions and statements of an awk program.

import { ExpressionParser } from './parse-expression.ts'
import {
  type Expression,
  type FunctionDefinition,
  mistake,
  type Program,
  type Redirection,
  type Rule,
  type Statement,
} from './syntax.ts'

/** Throws `AwkError` for an invalid program. */
export function parseProgram(source: string): Program {
  return new Parser(source).program()
}

class Parser extends ExpressionParser {
  #loops = 0
  #isInFunction = false
  #isInRule = false

  program(): Program {
    const program: Program = { rules: [], functions: new Map(), lastLine: 1 }
    for (;;) {
      while (this.token.kind === 'newline' || this.is(';')) this.advance()
      if (this.token.kind === 'end') return { ...program, lastLine: this.token.line }
      if (this.is('function') || this.is('func')) {
        const definition = this.#function()
        if (program.functions.has(definition.name))
          throw mistake(definition.line, `function ${definition.name} previously defined`)
        program.functions.set(definition.name, definition)
      } else program.rules.push(this.#rule())
    }
  }

  #function(): FunctionDefinition {
    this.advance()
    const { kind, text: name, line } = this.token
    if (kind !== 'name' && kind !== 'function-name') throw this.unexpected()
    this.advance()
    this.expect('(')
    const parameters: string[] = []
    while (!this.is(')')) {
      this.skipNewlines()
      parameters.push(this.name())
      this.skipNewlines()
      if (!this.take(',')) break
    }
    this.expect(')')
    this.skipNewlines()
    this.#isInFunction = true
    const body = this.#block()
    this.#isInFunction = false
    return { name, parameters, body, line }
  }

  #rule(): Rule {
    if (this.is('BEGIN') || this.is('END')) {
      const kind = this.advance().text === 'BEGIN' ? 'begin' : 'end'
      this.skipNewlines()
      return { when: { kind }, body: this.#block() }
    }
    const when = this.is('{') ? { kind: 'always' as const } : this.#pattern()
    this.#isInRule = true
    const body = this.is('{') ? this.#block() : null
    this.#isInRule = false
    return { when, body }
  }

  #pattern(): Rule['when'] {
    const pattern = this.expression()
    if (!this.take(',')) return { kind: 'pattern', pattern }
    this.skipNewlines()
    return { kind: 'range', from: pattern, to: this.expression() }
  }

  #block(): Statement {
    if (!this.is('{')) throw this.unexpected()
    this.advance()
    const body: Statement[] = []
    for (;;) {
      while (this.token.kind === 'newline' || this.is(';')) this.advance()
      if (this.take('}')) return { kind: 'block', body }
      body.push(this.#statement())
    }
  }

  /** Including its end. */
  #statement(): Statement {
    if (this.is('{')) return this.#block()
    if (this.take('if')) return this.#if()
    if (this.take('while')) return this.#while()
    if (this.take('do')) return this.#do()
    if (this.take('for')) return this.#for()
    if (this.take(';')) return { kind: 'block', body: [] }
    const statement = this.#simple()
    this.#endStatement()
    return statement
  }

  #endStatement(): void {
    if (this.token.kind === 'newline' || this.is(';')) this.advance()
    else if (!this.is('}')) throw this.unexpected()
  }

  /** The statement after a head in brackets; a single `;` is an empty statement. */
  #body(): Statement {
    this.skipNewlines()
    return this.#statement()
  }

  #loopBody(): Statement {
    this.#loops++
    const body = this.#body()
    this.#loops--
    return body
  }

  #condition(): Expression {
    this.expect('(')
    const condition = this.expression()
    this.expect(')')
    return condition
  }

  #if(): Statement {
    const condition = this.#condition()
    const yes = this.#body()
    // An `else` may be on a later line, also after a `;`.
    let count = 0
    while (this.ahead(count)?.kind === 'newline' || this.ahead(count)?.text === ';') count++
    const next = this.ahead(count)
    if (next?.kind !== 'keyword' || next.text !== 'else') return { kind: 'if', condition, yes, no: null }
    for (let i = 0; i <= count; i++) this.advance()
    return { kind: 'if', condition, yes, no: this.#body() }
  }

  #while(): Statement {
    const condition = this.#condition()
    if (this.take(';')) return { kind: 'while', condition, body: { kind: 'block', body: [] } }
    return { kind: 'while', condition, body: this.#loopBody() }
  }

  #do(): Statement {
    const body = this.#loopBody()
    while (this.token.kind === 'newline' || this.is(';')) this.advance()
    this.expect('while')
    const condition = this.#condition()
    this.#endStatement()
    return { kind: 'do', body, condition }
  }

  #for(): Statement {
    this.expect('(')
    const { line } = this.token
    const [name, word, array, close] = [this.token, this.ahead(1), this.ahead(2), this.ahead(3)]
    if (name.kind === 'name' && word?.text === 'in' && word.kind === 'keyword' && array && close?.text === ')') {
      for (let i = 0; i < 4; i++) this.advance()
      const target = { kind: 'name' as const, name: name.text, line }
      return { kind: 'for-in', target, array: array.text, body: this.#loopBody(), line }
    }
    const start = this.is(';') ? null : this.#simple()
    this.expect(';')
    this.skipNewlines()
    const condition = this.is(';') ? null : this.expression()
    this.expect(';')
    this.skipNewlines()
    const each = this.is(')') ? null : this.#simple()
    this.expect(')')
    if (this.take(';')) return { kind: 'for', start, condition, each, body: { kind: 'block', body: [] } }
    return { kind: 'for', start, condition, each, body: this.#loopBody() }
  }

  #simple(): Statement {
    const { kind, text, line } = this.token
    if (kind !== 'keyword' || text === 'getline') return { kind: 'expression', value: this.expression() }
    this.advance()
    switch (text) {
      case 'print':
      case 'printf':
        return this.#print(text)
      case 'delete':
        return this.#delete(line)
      case 'break':
      case 'continue':
        if (this.#loops === 0) throw mistake(line, `${text} statement outside of loop`)
        return { kind: text }
      case 'next':
      case 'nextfile':
        if (!this.#isInRule) throw mistake(line, `improper use of ${text}`)
        return { kind: text }
      case 'return':
        if (!this.#isInFunction) throw mistake(line, 'return outside function body')
        return { kind: text, value: this.#optionalValue() }
      case 'exit':
        return { kind: text, value: this.#optionalValue() }
      default:
        throw mistake(line, `syntax error at or near ${text}`)
    }
  }

  #optionalValue(): Expression | null {
    return this.token.kind === 'newline' || this.is(';') || this.is('}') ? null : this.expression()
  }

  #delete(line: number): Statement {
    const array = this.name()
    if (!this.take('[')) return { kind: 'delete', array, index: null, line }
    const index = this.expressions(']')
    this.expect(']')
    return { kind: 'delete', array, index, line }
  }

  #print(kind: 'print' | 'printf'): Statement {
    const args: Expression[] = []
    while (!this.#endsPrint()) {
      args.push(this.printed())
      if (!this.take(',')) break
      this.skipNewlines()
    }
    // `print (a, b) > "file"`: the brackets contain the arguments.
    const [first] = args
    const flat = args.length === 1 && first?.kind === 'list' ? first.items : args
    if (kind === 'printf' && flat.length === 0) throw this.unexpected()
    return { kind, args: flat, redirection: this.#redirection() }
  }

  #endsPrint(): boolean {
    return this.token.kind === 'newline' || [';', '}', '>', '>>', '|'].some((text) => this.is(text))
  }

  #redirection(): Redirection | null {
    for (const to of ['>', '>>', '|'] as const) if (this.take(to)) return { to, name: this.destination() }
    return null
  }
}

// Finds the names of a program that are arrays. A name is an array if it is used as one, or passed to a parameter used
// as one; a parameter may be an array in one program and a value in another.

import { type Expression, mistake, type Program, type Statement } from './syntax.ts'
import { bodiesOf, contentsOf, partsOf } from './walk.ts'

export interface Names {
  /** By the key of the name. */
  isArray(key: string): boolean
  keyOf(owner: string | null, name: string): string
}

type Use = { key: string; line: number; name: string }
type Link = { given: Use; parameter: string; position: number; function: string }

/** Throws `AwkError` for a name with contradictory uses, and for undefined functions. */
export function resolveNames(program: Program): Names {
  const resolver = new Resolver(program)
  for (const { owner, body } of bodiesOf(program)) resolver.visit(body, owner)
  return resolver.names()
}

class Resolver {
  readonly #program: Program
  readonly #arrays = new Map<string, Use>()
  readonly #values: Use[] = []
  readonly #links: Link[] = []

  constructor(program: Program) {
    this.#program = program
  }

  names(): Names {
    const { functions } = this.#program
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      for (const { given, parameter } of this.#links) {
        const [first, second] = [this.#arrays.has(given.key), this.#arrays.has(parameter)]
        if (first === second) continue
        this.#arrays.set(first ? parameter : given.key, given)
        isChanged = true
      }
    }
    for (const { key, line, name } of this.#values) {
      const link = this.#links.find(({ given }) => given.key === key && this.#arrays.get(key) === given)
      if (link) throw mistake(link.given.line, `type error in arg(${link.position + 1}) in call to ${link.function}`)
      if (this.#arrays.has(key)) throw mistake(line, `illegal reference to array ${name}`)
      if (functions.has(name) && !key.includes(' ')) throw mistake(line, `syntax error at or near ${name}`)
    }
    return { isArray: (key) => this.#arrays.has(key), keyOf: this.#keyOf }
  }

  visit(statement: Statement, owner: string | null): void {
    if (statement.kind === 'for-in' || statement.kind === 'delete') this.#array(statement.array, owner, statement.line)
    const { statements, expressions } = contentsOf(statement)
    for (const inner of statements) this.visit(inner, owner)
    for (const expression of expressions) this.#expression(expression, owner)
  }

  #expression(expression: Expression, owner: string | null): void {
    const { kind } = expression
    if (kind === 'name') this.#values.push(this.#use(expression.name, owner, expression.line))
    if (kind === 'element' || kind === 'in') this.#array(expression.array, owner, expression.line)
    if (kind === 'call') this.#call(expression, owner)
    else if (kind === 'builtin') this.#builtin(expression, owner)
    else for (const part of partsOf(expression)) this.#expression(part, owner)
  }

  #builtin({ name, args, line }: Extract<Expression, { kind: 'builtin' }>, owner: string | null): void {
    args.forEach((arg, position) => {
      if (name === 'split' && position === 1) {
        if (arg.kind !== 'name') throw mistake(line, `type error in arg(2) in call to split`)
        this.#array(arg.name, owner, arg.line)
      } else if (name !== 'length' || arg.kind !== 'name') this.#expression(arg, owner)
    })
  }

  #call({ name, args, line }: Extract<Expression, { kind: 'call' }>, owner: string | null): void {
    const called = this.#program.functions.get(name)
    if (!called) throw mistake(this.#program.lastLine, `function ${name} never defined`)
    if (args.length > called.parameters.length) throw mistake(line, `too many arguments in call to ${name}`)
    args.forEach((arg, position) => {
      if (arg.kind !== 'name') {
        this.#expression(arg, owner)
        return
      }
      const parameter = this.#keyOf(name, called.parameters[position] ?? '')
      this.#links.push({ given: this.#use(arg.name, owner, line), parameter, position, function: name })
    })
  }

  #array(name: string, owner: string | null, line: number): void {
    const use = this.#use(name, owner, line)
    this.#arrays.set(use.key, use)
  }

  #use(name: string, owner: string | null, line: number): Use {
    return { key: this.#keyOf(owner, name), line, name }
  }

  /** A name with a blank in it belongs to a function. */
  readonly #keyOf = (owner: string | null, name: string): string => {
    const isLocal = owner !== null && this.#program.functions.get(owner)?.parameters.includes(name)
    return isLocal ? `${owner} ${name}` : name
  }
}

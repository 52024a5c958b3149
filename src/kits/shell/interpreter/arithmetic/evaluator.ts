// Evaluates an expression. Like in bash, it is evaluated while it is parsed: effects before an error have happened when
// the error is found, and the value of a variable is an expression itself.

import { plainNumber } from './constants.ts'
import type { Int } from './int64.ts'
import * as int64 from './int64.ts'
import { OPERATIONS, POWER_LEVEL, truth } from './operations.ts'
import type { VariableRef, Variables } from './places.ts'
import { ArithmeticError, Scanner, type Target } from './scanner.ts'

/** The maximum nesting of values and parentheses. */
const MOST_VALUES = 1024
const MOST_PARENTHESES = 1000

const IS_SUBSTITUTION = /\$\(|`/

/** Throws an `ArithmeticError`, or errors of the variables. */
export function evaluate(text: string, variables: Variables): Int {
  const plain = plainNumber(text)
  if (plain !== null) return plain
  try {
    return new Evaluator(text, variables, 0).run()
  } catch (error) {
    // The shell's own depth may leave less stack than the limits above need.
    if (!(error instanceof RangeError)) throw error
    throw new ArithmeticError(`${text.trim()}: expression recursion level exceeded`)
  }
}

/** The variable or element of `name` or `name[subscript]`. */
function placeOf({ name, subscript }: Target, variables: Variables, depth = 0): VariableRef {
  if (subscript === null) return { name, key: null }
  if (IS_SUBSTITUTION.test(subscript)) variables.refuseSubstitution()
  const isMap = variables.isMap(name)
  if (isMap && !subscript.includes('$')) return { name, key: unquoted(subscript) }
  const text = subscript.replace(/(\\.)|[^\\]+/gs, (part, escaped) => (escaped ? part : variables.expandNames(part)))
  if (isMap) return { name, key: unquoted(text) }
  if (text.trim() === '') throw new ArithmeticError(`${name}[${subscript}]: bad array subscript`)
  const index = new Evaluator(text.replace(/\\(.)/gs, '$1'), variables, depth + 1).run()
  const found = index < 0 ? variables.fromEnd(name, index) : index
  if (found === null) throw new ArithmeticError(`${name}[${subscript}]: bad array subscript`)
  return { name, key: String(found) }
}

const unquoted = (key: string): string => key.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, '$1$2$3')

class Evaluator {
  readonly #scanner: Scanner
  readonly #variables: Variables
  readonly #depth: number
  #parentheses = 0
  /** The nesting depth of parts that are parsed but not evaluated. */
  #skipping = 0
  /** Of the last name, if it was read. */
  #place: VariableRef | null = null

  constructor(text: string, variables: Variables, depth: number) {
    this.#scanner = new Scanner(text)
    this.#variables = variables
    this.#depth = depth
  }

  run(): Int {
    const scanner = this.#scanner
    if (scanner.at >= scanner.text.length) return 0
    if (IS_SUBSTITUTION.test(scanner.text)) this.#variables.refuseSubstitution()
    this.#next()
    const value = this.#list()
    if (scanner.token !== 'end') scanner.fail('syntax error in expression')
    return value
  }

  /** A name is read at once, unless it is about to be assigned. */
  #next(): void {
    const scanner = this.#scanner
    const isIncremented = scanner.token === '++x' || scanner.token === '--x'
    scanner.next()
    if (scanner.token !== 'name') return
    this.#place = null
    if (isIncremented || !scanner.isAssigned()) scanner.value = this.#valueOf(scanner.target)
    else scanner.value = 0
  }

  #list(): Int {
    let value = this.#assignment()
    while (this.#scanner.token === ',') {
      this.#next()
      value = this.#assignment()
    }
    return value
  }

  #assignment(): Int {
    const scanner = this.#scanner
    const before = this.#conditional()
    if (scanner.token !== '=' && scanner.token !== 'assign') return before
    const operator = scanner.token === 'assign' ? scanner.operator : null
    if (scanner.last !== 'name') scanner.fail('attempted assignment to non-variable')
    const { target } = scanner
    const place = this.#place
    this.#next()
    this.#enter()
    let value = this.#assignment()
    this.#parentheses--
    if (operator !== null) {
      if ((operator === '/' || operator === '%') && value === 0) {
        if (this.#skipping === 0) scanner.fail('division by 0')
        value = 1
      }
      value = OPERATIONS[operator]?.apply(before, value) ?? value
    }
    this.#write(target, place, value)
    return value
  }

  #conditional(): Int {
    const scanner = this.#scanner
    const condition = this.#binary(1)
    if (scanner.token !== '?') return condition
    this.#enter()
    const first = this.#branch(condition === 0, () => {
      if (['end', ':'].includes(scanner.token)) scanner.fail('expression expected')
      return this.#list()
    })
    if (!this.#isAt(':')) scanner.fail("`:' expected for conditional expression")
    const second = this.#branch(condition !== 0, () => {
      if (scanner.token === 'end') scanner.fail('expression expected')
      return this.#conditional()
    })
    this.#parentheses--
    scanner.last = '?'
    return condition === 0 ? second : first
  }

  #isAt(token: string): boolean {
    return this.#scanner.token === token
  }

  #branch(isSkipped: boolean, read: () => Int): Int {
    if (isSkipped) this.#skipping++
    this.#next()
    const value = read()
    if (isSkipped) this.#skipping--
    return value
  }

  #binary(level: number): Int {
    const scanner = this.#scanner
    let left = this.#unary()
    for (;;) {
      const operator = scanner.token
      const operation = OPERATIONS[operator]
      if (operation === undefined || operation.level < level) return left
      const isSkipped = (operator === '||' && left !== 0) || (operator === '&&' && left === 0)
      if (isSkipped) this.#skipping++
      const operand = scanner.at
      this.#next()
      const right = this.#operand(operation.level)
      if (isSkipped) this.#skipping--
      left = this.#applied(operator, left, { right, operand })
      scanner.last = 'number'
    }
  }

  /** Only powers are right-associative. */
  #operand(level: number): Int {
    if (level !== POWER_LEVEL) return this.#binary(level + 1)
    this.#enter()
    const value = this.#binary(level)
    this.#parentheses--
    return value
  }

  #applied(operator: string, left: Int, { right, operand }: { right: Int; operand: number }): Int {
    const scanner = this.#scanner
    let value = right
    if ((operator === '/' || operator === '%') && right === 0) {
      if (this.#skipping === 0) {
        scanner.start = scanner.afterBlanks(operand)
        scanner.fail('division by 0')
      }
      value = 1
    }
    if (operator === '**' && right < 0) scanner.fail('exponent less than 0')
    return OPERATIONS[operator]?.apply(left, value) ?? 0
  }

  #unary(): Int {
    const scanner = this.#scanner
    const operator = scanner.token
    if (operator !== '!' && operator !== '~' && operator !== '-' && operator !== '+') return this.#primary()
    this.#next()
    this.#enter()
    const value = this.#unary()
    this.#parentheses--
    scanner.last = 'number'
    if (operator === '!') return truth(value === 0)
    if (operator === '~') return int64.complement(value)
    return operator === '-' ? int64.subtract(0, value) : value
  }

  #primary(): Int {
    const scanner = this.#scanner
    switch (scanner.token) {
      case '++x':
      case '--x':
        return this.#incremented(scanner.token)
      case '(':
        return this.#group()
      case 'number': {
        const { value } = scanner
        this.#next()
        return value
      }
      case 'name':
        return this.#name()
      default:
        return scanner.fail('syntax error: operand expected')
    }
  }

  #incremented(token: '++x' | '--x'): Int {
    const scanner = this.#scanner
    scanner.last = token
    this.#next()
    if (scanner.token !== 'name') scanner.fail('identifier expected after pre-increment or pre-decrement')
    const value = int64.add(scanner.value, token === '++x' ? 1 : -1)
    this.#write(scanner.target, this.#place, value)
    scanner.token = 'number'
    this.#next()
    return value
  }

  #group(): Int {
    const scanner = this.#scanner
    this.#next()
    this.#enter()
    const value = this.#list()
    this.#parentheses--
    if (scanner.token !== ')') scanner.fail("missing `)'")
    this.#next()
    return value
  }

  #name(): Int {
    const scanner = this.#scanner
    const { value, target } = scanner
    const place = this.#place
    const increment = scanner.takeIncrement()
    if (increment === null) {
      // The name is still the target if `=` follows.
      this.#next()
      return value
    }
    this.#write(target, place, int64.add(value, increment === '++' ? 1 : -1))
    scanner.last = 'name'
    scanner.token = 'number'
    this.#next()
    return value
  }

  #enter(): void {
    this.#parentheses++
    if (this.#parentheses > MOST_PARENTHESES) this.#scanner.fail('expression recursion level exceeded')
  }

  #valueOf(target: Target): Int {
    if (this.#skipping > 0) return 0
    const place = placeOf(target, this.#variables, this.#depth)
    this.#place = place
    const text = this.#variables.read(place)
    if (text === undefined) this.#variables.refuseUnset(target.name)
    if (text === undefined || text === '') return 0
    const plain = plainNumber(text)
    if (plain !== null) return plain
    if (this.#depth >= MOST_VALUES) this.#scanner.fail('expression recursion level exceeded')
    return new Evaluator(text, this.#variables, this.#depth + 1).run()
  }

  #write(target: Target, known: VariableRef | null, value: Int): void {
    if (this.#skipping > 0) return
    this.#variables.write(known ?? placeOf(target, this.#variables, this.#depth), String(value))
  }
}

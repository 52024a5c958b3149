// Runs programs for `bc`.

import type { Pause } from '../call.ts'
import { Memory } from './memory.ts'
import {
  add,
  type Decimal,
  integer,
  integerOf,
  lengthOf,
  numberText,
  RuntimeError,
  root,
  truth,
  ZERO,
} from './number.ts'
import type { Assignable, Definition, Expression, Statement } from './syntax.ts'

/** How a statement ended. */
type Outcome = 'done' | 'break' | 'continue' | 'return' | 'halt'

const MAX_DEPTH = 400
const TERMS_PER_PAUSE = 1000
const PRINT_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  q: '"',
  r: '\r',
  t: '\t',
  '\\': '\\',
}

export class Machine {
  readonly #write: (text: string) => void
  readonly #pause: Pause
  readonly #functions = new Map<string, Definition>()
  readonly #memory = new Memory()
  #returned = ZERO
  #depth = 0

  constructor(write: (text: string) => void, pause: Pause) {
    this.#write = write
    this.#pause = pause
  }

  /** False if the program has ended itself. */
  async run(statements: readonly Statement[]): Promise<boolean> {
    this.#depth = 0
    return (await this.#all(statements)) !== 'halt'
  }

  async #all(statements: readonly Statement[]): Promise<Outcome> {
    for (const statement of statements) {
      const outcome = await this.#one(statement)
      if (outcome !== 'done') return outcome
    }
    return 'done'
  }

  async #one(statement: Statement): Promise<Outcome> {
    switch (statement.kind) {
      case 'expression':
        await this.#show(statement.expression, statement.isShown)
        return 'done'
      case 'string':
        this.#write(statement.text)
        return 'done'
      case 'print':
        await this.#print(statement.items)
        return 'done'
      case 'block':
        return this.#all(statement.body)
      case 'if': {
        const branch = (await this.#value(statement.test)).digits !== 0n ? statement.then : statement.otherwise
        return branch ? this.#one(branch) : 'done'
      }
      case 'loop':
        return this.#loop(statement)
      case 'return':
        this.#returned = statement.value ? await this.#value(statement.value) : ZERO
        return 'return'
      case 'define':
        this.#functions.set(statement.name, statement.definition)
        return 'done'
      case 'nothing':
        return 'done'
      default:
        return statement.kind
    }
  }

  async #show(expression: Expression, isShown: boolean): Promise<void> {
    const value = await this.#value(expression)
    if (!isShown) return
    this.#memory.last = value
    this.#write(`${numberText(value, this.#memory.outBase)}\n`)
  }

  async #print(items: readonly (Expression | string)[]): Promise<void> {
    for (const item of items) {
      if (typeof item === 'string')
        this.#write(item.replace(/\\([abfnqrt\\])/g, (_, letter: string) => PRINT_ESCAPES[letter] ?? ''))
      else {
        this.#memory.last = await this.#value(item)
        this.#write(numberText(this.#memory.last, this.#memory.outBase))
      }
    }
  }

  async #loop({ start, test, step, body }: Statement & { kind: 'loop' }): Promise<Outcome> {
    if (start) await this.#value(start)
    while (!test || (await this.#value(test)).digits !== 0n) {
      const pause = this.#pause()
      if (pause) await pause
      const outcome = await this.#one(body)
      if (outcome === 'break') break
      if (outcome === 'return' || outcome === 'halt') return outcome
      if (step) await this.#value(step)
    }
    return 'done'
  }

  async #value(expression: Expression): Promise<Decimal> {
    switch (expression.kind) {
      case 'number':
        return this.#memory.number(expression.text)
      case 'variable':
      case 'element':
      case 'special':
        return this.#memory.read(expression, await this.#indexOf(expression))
      case 'call':
        return this.#call(expression)
      case 'negate': {
        const { digits, scale } = await this.#value(expression.operand)
        return { digits: -digits, scale }
      }
      case 'not':
        return truth((await this.#value(expression.operand)).digits === 0n)
      case 'binary':
        return this.#binary(expression)
      case 'assign': {
        const index = await this.#indexOf(expression.place)
        const value = await this.#value(expression.value)
        const operator = expression.operator.slice(0, -1)
        const result =
          operator === '' ? value : this.#memory.applied(operator, this.#memory.read(expression.place, index), value)
        return this.#memory.store(expression.place, index, result)
      }
      case 'step': {
        const index = await this.#indexOf(expression.place)
        const before = this.#memory.read(expression.place, index)
        const after = this.#memory.store(expression.place, index, add(before, integer(expression.by)))
        return expression.isPrefix ? after : before
      }
    }
  }

  /** A sum of many terms is a left-leaning tree: its depth must not use the stack. */
  async #binary(expression: Expression & { kind: 'binary' }): Promise<Decimal> {
    const steps = [expression]
    let first = expression.left
    for (; first.kind === 'binary'; first = first.left) steps.push(first)
    let value = await this.#value(first)
    for (let i = steps.length - 1; i >= 0; i--) {
      const { operator, right } = steps[i] ?? expression
      const pause = i % TERMS_PER_PAUSE === 0 ? this.#pause() : null
      if (pause) await pause
      value = this.#memory.applied(
        operator,
        value,
        right.kind === 'number' ? this.#memory.number(right.text) : await this.#value(right),
      )
    }
    return value
  }

  async #indexOf(place: Assignable): Promise<number> {
    if (place.kind !== 'element') return 0
    const index = integerOf(await this.#value(place.index))
    if (index < 0 || index > 16_777_215) throw new RuntimeError(`Array ${place.name} subscript out of bounds.`)
    return index
  }

  async #call({ name, args }: Expression & { kind: 'call' }): Promise<Decimal> {
    const own = this.#functions.get(name)
    if (own) return this.#callOwn(own, args, name)
    const [first, extra] = args
    if (!['sqrt', 'length', 'scale'].includes(name)) throw new RuntimeError(`Function ${name} not defined.`)
    if (!first || first.kind === 'array' || extra) throw new RuntimeError('Parameter number mismatch')
    const value = await this.#value(first)
    if (name === 'sqrt') return root(value, this.#memory.scale)
    return integer(name === 'length' ? lengthOf(value) : value.scale)
  }

  async #callOwn(
    definition: Definition,
    args: (Expression & { kind: 'call' })['args'],
    name: string,
  ): Promise<Decimal> {
    const { parameters, locals, body } = definition
    if (args.length !== parameters.length) throw new RuntimeError('Parameter number mismatch')
    if (++this.#depth > MAX_DEPTH) throw new RuntimeError(`Function ${name} calls itself more than ${MAX_DEPTH} times`)
    const pause = this.#pause()
    if (pause) await pause
    const variables = new Map<string, Decimal>()
    const arrays = new Map<string, Map<number, Decimal>>()
    for (const [i, { name: parameter, isArray }] of parameters.entries()) {
      const arg = args[i]
      if (!arg || isArray !== (arg.kind === 'array')) throw new RuntimeError('Parameter type mismatch')
      if (arg.kind === 'array') arrays.set(parameter, this.#memory.copyOf(arg.name))
      else variables.set(parameter, await this.#value(arg))
    }
    const restore = this.#memory.enter([...parameters, ...locals], { variables, arrays })
    try {
      const outcome = await this.#all(body)
      return outcome === 'return' ? this.#returned : ZERO
    } finally {
      restore()
      this.#depth--
    }
  }
}

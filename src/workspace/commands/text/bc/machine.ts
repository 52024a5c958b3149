// Runs programs for `bc`.

import type { Pause } from '../call.ts'
import {
  add,
  compare,
  type Decimal,
  divide,
  integerOf,
  lengthOf,
  multiply,
  parseNumber,
  power,
  RuntimeError,
  remainder,
  root,
  shown,
  truth,
  whole,
  ZERO,
} from './number.ts'
import type { Definition, Expression, Local, Place, Statement } from './parser.ts'

/** How a statement ended. */
type Outcome = 'done' | 'break' | 'continue' | 'return' | 'halt'

const MAX_SCALE = 10_000
const MAX_BASE = 999
const MAX_DEPTH = 400
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
  #variables = new Map<string, Decimal>()
  #arrays = new Map<string, Map<number, Decimal>>()
  #scale = 0
  #inBase = 10
  #outBase = 10
  #last = ZERO
  #returned = ZERO
  #depth = 0

  constructor(write: (text: string) => void, pause: Pause) {
    this.#write = write
    this.#pause = pause
  }

  /** False when the program says that it has ended. */
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
    this.#last = value
    this.#write(`${shown(value, this.#outBase)}\n`)
  }

  async #print(items: readonly (Expression | string)[]): Promise<void> {
    for (const item of items) {
      if (typeof item === 'string')
        this.#write(item.replace(/\\([abfnqrt\\])/g, (_, letter: string) => PRINT_ESCAPES[letter] ?? ''))
      else {
        this.#last = await this.#value(item)
        this.#write(shown(this.#last, this.#outBase))
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
        return parseNumber(expression.text, this.#inBase)
      case 'variable':
      case 'element':
      case 'special':
        return this.#read(expression, await this.#indexOf(expression))
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
        const result = operator === '' ? value : this.#applied(operator, this.#read(expression.place, index), value)
        return this.#store(expression.place, index, result)
      }
      case 'step': {
        const index = await this.#indexOf(expression.place)
        const before = this.#read(expression.place, index)
        const after = this.#store(expression.place, index, add(before, whole(expression.by)))
        return expression.isPrefix ? after : before
      }
    }
  }

  async #binary({ operator, left, right }: Expression & { kind: 'binary' }): Promise<Decimal> {
    const a = await this.#value(left)
    return this.#applied(operator, a, await this.#value(right))
  }

  #applied(operator: string, a: Decimal, b: Decimal): Decimal {
    switch (operator) {
      case '+':
        return add(a, b)
      case '-':
        return add(a, b, -1n)
      case '*':
        return multiply(a, b, this.#scale)
      case '/':
        return divide(a, b, this.#scale)
      case '%':
        return remainder(a, b, this.#scale)
      case '^':
        return power(a, b, this.#scale)
      case '&&':
        return truth(a.digits !== 0n && b.digits !== 0n)
      case '||':
        return truth(a.digits !== 0n || b.digits !== 0n)
      default:
        return truth(holds(operator, compare(a, b)))
    }
  }

  async #indexOf(place: Place): Promise<number> {
    if (place.kind !== 'element') return 0
    const index = integerOf(await this.#value(place.index))
    if (index < 0 || index > 16_777_215) throw new RuntimeError(`Array ${place.name} subscript out of bounds.`)
    return index
  }

  #read(place: Place, index: number): Decimal {
    if (place.kind === 'variable') return this.#variables.get(place.name) ?? ZERO
    if (place.kind === 'element') return this.#arrays.get(place.name)?.get(index) ?? ZERO
    if (place.name === 'scale') return whole(this.#scale)
    if (place.name === 'ibase') return whole(this.#inBase)
    return place.name === 'obase' ? whole(this.#outBase) : this.#last
  }

  #store(place: Place, index: number, value: Decimal): Decimal {
    if (place.kind === 'variable') this.#variables.set(place.name, value)
    else if (place.kind === 'element') {
      const array = this.#arrays.get(place.name) ?? new Map<number, Decimal>()
      this.#arrays.set(place.name, array.set(index, value))
    } else if (place.name === 'last') this.#last = value
    else this.#setSpecial(place.name, integerOf(value))
    return value
  }

  #setSpecial(name: string, value: number): void {
    if (name === 'scale') this.#scale = Math.max(0, Math.min(MAX_SCALE, value))
    else if (name === 'ibase') this.#inBase = Math.max(2, Math.min(16, value))
    else this.#outBase = Math.max(2, Math.min(MAX_BASE, value))
  }

  async #call({ name, args }: Expression & { kind: 'call' }): Promise<Decimal> {
    const own = this.#functions.get(name)
    if (own) return this.#callOwn(own, args, name)
    const [first, extra] = args
    if (!['sqrt', 'length', 'scale'].includes(name)) throw new RuntimeError(`Function ${name} not defined.`)
    if (!first || first.kind === 'array' || extra) throw new RuntimeError('Parameter number mismatch')
    const value = await this.#value(first)
    if (name === 'sqrt') return root(value, this.#scale)
    return whole(name === 'length' ? lengthOf(value) : value.scale)
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
      if (arg.kind === 'array') arrays.set(parameter, new Map(this.#arrays.get(arg.name)))
      else variables.set(parameter, await this.#value(arg))
    }
    const restore = this.#hide([...parameters, ...locals])
    for (const [local, value] of variables) this.#variables.set(local, value)
    for (const [local, array] of arrays) this.#arrays.set(local, array)
    try {
      const outcome = await this.#all(body)
      return outcome === 'return' ? this.#returned : ZERO
    } finally {
      restore()
      this.#depth--
    }
  }

  /** Names belong to the caller again when the function has ended. */
  #hide(locals: readonly Local[]): () => void {
    const variables = locals
      .filter(({ isArray }) => !isArray)
      .map(({ name }) => [name, this.#variables.get(name)] as const)
    const arrays = locals.filter(({ isArray }) => isArray).map(({ name }) => [name, this.#arrays.get(name)] as const)
    for (const [name] of variables) this.#variables.delete(name)
    for (const [name] of arrays) this.#arrays.delete(name)
    return () => {
      for (const [name, value] of variables) value ? this.#variables.set(name, value) : this.#variables.delete(name)
      for (const [name, array] of arrays) array ? this.#arrays.set(name, array) : this.#arrays.delete(name)
    }
  }
}

function holds(operator: string, compared: number): boolean {
  switch (operator) {
    case '<':
      return compared < 0
    case '<=':
      return compared <= 0
    case '>':
      return compared > 0
    case '>=':
      return compared >= 0
    case '!=':
      return compared !== 0
    default:
      return compared === 0
  }
}

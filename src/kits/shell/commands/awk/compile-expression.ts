// Compiles expressions to functions. Asynchronous parts of an expression (calls, input, commands) become preceding
// steps that store the value in a slot; the rest is one synchronous function.

import { type Builtin, builtinOf } from './builtins.ts'
import { elementOf, OperandCompiler } from './compile-operands.ts'
import { getlineStep } from './getline.ts'
import type { Evaluate, Label, Machine, Routine } from './machine.ts'
import { operationOf } from './operations.ts'
import type { Names } from './resolve.ts'
import { AwkError, type Expression, mistake, type Target } from './syntax.ts'
import { isTrue, toNumber, type Value } from './values.ts'
import { waits } from './walk.ts'

interface CompilerParts {
  machine: Machine
  names: Names
  routines: ReadonlyMap<string, Routine>
}

function constant(value: number | string): Evaluate {
  return () => value
}

export class ExpressionCompiler extends OperandCompiler {
  readonly #routines: ReadonlyMap<string, Routine>

  constructor({ machine, names, routines }: CompilerParts) {
    super(machine, names)
    this.#routines = routines
  }

  expression(node: Expression): Evaluate {
    switch (node.kind) {
      case 'number':
      case 'string':
        return constant(node.value)
      case 'regex':
        return this.#matchRecord(node.source)
      case 'name':
      case 'element':
      case 'field':
        return this.#read(node)
      case 'assign':
        return this.#assign(node)
      case 'step':
        return this.#count(node)
      case 'unary':
        return this.#unary(node)
      case 'binary': {
        const [left, right] = this.pair(node.left, node.right)
        return operationOf(node.operator, { left, right, machine: this.machine })
      }
      case 'match':
        return this.#match(node)
      case 'both':
      case 'either':
        return this.#shortCircuit(node)
      case 'choice':
        return this.#choice(node)
      case 'in':
        return this.#membership(node)
      case 'call':
        return this.#call(node)
      case 'builtin':
        return this.#builtin(node)
      case 'getline':
        return this.#getline(node)
      case 'list':
        throw new AwkError('syntax error: a list stands where one value is expected')
    }
  }

  #read(target: Target): Evaluate {
    const { record } = this.machine.variables
    if (target.kind === 'field') {
      if (target.of.kind === 'number') {
        const { value } = target.of
        return () => record.field(value)
      }
      const of = this.expression(target.of)
      return (slots) => record.field(toNumber(of(slots)))
    }
    if (target.kind === 'name') {
      const at = this.scope.parameters.indexOf(target.name)
      return at >= 0 ? (slots) => slots[at] as Value : this.machine.variables.variable(target.name).get
    }
    const table = this.table(target.array)
    const key = this.keyOf(this.operands(target.index))
    return (slots) => elementOf(table(slots), key(slots))
  }

  #assign({ operator, target, value }: Extract<Expression, { kind: 'assign' }>): Evaluate {
    const { parts, make } = this.place(target)
    const evaluates = this.operands([...parts, value])
    const given = evaluates.at(-1) ?? (() => undefined)
    const place = make(evaluates.slice(0, -1))
    let before: Value
    const change = operator && operationOf(operator, { left: () => before, right: given, machine: this.machine })
    return (slots) => {
      const key = place.key(slots)
      if (change) before = place.get(slots, key)
      const result = change ? change(slots) : given(slots)
      place.set(slots, key, result)
      return result
    }
  }

  #count({ target, by, isPrefix }: Extract<Expression, { kind: 'step' }>): Evaluate {
    const { parts, make } = this.place(target)
    const place = make(this.operands(parts))
    return (slots) => {
      const key = place.key(slots)
      const before = toNumber(place.get(slots, key))
      place.set(slots, key, before + by)
      return isPrefix ? before + by : before
    }
  }

  #unary({ operator, of }: Extract<Expression, { kind: 'unary' }>): Evaluate {
    const value = this.expression(of)
    if (operator === '!') return (slots) => (isTrue(value(slots)) ? 0 : 1)
    return operator === '-' ? (slots) => -toNumber(value(slots)) : (slots) => toNumber(value(slots))
  }

  #matchRecord(source: string): Evaluate {
    const { record } = this.machine.variables
    const regex = this.regex(source)
    return () => (regex.test(record.text) ? 1 : 0)
  }

  #match({ isNegated, left, right }: Extract<Expression, { kind: 'match' }>): Evaluate {
    const [text, pattern] = right.kind === 'regex' ? [this.expression(left), null] : this.pair(left, right)
    const find = this.finder(right, pattern)
    const { variables } = this.machine
    return (slots) => {
      const subject = variables.text(text(slots))
      return find(slots).test(subject) !== isNegated ? 1 : 0
    }
  }

  #shortCircuit({ kind, left, right }: Extract<Expression, { kind: 'both' | 'either' }>): Evaluate {
    const first = this.expression(left)
    const decides = kind === 'either'
    if (!waits(right)) {
      const second = this.expression(right)
      return (slots) => (isTrue(first(slots)) === decides ? Number(decides) : Number(isTrue(second(slots))))
    }
    const [at, end] = [this.slot(), { at: 0 }]
    this.emit((slots) => {
      const isDecided = isTrue(first(slots)) === decides
      slots[at] = Number(decides)
      if (isDecided) this.machine.pc = end.at
      return null
    })
    const second = this.expression(right)
    this.emit((slots) => {
      slots[at] = Number(isTrue(second(slots)))
      return null
    })
    this.here(end)
    return (slots) => slots[at] as Value
  }

  #choice({ condition, yes, no }: Extract<Expression, { kind: 'choice' }>): Evaluate {
    const test = this.expression(condition)
    if (!waits(yes) && !waits(no)) {
      const [first, second] = [this.expression(yes), this.expression(no)]
      return (slots) => (isTrue(test(slots)) ? first(slots) : second(slots))
    }
    const [at, otherwise, end] = [this.slot(), { at: 0 }, { at: 0 }]
    const keep = (evaluate: Evaluate, next: Label | null) =>
      this.emit((slots) => {
        slots[at] = evaluate(slots)
        if (next) this.machine.pc = next.at
        return null
      })
    this.emit((slots) => {
      if (!isTrue(test(slots))) this.machine.pc = otherwise.at
      return null
    })
    keep(this.expression(yes), end)
    this.here(otherwise)
    keep(this.expression(no), null)
    this.here(end)
    return (slots) => slots[at] as Value
  }

  #membership({ index, array }: Extract<Expression, { kind: 'in' }>): Evaluate {
    const table = this.table(array)
    const key = this.keyOf(this.operands(index))
    return (slots) => (table(slots).has(key(slots)) ? 1 : 0)
  }

  #call({ name, args, line }: Extract<Expression, { kind: 'call' }>): Evaluate {
    const routine = this.#routines.get(name)
    if (!routine) throw mistake(line, `function ${name} never defined`)
    const isTable = args.map((arg, i) => arg.kind === 'name' && routine.arrays.includes(i))
    const evaluates = this.operands(args.map((arg, i): Expression => (isTable[i] ? NOTHING : arg)))
    const given = args.map((arg, i) => (arg.kind === 'name' && isTable[i] ? this.table(arg.name) : evaluates[i]))
    const answer = this.slot()
    const { machine } = this
    this.emit((slots) =>
      machine.enter(
        routine,
        given.map((evaluate) => evaluate?.(slots)),
        answer,
      ),
    )
    return (slots) => slots[answer] as Value
  }

  #builtin(node: Extract<Expression, { kind: 'builtin' }>): Evaluate {
    const made: Builtin = builtinOf(node, this)
    if (made.kind === 'value') return made.evaluate
    const answer = this.slot()
    this.emit((slots) =>
      made.wait(slots).then((value) => {
        slots[answer] = value
      }),
    )
    return (slots) => slots[answer] as Value
  }

  #getline({ source, from, target }: Extract<Expression, { kind: 'getline' }>): Evaluate {
    const { parts, make } = target ? this.place(target) : { parts: [], make: null }
    const evaluates = this.operands([...parts, ...(from ? [from] : [])])
    const place = make?.(evaluates.slice(0, parts.length)) ?? null
    const answer = this.slot()
    this.emit(getlineStep(this.machine, { source, from: from ? (evaluates.at(-1) ?? null) : null, place, answer }))
    return (slots) => slots[answer] as Value
  }
}

const NOTHING: Expression = { kind: 'number', value: 0 }

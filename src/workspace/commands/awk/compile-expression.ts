// Expressions as functions. What an expression has to wait for (calls, input, commands) becomes steps that come before it and
// leave the value in a slot; the rest of it is one function that answers at once.

import { RegexError } from '../../posix-regex/syntax.ts'
import { type Builtin, builtinOf } from './builtins.ts'
import { getlineStep } from './getline.ts'
import type { Evaluate, Label, Machine, Routine, Slots, Step } from './machine.ts'
import { type Finder, operationOf } from './operations.ts'
import type { Names } from './resolve.ts'
import { AwkError, type Expression, mistake, type Target } from './syntax.ts'
import { isTrue, type Table, toNumber, type Value } from './values.ts'
import { waits } from './walk.ts'

/** What a variable, an element or a field is when it is read and written. */
export interface Place {
  /** Which one it is: worked out once, also where it is read and written. */
  key(slots: Slots): string | number
  get(slots: Slots, key: string | number): Value
  set(slots: Slots, key: string | number, value: Value): void
}

export interface Scope {
  owner: string | null
  parameters: readonly string[]
  /** Of parameters and of what steps keep. */
  slots: number
}

interface CompilerParts {
  machine: Machine
  names: Names
  routines: ReadonlyMap<string, Routine>
}

function constant(value: number | string): Evaluate {
  return () => value
}

export class ExpressionCompiler {
  protected readonly machine: Machine
  protected readonly names: Names
  protected scope: Scope = { owner: null, parameters: [], slots: 0 }
  readonly #routines: ReadonlyMap<string, Routine>

  constructor({ machine, names, routines }: CompilerParts) {
    this.machine = machine
    this.names = names
    this.#routines = routines
  }

  protected emit(step: Step): void {
    this.machine.code.push(step)
  }

  protected here(label: Label): void {
    label.at = this.machine.code.length
  }

  protected slot(): number {
    return this.scope.slots++
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

  /** In their order: what stands before something that has to be waited for is worked out before it. */
  operands(nodes: readonly Expression[]): Evaluate[] {
    const last = nodes.findLastIndex(waits)
    return nodes.map((node, i) => {
      const evaluate = this.expression(node)
      return i >= last || node.kind === 'number' || node.kind === 'string' ? evaluate : this.#kept(evaluate)
    })
  }

  protected pair(left: Expression, right: Expression): [Evaluate, Evaluate] {
    const first = this.expression(left)
    return [waits(right) ? this.#kept(first) : first, this.expression(right)]
  }

  #kept(evaluate: Evaluate): Evaluate {
    const at = this.slot()
    this.emit((slots) => {
      slots[at] = evaluate(slots)
      return null
    })
    return (slots) => slots[at] as Value
  }

  table(name: string): (slots: Slots) => Table {
    const at = this.scope.parameters.indexOf(name)
    if (at >= 0) return (slots) => slots[at] as Table
    const table = this.machine.variables.array(name)
    return () => table
  }

  isArray(name: string): boolean {
    return this.names.isArray(this.names.keyOf(this.scope.owner, name))
  }

  /** The text by which an element is known. */
  keyOf(index: readonly Evaluate[]): (slots: Slots) => string {
    const { variables } = this.machine
    const [first] = index
    if (index.length === 1 && first) {
      return (slots) => {
        const value = first(slots)
        return typeof value === 'string' ? value : variables.text(value)
      }
    }
    return (slots) => index.map((part) => variables.text(part(slots))).join(variables.subsep)
  }

  /** The expressions in the target are to be worked out first, and given to `make`. */
  place(target: Target): { parts: readonly Expression[]; make: (parts: readonly Evaluate[]) => Place } {
    if (target.kind === 'name') return { parts: [], make: () => this.#variablePlace(target.name) }
    if (target.kind === 'field') return { parts: [target.of], make: ([of]) => this.#fieldPlace(of) }
    const table = this.table(target.array)
    const make = (index: readonly Evaluate[]): Place => ({
      key: this.keyOf(index),
      get: (slots, key) => elementOf(table(slots), String(key)),
      set: (slots, key, value) => table(slots).set(String(key), value),
    })
    return { parts: target.index, make }
  }

  #variablePlace(name: string): Place {
    const at = this.scope.parameters.indexOf(name)
    const key = () => ''
    if (at >= 0) {
      const set = (slots: Slots, _: string | number, value: Value) => {
        slots[at] = value
      }
      return { key, get: (slots) => slots[at] as Value, set }
    }
    const variable = this.machine.variables.variable(name)
    return { key, get: variable.get, set: (_, __, value) => variable.set(value) }
  }

  #fieldPlace(of: Evaluate | undefined): Place {
    const { record } = this.machine.variables
    return {
      key: (slots) => toNumber(of?.(slots)),
      get: (_, key) => record.field(Number(key)),
      set: (_, key, value) => record.setField(Number(key), value),
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
    const regex = this.#regex(source)
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

  /** The expression that a text is held against, where it is no constant worked out each time. */
  finder(node: Expression, evaluate: Evaluate | null): Finder {
    if (node.kind === 'regex' || !evaluate) {
      const regex = this.#regex(node.kind === 'regex' ? node.source : '')
      return () => regex
    }
    const { variables } = this.machine
    return (slots) => this.#regex(variables.text(evaluate(slots)))
  }

  #regex(source: string): ReturnType<Finder> {
    try {
      return this.machine.regexes.get(source)
    } catch (error) {
      if (error instanceof RegexError)
        throw new AwkError(`regular expression compile failed (${error.message})\n${source}`)
      throw error
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

  get run(): Machine {
    return this.machine
  }
}

const NOTHING: Expression = { kind: 'number', value: 0 }

/** To ask for an element makes it. */
function elementOf(table: Table, key: string): Value {
  const value = table.get(key)
  if (value === undefined && !table.has(key)) table.set(key, undefined)
  return value
}

// Compiles statements to steps.

import { ExpressionCompiler } from './compile-expression.ts'
import { formatText } from './format.ts'
import type { Evaluate, Keys, Label, Slots } from './machine.ts'
import type { Expression, Redirection, Statement } from './syntax.ts'
import { isTrue, toNumber, toText, type Value } from './values.ts'

type Leaving =
  | Extract<Statement, { kind: 'break' | 'continue' | 'next' | 'nextfile' }>
  | Extract<Statement, { kind: 'exit' | 'return' }>

export class StatementCompiler extends ExpressionCompiler {
  #breaks: Label[] = []
  #continues: Label[] = []

  protected unless(condition: Expression, label: Label): void {
    const test = this.expression(condition)
    const { machine } = this
    this.emit((slots) => {
      if (!isTrue(test(slots))) machine.pc = label.at
      return null
    })
  }

  statement(node: Statement): void {
    switch (node.kind) {
      case 'block':
        for (const inner of node.body) this.statement(inner)
        break
      case 'expression':
        this.#evaluate(node.value)
        break
      case 'print':
      case 'printf':
        this.#print(node)
        break
      case 'if':
        this.#if(node)
        break
      case 'while':
        this.#loop({ condition: node.condition, body: node.body, each: null, isTestedFirst: true })
        break
      case 'do':
        this.#loop({ condition: node.condition, body: node.body, each: null, isTestedFirst: false })
        break
      case 'for':
        if (node.start) this.statement(node.start)
        this.#loop({ condition: node.condition, body: node.body, each: node.each, isTestedFirst: true })
        break
      case 'for-in':
        this.#forIn(node)
        break
      case 'delete':
        this.#delete(node)
        break
      default:
        this.#leave(node)
    }
  }

  #evaluate(value: Expression): void {
    const evaluate = this.expression(value)
    this.emit((slots) => {
      evaluate(slots)
      return null
    })
  }

  #leave(node: Leaving): void {
    const { machine } = this
    if (node.kind !== 'exit' && node.kind !== 'return') {
      this.#jump(node.kind)
      return
    }
    const value = node.value ? this.expression(node.value) : null
    if (node.kind === 'return') this.emit((slots) => machine.leave(value?.(slots)))
    else
      this.emit((slots) => {
        if (value) machine.exitCode = Math.trunc(toNumber(value(slots))) & 0xff
        return machine.exit()
      })
  }

  #jump(kind: 'break' | 'continue' | 'next' | 'nextfile'): void {
    const { machine } = this
    const loop = kind === 'break' ? this.#breaks.at(-1) : this.#continues.at(-1)
    const label = kind === 'next' || kind === 'nextfile' ? machine.nextLabel : (loop ?? machine.exitLabel)
    this.emit(() => {
      if (kind === 'nextfile') machine.input.skipFile()
      return machine.jumpBack(label)
    })
  }

  #if({ condition, yes, no }: Extract<Statement, { kind: 'if' }>): void {
    const [otherwise, end]: [Label, Label] = [{ at: 0 }, { at: 0 }]
    this.unless(condition, otherwise)
    this.statement(yes)
    if (no) {
      this.emit(() => {
        this.machine.pc = end.at
        return null
      })
    }
    this.here(otherwise)
    if (no) this.statement(no)
    this.here(end)
  }

  #loop({ condition, body, each, isTestedFirst }: Loop): void {
    const [start, next, end]: [Label, Label, Label] = [{ at: 0 }, { at: 0 }, { at: 0 }]
    this.here(start)
    if (isTestedFirst && condition) this.unless(condition, end)
    this.#body(body, { next, end })
    this.here(next)
    if (each) this.statement(each)
    if (!isTestedFirst && condition) this.unless(condition, end)
    this.emit(() => this.machine.jumpBack(start))
    this.here(end)
  }

  #body(body: Statement, { next, end }: { next: Label; end: Label }): void {
    this.#breaks.push(end)
    this.#continues.push(next)
    this.statement(body)
    this.#breaks.pop()
    this.#continues.pop()
  }

  /** Loops over the elements that exist at its start. */
  #forIn({ target, array, body }: Extract<Statement, { kind: 'for-in' }>): void {
    const table = this.table(array)
    const at = this.slot()
    const place = this.place(target).make([])
    const { machine } = this
    this.emit((slots) => {
      slots[at] = { keys: [...table(slots).keys()], next: 0 }
      return null
    })
    const [start, end]: [Label, Label] = [{ at: 0 }, { at: 0 }]
    this.here(start)
    this.emit((slots) => {
      const left = slots[at] as Keys
      const key = left.keys[left.next++]
      if (key === undefined) machine.pc = end.at
      else place.set(slots, '', key)
      return null
    })
    this.#body(body, { next: start, end })
    this.emit(() => machine.jumpBack(start))
    this.here(end)
  }

  #delete({ array, index }: Extract<Statement, { kind: 'delete' }>): void {
    const table = this.table(array)
    const key = index && this.keyOf(this.operands(index))
    this.emit((slots) => {
      if (key) table(slots).delete(key(slots))
      else table(slots).clear()
      return null
    })
  }

  #print(node: Extract<Statement, { kind: 'print' | 'printf' }>): void {
    const { machine } = this
    const nodes = [...node.args, ...(node.redirection ? [node.redirection.name] : [])]
    const evaluates = this.operands(nodes)
    const args = evaluates.slice(0, node.args.length)
    const name = evaluates.at(-1)
    const shown = node.kind === 'print' ? this.#line(args) : this.#formatted(args)
    const to: Redirection['to'] | undefined = node.redirection?.to
    if (to === undefined || !name) {
      this.emit((slots) => {
        machine.output.add(shown(slots))
        return null
      })
      return
    }
    this.emit((slots) => {
      const text = shown(slots)
      return machine.streams.write(to, machine.variables.text(name(slots)), text)
    })
  }

  #line(args: readonly Evaluate[]): (slots: Slots) => string {
    const { variables } = this.machine
    const text = (value: Value) => toText(value, variables.ofmt)
    const [first] = args
    if (!first) return () => variables.record.text + variables.ors
    if (args.length === 1) return (slots) => text(first(slots)) + variables.ors
    return (slots) => args.map((arg) => text(arg(slots))).join(variables.ofs) + variables.ors
  }

  #formatted([format, ...args]: readonly Evaluate[]): (slots: Slots) => string {
    const { variables } = this.machine
    return (slots) => {
      const values = args.map((arg) => arg(slots))
      return formatText(variables.text(format?.(slots)), values, variables.convfmt)
    }
  }
}

interface Loop {
  condition: Expression | null
  body: Statement
  each: Statement | null
  isTestedFirst: boolean
}

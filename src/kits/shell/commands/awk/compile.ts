// Compiles a program to steps: `BEGIN`, a loop over the records, `END`, and the functions after them.

import type { Scope } from './compile-operands.ts'
import { StatementCompiler } from './compile-statement.ts'
import type { Label, Machine, Routine } from './machine.ts'
import { resolveNames } from './resolve.ts'
import type { Expression, FunctionDefinition, Program, Rule } from './syntax.ts'
import { isTrue } from './values.ts'

/** Throws `AwkError` for an invalid program. */
export function compile(program: Program, machine: Machine): void {
  const names = resolveNames(program)
  const routines = new Map<string, Routine>()
  for (const { name, parameters } of program.functions.values()) {
    const arrays = parameters.flatMap((parameter, i) => (names.isArray(names.keyOf(name, parameter)) ? [i] : []))
    routines.set(name, { entry: { at: 0 }, parameters: parameters.length, arrays })
  }
  const compiler = new Compiler({ machine, names, routines })
  compiler.rules(program.rules)
  for (const definition of program.functions.values()) {
    const routine = routines.get(definition.name)
    if (routine) compiler.routine(definition, routine)
  }
}

class Compiler extends StatementCompiler {
  rules(rules: readonly Rule[]): void {
    const { machine } = this
    const of = (kind: Rule['when']['kind']) => rules.filter(({ when }) => when.kind === kind)
    const [begin, end] = [of('begin'), of('end')]
    const main = rules.filter(({ when }) => when.kind !== 'begin' && when.kind !== 'end')
    for (const { body } of begin) if (body) this.statement(body)
    const atEnd: Label = { at: 0 }
    machine.exitLabel.at = -1
    if (main.length > 0 || end.length > 0) this.#rounds(main, atEnd)
    this.here(atEnd)
    // `exit` jumps to the END rules, and out of them.
    const exitFromEnd: Label = { at: 0 }
    if (end.length > 0) machine.exitLabel.at = atEnd.at
    this.emit(() => {
      machine.exitLabel.at = exitFromEnd.at
      return null
    })
    for (const { body } of end) if (body) this.statement(body)
    this.here(exitFromEnd)
    if (end.length === 0) machine.exitLabel.at = exitFromEnd.at
    this.emit(() => machine.halt())
  }

  #rounds(rules: readonly Rule[], atEnd: Label): void {
    const { machine } = this
    const { input, variables, nextLabel } = machine
    const round: Label = { at: 0 }
    this.here(nextLabel)
    const openAndRead = async (): Promise<void> => {
      let text: string | null = null
      while (text === null && (await input.open())) text = input.read()
      if (text === null) machine.pc = atEnd.at
      else variables.record.setText(text)
    }
    this.here(round)
    this.emit(() => {
      const text = input.read()
      if (text === null) return openAndRead()
      variables.record.setText(text)
      return null
    })
    for (const rule of rules) this.#rule(rule)
    this.emit(() => machine.jumpBack(round))
  }

  #rule({ when, body }: Rule): void {
    const behind: Label = { at: 0 }
    if (when.kind === 'pattern') this.unless(when.pattern, behind)
    if (when.kind === 'range') this.#range(when.from, when.to, behind)
    this.statement(body ?? { kind: 'print', args: [], redirection: null })
    this.here(behind)
  }

  /**
   * Starts at a record that matches the first expression, and ends at one that matches the second, which may be the
   * same record.
   */
  #range(from: Expression, to: Expression, behind: Label): void {
    const { machine } = this
    let isInside = false
    const inside: Label = { at: 0 }
    this.emit(() => {
      if (isInside) machine.pc = inside.at
      return null
    })
    this.unless(from, behind)
    this.here(inside)
    const ends = this.expression(to)
    this.emit((slots) => {
      isInside = !isTrue(ends(slots))
      return null
    })
  }

  routine({ name, parameters, body }: FunctionDefinition, routine: Routine): void {
    const scope: Scope = { owner: name, parameters, slots: parameters.length }
    this.scope = scope
    this.here(routine.entry)
    this.statement(body)
    this.emit(() => this.machine.leave(undefined))
  }
}

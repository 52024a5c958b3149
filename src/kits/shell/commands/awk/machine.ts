// Runs a compiled program. A program is a list of steps, each a function that runs synchronously or returns a promise;
// loops and calls are jumps between steps, so a program can be paused at each of them, and its depth uses no stack.

import { AWK, RegexCache } from '../../posix-regex/posix-regex.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { CommandOutput } from '../text-files.ts'
import { MainInput } from './main-input.ts'
import { RandomNumbers } from './random.ts'
import { Streams } from './streams.ts'
import { AwkError } from './syntax.ts'
import type { Table, Value } from './values.ts'
import { Variables } from './variables.ts'

/** The remaining keys of a loop. */
export interface Keys {
  keys: string[]
  next: number
}

/** Parameters of a function, and stored values between its steps. */
export type Slot = Value | Table | Keys
export type Slots = Slot[]
export type Evaluate = (slots: Slots) => Value
export type Wait = Promise<void> | null
export type Step = (slots: Slots) => Wait

export interface Label {
  at: number
}

export interface Routine {
  entry: Label
  parameters: number
  /** The indexes of the array parameters. */
  arrays: readonly number[]
}

interface Caller {
  pc: number
  slots: Slots
  /** The caller's slot for the value. */
  answer: number
}

const MAX_CALLS = 100_000
/** The number of iterations between two checks for a pause. */
const ROUNDS_PER_PAUSE = 64
const HALT = -1

export class Machine {
  readonly code: Step[] = []
  readonly regexes = new RegexCache(AWK)
  readonly variables = new Variables(this.regexes)
  readonly output = new CommandOutput()
  readonly streams: Streams
  readonly input: MainInput
  readonly call: ShellCall
  readonly random = new RandomNumbers(Math.floor(Date.now() / 1000))
  lastSeed: Value = Math.floor(Date.now() / 1000)
  pc = 0
  exitCode = 0
  /** The targets of `exit` and `next`. */
  readonly exitLabel: Label = { at: HALT }
  readonly nextLabel: Label = { at: HALT }
  #slots: Slots = []
  readonly #base: Slots = []
  readonly #callers: Caller[] = []
  #rounds = 0

  constructor(call: ShellCall) {
    this.call = call
    const { regexes, output, variables } = this
    this.streams = new Streams({ call, output, regexes })
    this.input = new MainInput({ call, variables, regexes })
  }

  async run(): Promise<void> {
    this.#slots = this.#base
    for (this.pc = 0; this.pc >= 0; ) {
      const step = this.code[this.pc++]
      if (!step) return
      const wait = step(this.#slots)
      if (wait) await wait
    }
  }

  /** Continues at the label; at a backward jump the program may be paused. */
  jumpBack({ at }: Label): Wait {
    this.pc = at
    return ++this.#rounds % ROUNDS_PER_PAUSE === 0 ? this.call.pause() : null
  }

  enter(routine: Routine, args: Slots, answer: number): Wait {
    if (this.#callers.length >= MAX_CALLS) throw new AwkError('run time error: functions call each other too deeply')
    this.#callers.push({ pc: this.pc, slots: this.#slots, answer })
    for (const at of routine.arrays) args[at] ??= new Map<string, Value>()
    while (args.length < routine.parameters) args.push(undefined)
    this.#slots = args
    return this.jumpBack(routine.entry)
  }

  leave(value: Value): null {
    const caller = this.#callers.pop()
    if (!caller) throw new Error('a function has returned to nobody')
    caller.slots[caller.answer] = value
    this.#slots = caller.slots
    this.pc = caller.pc
    return null
  }

  exit(): null {
    this.#callers.length = 0
    this.#slots = this.#base
    this.pc = this.exitLabel.at
    return null
  }

  halt(): null {
    this.pc = HALT
    return null
  }
}

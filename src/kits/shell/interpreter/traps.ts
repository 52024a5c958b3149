// `trap`, which the interpreter does not have: actions at the end of a shell, before each command, after a failure, and
// at the return of a function.

import { quoted } from '../interpreter-command.ts'
import type { StepResult } from './shape.ts'
import { bySignalNumber, fullName, signalName, signalTable } from './signals.ts'

export type TrapEvent = 'EXIT' | 'DEBUG' | 'ERR' | 'RETURN'
type Trap = { action: string; depth: number }

const USAGE = 'trap: usage: trap [-lp] [[arg] signal_spec ...]\n'

/** The traps of one shell. A subshell starts without them, except ignored signals. */
export class Traps {
  readonly #traps = new Map<string, Trap>()
  /** The traps that a subshell without its own shows. */
  #inherited: Traps | null
  /** Whether functions and subshells inherit traps: `set -E` for ERR, `set -T` for DEBUG and RETURN. */
  #tracesErrors = false
  #tracesFunctions = false
  /** No trap runs during a trap. */
  #isRunning = false

  constructor(parent: Traps | null = null) {
    this.#inherited = parent
    if (!parent) return
    this.#tracesErrors = parent.#tracesErrors
    this.#tracesFunctions = parent.#tracesFunctions
    for (const [name, trap] of parent.#traps) {
      if (trap.action === '' || parent.#isTraced(name)) this.#traps.set(name, { ...trap, depth: 0 })
    }
  }

  get areSet(): boolean {
    return this.#traps.size > 0
  }

  /** Whether functions inherit the DEBUG trap. */
  get isTracing(): boolean {
    return this.#tracesFunctions
  }

  /** The action to run now, at this depth of function calls. */
  actionFor(event: TrapEvent, callDepth: number): string | null {
    const trap = this.#isRunning ? undefined : this.#traps.get(event)
    if (trap === undefined || trap.action === '') return null
    return callDepth <= trap.depth || this.#isTraced(event) ? trap.action : null
  }

  /** A function at this depth has ended: traps that it set now belong to its caller, not to other functions. */
  returned(callDepth: number): void {
    for (const trap of this.#traps.values()) trap.depth = Math.min(trap.depth, callDepth)
  }

  /** For a signal: empty if it is ignored. */
  actionOf(signal: string): string | null {
    return this.#traps.get(signal)?.action ?? null
  }

  /** The action at the end of the shell, which runs once. */
  takeExit(): string | null {
    const action = this.#traps.get('EXIT')?.action
    this.#traps.delete('EXIT')
    return action || null
  }

  async running<T>(work: () => Promise<T>): Promise<T> {
    this.#isRunning = true
    try {
      return await work()
    } finally {
      this.#isRunning = false
    }
  }

  /** For the arguments of a `set`; the interpreter accepts two of its options without an effect. */
  noteOptions(args: readonly string[]): void {
    args.forEach((arg, i) => {
      const isOn = arg.startsWith('-')
      if (!isOn && !arg.startsWith('+')) return
      const letters = arg === '-o' || arg === '+o' ? args[i + 1] : arg
      if (letters === 'errtrace' || letters?.slice(1).includes('E')) this.#tracesErrors = isOn
      if (letters === 'functrace' || letters?.slice(1).includes('T')) this.#tracesFunctions = isOn
    })
  }

  /** The command itself. */
  run(args: readonly string[], callDepth: number): StepResult {
    const [first = '', ...rest] = args[0] === '--' ? args.slice(1) : args
    if (first === '-l') return answer(signalTable())
    if (args.length === 0 || first === '-p') return this.#list(rest)
    if (/^-[^-]/.test(first)) return answer('', `bash: trap: ${first}: invalid option\n${USAGE}`, 2)
    const resets = first === '-' || rest.length === 0 || /^\d+$/.test(first)
    if (rest.length === 0 && (first === '-' || signalName(first) === null)) return answer('', USAGE, 2)
    const named = resets && first !== '-' ? [first, ...rest] : rest
    let errors = ''
    for (const given of named) {
      const name = signalName(given)
      if (name === null) errors += `bash: trap: ${given}: invalid signal specification\n`
      else this.#set(name, resets ? null : { action: first, depth: callDepth })
    }
    return answer('', errors, errors === '' ? 0 : 1)
  }

  #set(name: string, trap: Trap | null): void {
    this.#inherited = null
    if (trap) this.#traps.set(name, trap)
    else this.#traps.delete(name)
  }

  #list(given: readonly string[]): StepResult {
    const known = (this.#inherited ?? this).#traps
    let errors = ''
    const wanted = new Set<string>()
    for (const one of given) {
      const name = signalName(one)
      if (name === null) errors += `bash: trap: ${one}: invalid signal specification\n`
      else wanted.add(name)
    }
    const names = [...known.keys()].sort(bySignalNumber).filter((name) => given.length === 0 || wanted.has(name))
    const lines = names.map((name) => `trap -- ${quoted(known.get(name)?.action ?? '')} ${fullName(name)}\n`)
    return answer(lines.join(''), errors, errors === '' ? 0 : 1)
  }

  #isTraced(name: string): boolean {
    return name === 'ERR' ? this.#tracesErrors : (name === 'DEBUG' || name === 'RETURN') && this.#tracesFunctions
  }
}

function answer(stdout: string, stderr = '', exitCode = 0): StepResult {
  return { stdout, stderr, exitCode }
}

// Reads and writes the variables of a shell for arithmetic.

import { nextRandom } from '../own-variables.ts'
import type { Watched } from '../position.ts'
import { refuse } from '../written-substitutions.ts'
import type { Int } from './int64.ts'
import { toNumber } from './int64.ts'
import { namePieces, valueAt } from './names.ts'
import type { VariableRef, Variables } from './places.ts'
import { ArithmeticError } from './scanner.ts'

const MOST_REFERENCES = 100

/** The library's name of the same error. */
export class NounsetError extends Error {
  override readonly name = 'NounsetError'

  constructor(variable: string) {
    super(`${variable}: unbound variable`)
  }
}

/** The message about a read-only variable does not contain the expression. */
export class ReadonlyError extends ArithmeticError {}

export class ShellVariables implements Variables {
  readonly #shell: Watched
  readonly #state: Watched['ctx']['state']

  constructor(shell: Watched) {
    this.#shell = shell
    this.#state = shell.ctx.state
  }

  read(place: VariableRef): string | undefined {
    const { name, key } = this.#resolved(place)
    const { env, arrays } = this.#state
    const elements = arrays?.get(name)?.elements
    if (key === null) return this.#special(name) ?? env.get(name) ?? elements?.get('0')
    return elements?.get(key) ?? (key === '0' ? env.get(name) : undefined)
  }

  write(place: VariableRef, value: string): void {
    const { name, key } = this.#resolved(place)
    const { env, arrays, readonlyVars, options } = this.#state
    if (readonlyVars?.has(name)) throw new ReadonlyError(`${name}: readonly variable`)
    if (key === null && !arrays?.has(name)) env.set(name, value)
    else this.#writeElement(name, key ?? '0', value)
    if (!options.allexport) return
    this.#state.exportedVars ??= new Set()
    this.#state.exportedVars.add(name)
  }

  isMap(name: string): boolean {
    return this.#state.associativeArrays?.has(this.#resolved({ name, key: null }).name) ?? false
  }

  fromEnd(name: string, index: Int): Int | null {
    const resolved = this.#resolved({ name, key: null }).name
    let last = this.#state.env.has(resolved) ? 0 : -1
    for (const key of this.#state.arrays?.get(resolved)?.elements.keys() ?? []) last = Math.max(last, Number(key))
    const found = last + 1 + toNumber(index)
    return found < 0 ? null : found
  }

  refuseUnset(name: string): void {
    const { options, arrays } = this.#state
    if (options.nounset && !arrays?.has(this.#resolved({ name, key: null }).name)) throw new NounsetError(name)
  }

  refuseSubstitution(): never {
    refuse(this.#shell)
  }

  expandNames(text: string): string {
    const pieces = namePieces(text)
    if (pieces === null) throw new ArithmeticError(`${text}: an expansion that stands in a value is not available here`)
    return pieces.map((piece) => (typeof piece === 'string' ? piece : valueAt(piece, this))).join('')
  }

  /** The value of `$name`, `$1`, `$#` or `$?` as text. */
  parameter(name: string): string {
    const { env, lastExitCode, options } = this.#state
    if (name === '?') return String(lastExitCode)
    if (name === '#') return env.get('#') ?? '0'
    if (name === '0') return env.get('0') ?? 'bash'
    const value = this.read({ name, key: null })
    if (value === undefined && options.nounset) throw new NounsetError(/^\d/.test(name) ? `$${name}` : name)
    return value ?? ''
  }

  #writeElement(name: string, key: string, value: string): void {
    const { state, limits } = this.#shell.ctx
    state.arrays ??= new Map()
    const array = state.arrays.get(name) ?? { kind: this.isMap(name) ? 'associative' : 'indexed', elements: new Map() }
    state.arrays.set(name, array)
    const scalar = state.env.get(name)
    if (scalar !== undefined && array.elements.size === 0) {
      array.elements.set('0', scalar)
      state.env.delete(name)
    }
    if (!array.elements.has(key) && array.elements.size >= limits.maxArrayElements) {
      throw new ArithmeticError(`${name}: more than ${limits.maxArrayElements} elements`)
    }
    array.elements.set(key, value)
  }

  /** Follows references of `declare -n`. */
  #resolved(place: VariableRef): VariableRef {
    const { namerefs, invalidNamerefs, env } = this.#state
    let { name } = place
    if (!namerefs?.has(name)) return place
    for (let i = 0; i < MOST_REFERENCES && namerefs.has(name) && !invalidNamerefs?.has(name); i++) {
      const target = env.get(name)
      if (target === undefined || target === '') break
      const [, array = '', key = ''] = /^([A-Za-z_]\w*)\[(.+)\]$/s.exec(target) ?? []
      if (array !== '') return { name: array, key: this.#keyOf(array, key) }
      name = target
    }
    return { ...place, name }
  }

  /** For a reference to an element; an index is a number or the name of one. */
  #keyOf(array: string, key: string): string {
    if (this.#state.associativeArrays?.has(array) || /^\d+$/.test(key)) return key
    const value = this.#state.env.get(key)
    if (value !== undefined && /^\d+$/.test(value)) return value
    throw new ArithmeticError(`${array}[${key}]: a reference to an element needs a number here`)
  }

  /** Of variables that are computed when they are read. */
  #special(name: string): string | undefined {
    const state = this.#state
    const { position } = this.#shell
    if (position?.own.unset.has(name)) return undefined
    switch (name) {
      case 'RANDOM':
        return String(position ? nextRandom(position) : 0)
      case 'SRANDOM':
        return String(Math.floor(Math.random() * 2 ** 32))
      case 'SECONDS':
        return String(Math.floor((Date.now() - state.startTime) / 1000))
      case 'EPOCHSECONDS':
        return String(Math.floor(Date.now() / 1000))
      case 'LINENO':
        return String(state.currentLine)
      case 'PPID':
        return String(state.virtualPpid)
      case 'UID':
      case 'EUID':
        return String(state.virtualUid)
      case 'BASHPID':
        return String(state.bashPid)
      case 'BASH_SUBSHELL':
        return String(position?.subshells ?? 0)
      case '_':
        return state.lastArg
      default:
        return undefined
    }
  }
}

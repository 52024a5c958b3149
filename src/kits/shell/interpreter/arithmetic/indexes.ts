// `${a[…]}` and `a[…]=value`: the index is evaluated once, directly before the library needs it.

import type { Watched } from '../position.ts'
import type { StepResult } from '../shape.ts'
import { evaluate } from './evaluator.ts'
import { ENDED, mistakeInAssignment, variablesOf } from './expression.ts'
import { expanded, expandedNames, type Piece } from './template.ts'
import type { ShellVariables } from './variables.ts'

export class Index {
  readonly pieces: readonly Piece[]
  readonly outcome = { type: 'ArithNumber', value: '' }
  readonly #name: string
  readonly #written: string
  #current: string

  constructor(name: string, subscript: string, pieces: readonly Piece[]) {
    this.#name = name
    this.#written = `${name}[${subscript}]`
    this.#current = this.#written
    this.pieces = pieces
  }

  /** The element by its number; of an associative array, by its key as written. */
  get current(): string {
    return this.#current
  }

  get written(): string {
    return this.#written
  }

  run(shell: Watched): StepResult | Promise<StepResult> {
    const variables = variablesOf(shell)
    this.#current = this.#written
    if (variables.isMap(this.#name)) return ENDED
    try {
      const text = expandedNames(this.pieces, variables)
      return text === null ? this.#expanded(shell, variables) : this.#found(text, variables)
    } catch (error) {
      throw mistakeInAssignment(shell, error)
    }
  }

  async #expanded(shell: Watched, variables: ShellVariables): Promise<StepResult> {
    try {
      return this.#found(await expanded(this.pieces, shell, variables), variables)
    } catch (error) {
      throw mistakeInAssignment(shell, error)
    }
  }

  #found(expandedText: string, variables: ShellVariables): StepResult {
    const text = expandedText.replace(/\\(.)/gs, '$1')
    if (text.trim() !== '') this.#current = `${this.#name}[${evaluate(text, variables)}]`
    return ENDED
  }
}

/** A name with an index that is evaluated when it is read. */
export class LateName extends String {
  readonly #index: Index
  readonly #change: (name: string) => string

  constructor(index: Index, change = (name: string) => name) {
    super(index.written)
    this.#index = index
    this.#change = change
  }

  /** The same with another name. */
  as(change: (name: string) => string): LateName {
    return new LateName(this.#index, change)
  }

  override match(pattern: string | RegExp): RegExpMatchArray | null
  override match(pattern: Matcher): RegExpMatchArray | null
  override match(pattern: string | Matcher): RegExpMatchArray | null {
    const current = this.#change(this.#index.current)
    return typeof pattern === 'string' ? current.match(pattern) : current.match(pattern)
  }
}

type Matcher = { [Symbol.match](text: string): RegExpMatchArray | null }

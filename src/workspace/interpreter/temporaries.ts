// Values that are worked out here stand in variables for as long as the command runs that takes them: so they are split, joined
// and put beside others as any variable is.

import type { Node } from './heads.ts'
import type { ShellVariables } from './shape.ts'

const PREFIX = '_worked_out_'

export class Temporaries {
  readonly #state: ShellVariables
  readonly #names: string[] = []

  constructor(state: ShellVariables) {
    this.#state = state
  }

  /** Without a value it is unset. The expansion to put in the place of the one that was worked out. */
  hold(values: readonly string[], all: '@' | '*' | null): Node {
    const { env } = this.#state
    let number = this.#names.length
    while (env.has(`${PREFIX}${number}`) || this.#state.arrays?.has(`${PREFIX}${number}`)) number++
    const name = `${PREFIX}${number}`
    this.#names.push(name)
    const [value] = values
    if (all === null && value !== undefined) env.set(name, value)
    if (all !== null) {
      this.#state.arrays ??= new Map()
      const elements = new Map(values.map((value, i) => [String(i), value]))
      this.#state.arrays.set(name, { kind: 'indexed', elements })
    }
    const parameter = all === null ? name : `${name}[${all}]`
    return { type: 'ParameterExpansion', parameter, operation: null }
  }

  clear(): void {
    for (const name of this.#names) {
      this.#state.env.delete(name)
      this.#state.arrays?.delete(name)
    }
  }
}

// `[[ a -lt b ]]`: both words are expressions, compared as numbers of 64 bits.

import type { Watched } from '../position.ts'
import type { StepResult } from '../shape.ts'
import type { Part, Word } from '../words-alone.ts'
import { ENDED, evaluateText, noteFailure, variablesOf } from './expression.ts'
import type { Int } from './int64.ts'
import type { Parameters } from './names.ts'
import { expandedWord } from './template.ts'

const COMPARE: Readonly<Record<string, (a: Int, b: Int) => boolean>> = {
  '-eq': (a, b) => a === b,
  '-ne': (a, b) => a !== b,
  '-lt': (a, b) => a < b,
  '-le': (a, b) => a <= b,
  '-gt': (a, b) => a > b,
  '-ge': (a, b) => a >= b,
}

export class Comparison {
  readonly outcome = { type: 'ArithNumber', value: 0 }
  readonly operator: string
  readonly left: Word
  readonly right: Word

  constructor(operator: string, left: Word, right: Word) {
    this.operator = operator
    this.left = left
    this.right = right
  }

  async run(shell: Watched): Promise<StepResult> {
    const left = await textOf(this.left, shell)
    const right = await textOf(this.right, shell)
    this.outcome.value = this.#holds(shell, left, right) ? 1 : 0
    return ENDED
  }

  #holds(shell: Watched, left: string, right: string): boolean {
    try {
      return COMPARE[this.operator]?.(evaluateText(shell, left), evaluateText(shell, right)) ?? false
    } catch (error) {
      noteFailure(shell, error, '[[: ')
      return false
    }
  }
}

/** The word as one text, without word splitting and file name expansion. */
async function textOf(word: Word, shell: Watched): Promise<string> {
  const parameters = variablesOf(shell)
  const known = word.parts.map((part) => knownText(part, parameters))
  if (known.every((text) => text !== null)) return known.join('')
  return expandedWord({ type: 'Word', parts: [{ type: 'DoubleQuoted', parts: word.parts }] }, shell)
}

const IS_NAME = /^(?:[A-Za-z_]\w*|\d+|[#?])$/

/** Null for a part that the interpreter must expand. */
function knownText(part: Part, parameters: Parameters): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return part.value
    case 'ParameterExpansion':
      return part.operation === null && IS_NAME.test(part.parameter) ? parameters.parameter(part.parameter) : null
    case 'DoubleQuoted': {
      const [inner, ...others] = part.parts
      return inner !== undefined && others.length === 0 ? knownText(inner, parameters) : null
    }
    default:
      return null
  }
}

// Decides which words are expanded here. Most have the same result in the interpreter, which expands them: literal
// text, and plain variables in quotes.

import type { ShellVariables } from '../shape.ts'
import type { Part, Word } from '../words-alone.ts'
import type { Purpose } from './expands.ts'
import { hasTilde } from './tildes.ts'

/**
 * `still`: its value is its text. `easy`: the interpreter expands it like bash. `soft`: it does so if the values
 * contain no pattern characters and IFS has its default. `hard`: expanded here. `foreign`: never expanded here.
 */
export type Grade = 'still' | 'easy' | 'soft' | 'hard' | 'foreign'

const RANKS: readonly Grade[] = ['still', 'easy', 'soft', 'hard', 'foreign']
const PLAIN = /^(?:(?!BASHOPTS$)[A-Za-z_]\w*|\d+|[?#$!])$/
/** The interpreter itself reports their errors. */
const REFUSED: ReadonlySet<string> = new Set(['LengthSliceError'])

const worst = (grades: readonly Grade[]): Grade =>
  RANKS[Math.max(0, ...grades.map((grade) => RANKS.indexOf(grade)))] ?? 'still'

const GRADES = new WeakMap<Word, Map<boolean, Grade>>()

/** It depends on whether it is split into fields. */
export function gradeOf(word: Word, purpose: Purpose): Grade {
  const isParted = purpose === 'fields'
  let known = GRADES.get(word)
  if (!known) {
    known = new Map()
    GRADES.set(word, known)
  }
  const grade = known.get(isParted) ?? gradeOfParts(word.parts, isParted)
  known.set(isParted, grade)
  return grade
}

function gradeOfParts(parts: readonly Part[], isParted: boolean): Grade {
  const grade = worst(parts.map((part) => gradeOfPart(part, isParted)))
  return isParted && grade !== 'foreign' && hasTilde(parts) ? 'hard' : grade
}

function gradeOfPart(part: Part, isParted: boolean): Grade {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'Escaped':
      return 'still'
    case 'TildeExpansion':
      return 'easy'
    case 'ProcessSubstitution':
      return 'foreign'
    case 'Glob':
      return isParted ? 'hard' : 'easy'
    case 'DoubleQuoted':
      return worst(part.parts.map((inner) => gradeOfPart(inner, false)))
    case 'CommandSubstitution':
    case 'ArithmeticExpansion':
      return isParted ? 'soft' : 'easy'
    case 'BraceExpansion':
      return 'hard'
    default:
      return gradeOfParameter(part, isParted)
  }
}

function gradeOfParameter({ parameter, operation }: Part & { type: 'ParameterExpansion' }, isParted: boolean): Grade {
  if (operation === null) return PLAIN.test(parameter) ? (isParted ? 'soft' : 'easy') : 'hard'
  const inner = operation.type === 'Indirection' ? operation.innerOp?.type : undefined
  return REFUSED.has(operation.type) || REFUSED.has(inner ?? '') ? 'foreign' : 'hard'
}

/** Whether a soft word must be expanded here anyway: next to other parts, the interpreter loses blanks at the edges. */
export function isHardNow({ parts }: Word, { env, namerefs }: ShellVariables): boolean {
  if (env.get('IFS') !== ' \t\n' && env.has('IFS')) return true
  const isAlone = parts.length === 1
  return parts.some((part) => {
    if (part.type !== 'ParameterExpansion') return part.type === 'CommandSubstitution' && !isAlone
    const value = env.get(part.parameter) ?? ''
    return /[*?[\\(]/.test(value) || (!isAlone && /^\s|\s$|^$/.test(value)) || (namerefs?.has(part.parameter) ?? false)
  })
}

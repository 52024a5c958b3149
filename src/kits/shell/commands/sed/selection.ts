// Selects the lines of a command.

import type { Address, Selection } from './script.ts'

export interface Line {
  number: number
  isLast: boolean
  /** Whether the expression matches the line; null means the most recently used one. */
  matches(regex: Extract<Address, { kind: 'regex' }>['regex']): boolean
}

export function isSelected(selection: Selection, line: Line): boolean {
  const { from, to, isNegated } = selection
  if (from === null) return !isNegated
  const isIn = to === null ? fits(from, line) : isInRange(selection, line)
  return isIn !== isNegated
}

function fits(address: Address, line: Line): boolean {
  switch (address.kind) {
    case 'line':
      return line.number === address.line
    case 'every': {
      const { first, step } = address
      return step === 0 ? line.number === first : line.number >= first && (line.number - first) % step === 0
    }
    case 'last':
      return line.isLast
    case 'regex':
      return line.matches(address.regex)
  }
}

function isInRange({ from, to, range }: Selection, line: Line): boolean {
  if (from === null || to === null) return false
  if (range.state === 'inside') {
    if (to.kind === 'line' || to.kind === 'more' || to.kind === 'multiple') {
      if (line.number >= range.lastLine) range.state = 'behind'
      // Lines read by other commands may have passed the end.
      return line.number <= range.lastLine
    }
    if (fits(to, line)) range.state = 'behind'
    return true
  }
  if (!fits(from, line)) return false
  range.lastLine = lastLineOf(to, line.number)
  const isOneLine =
    (to.kind === 'line' || to.kind === 'more' || to.kind === 'multiple') && range.lastLine <= line.number
  range.state = isOneLine ? 'behind' : 'inside'
  return true
}

function lastLineOf(to: NonNullable<Selection['to']>, line: number): number {
  if (to.kind === 'line') return to.line
  if (to.kind === 'more') return line + to.lines
  return to.kind === 'multiple' && to.of > 0 ? (Math.floor(line / to.of) + 1) * to.of : line
}

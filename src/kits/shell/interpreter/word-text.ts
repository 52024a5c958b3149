// The source text of a word, from its parts. The parser does not store whether a variable had braces: that is found in
// the text of the statement.

import { quoted } from '../interpreter-command.ts'
import type { ArithmeticExpression, Assignment, Script } from './shape.ts'
import type { Part, Word } from './words-alone.ts'

export interface WordContext {
  /** The text that contains the word, as far as it is known. */
  source: string
  /** The contents of a substitution, on one line if possible. */
  scriptText: (script: Script) => string
  /** For parts that are left to the interpreter. */
  partText: (part: Part) => string
}

type Operation = NonNullable<Extract<Part, { type: 'ParameterExpansion' }>['operation']>

export function wordText(word: Word, context: WordContext): string {
  return partsText(word.parts, context, false)
}

/** For an argument of a command, in which the parser stores `$'…'` like any other text. */
export function commandWordText(word: Word, context: WordContext): string {
  const [first] = word.parts
  const array = first?.type === 'Literal' ? ARRAY.exec(first.value)?.[0] : undefined
  if (array !== undefined) return arrayText(array, context.source) ?? wordText(word, context)
  const parts = word.parts.map((part): Part => {
    return part.type === 'Literal' && NEEDS_QUOTES.test(part.value) ? { type: 'SingleQuoted', value: part.value } : part
  })
  return partsText(parts, context, false)
}

const ARRAY = /^[A-Za-z_]\w*\+?=\(/
const NEEDS_QUOTES = /[\s'"\\|&;()<>$`]/

/** Of `x=(…)` after `declare` and `local`, which the parser stores as one text without quotes. */
function arrayText(start: string, source: string): string | null {
  const from = source.indexOf(start)
  if (from < 0) return null
  PIECE.lastIndex = from + start.length
  let depth = 1
  for (let piece = PIECE.exec(source); piece !== null; piece = PIECE.exec(source)) {
    if (piece[0] === '(') depth++
    if (piece[0] === ')') depth--
    if (depth === 0) return source.slice(from, PIECE.lastIndex)
  }
  return null
}

const PIECE = /\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[\s\S]/g

function partsText(parts: readonly Part[], context: WordContext, inQuotes: boolean): string {
  return parts.map((part, i) => partText(part, { context, inQuotes, next: parts[i + 1] })).join('')
}

type PartContext = { context: WordContext; inQuotes: boolean; next: Part | undefined }

function partText(part: Part, { context, inQuotes, next }: PartContext): string {
  switch (part.type) {
    case 'Literal':
      return inQuotes ? part.value.replace(/[$`"\\]/g, '\\$&') : part.value
    case 'SingleQuoted':
      return quoted(part.value)
    case 'DoubleQuoted':
      return `"${partsText(part.parts, context, true)}"`
    case 'Escaped':
      return `\\${part.value}`
    case 'Glob':
      return part.pattern
    case 'TildeExpansion':
      return `~${part.user ?? ''}`
    case 'CommandSubstitution': {
      const body = context.scriptText(part.body)
      return part.legacy ? `\`${body}\`` : `$(${body.startsWith('(') ? ' ' : ''}${body})`
    }
    case 'ProcessSubstitution':
      return `${part.direction === 'input' ? '<' : '>'}(${context.scriptText(part.body)})`
    case 'ArithmeticExpansion':
      return `$((${expressionText(part.expression) ?? context.partText(part).replace(/^\$\(\(|\)\)$/g, '')}))`
    case 'ParameterExpansion':
      return parameterText(part.parameter, part.operation, { context, inQuotes, next })
    default:
      return context.partText(part)
  }
}

const expressionText = ({ originalText }: ArithmeticExpression): string | null => originalText ?? null

function parameterText(name: string, operation: Operation | null, { context, next }: PartContext): string {
  if (operation !== null) return `\${${operationText(name, operation, context)}}`
  const isPlain = /^(?:[?#@*$!\-0-9]|[A-Za-z_]\w*)$/.test(name)
  if (!isPlain || needsBraces(next) || isInBraces(name, context.source)) return `\${${name}}`
  return `$${name}`
}

function needsBraces(next: Part | undefined): boolean {
  const text = next?.type === 'Literal' ? next.value : next?.type === 'Glob' ? next.pattern : ''
  return /^[\w[]/.test(text)
}

function isInBraces(name: string, source: string): boolean {
  if (!source.includes(`\${${name}}`)) return false
  const at = source.indexOf(`$${name}`)
  return at < 0 || /\w/.test(source[at + 1 + name.length] ?? '')
}

function operationText(name: string, operation: Operation, context: WordContext): string {
  const text = (word: Word | null) => (word === null ? '' : wordText(word, context))
  switch (operation.type) {
    case 'Length':
      return `#${name}`
    case 'DefaultValue':
      return `${name}${operation.checkEmpty ? ':' : ''}-${text(operation.word)}`
    case 'AssignDefault':
      return `${name}${operation.checkEmpty ? ':' : ''}=${text(operation.word)}`
    case 'UseAlternative':
      return `${name}${operation.checkEmpty ? ':' : ''}+${text(operation.word)}`
    case 'ErrorIfUnset':
      return `${name}${operation.checkEmpty ? ':' : ''}?${text(operation.word).replace(`${name}: `, '')}`
    case 'PatternRemoval': {
      const sign = operation.side === 'prefix' ? '#' : '%'
      return `${name}${operation.greedy ? sign + sign : sign}${text(operation.pattern)}`
    }
    case 'PatternReplacement': {
      const sign = operation.all ? '//' : operation.anchor === 'start' ? '/#' : operation.anchor === 'end' ? '/%' : '/'
      const replacement = operation.replacement === null ? '' : `/${text(operation.replacement)}`
      return `${name}${sign}${text(operation.pattern)}${replacement}`
    }
    default: {
      const whole = context.partText({ type: 'ParameterExpansion', parameter: name, operation })
      return whole.replace(/^\$\{|\}$/g, '')
    }
  }
}

export function assignmentText({ name, append, array, value }: Assignment, context: WordContext): string {
  const sign = append ? '+=' : '='
  if (array) return `${name}${sign}(${array.map((word) => commandWordText(word, context)).join(' ')})`
  return `${name}${sign}${value ? commandWordText(value, context) : ''}`
}

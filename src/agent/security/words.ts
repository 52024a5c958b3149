// What the words of a command become: quotes, escapes and braces are processed as the shell does it, and unknown parts
// become marks.

import type { Script } from '../../kits/shell/index.ts'

// A word of a script is a text with marks for parts that are unknown before it runs. The marks are characters of the
// private use area, so that a text with marks can be parsed again as a nested shell script and keeps them. If a script
// contains such characters itself, they count as unknown parts.

export const MARK = {
  /** A variable, or anything else whose value is not in the script. */
  unknown: '\uE000',
  /** The output of a command. */
  made: '\uE001',
  /** `*` that the shell expands. */
  star: '\uE002',
  /** `?` or `[…]` that the shell expands. */
  one: '\uE003',
  /** `<(…)` or `>(…)`: the name of a pipe. */
  pipe: '\uE004',
} as const

const ANY_MARK = /[\uE000-\uE004]/
const VALUE = /[\uE000\uE001\uE004]/
const ONLY_VALUES = /^[\uE000\uE001\uE004]+$/
const GLOB = /[\uE002\uE003]/

/** Whether a part of it is known only when the script runs. */
export const isUnknown = (text: string): boolean => ANY_MARK.test(text)
/** Whether it contains the value of a variable or the output of a command; a pattern for file names does not count. */
export const holdsValue = (text: string): boolean => VALUE.test(text)
/** Whether all of it is unknown. */
export const isAllUnknown = (text: string): boolean => ONLY_VALUES.test(text)
export const isGlob = (text: string): boolean => GLOB.test(text)
export const holdsOutput = (text: string): boolean => text.includes(MARK.made) || text.includes(MARK.pipe)

const MAX_PATTERN = 200

/** Whether the shell may expand the pattern to this name. The pattern must contain at least a part of the name. */
export function mayBecome(pattern: string, name: string): boolean {
  if (!isGlob(pattern) || holdsValue(pattern) || pattern.length > MAX_PATTERN) return false
  const said = pattern.replace(/[^A-Za-z0-9]/g, '')
  return said.length >= 1 && matches(pattern, name)
}

/** The classic algorithm with one backtracking point, so that no pattern takes more than quadratic time. */
function matches(pattern: string, name: string): boolean {
  let [at, star, from] = [0, -1, 0]
  for (let i = 0; i < name.length; ) {
    const char = pattern[at]
    if (char === MARK.star) {
      star = at++
      from = i
    } else if (char === MARK.one || char === name[i]) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++from
    } else return false
  }
  while (pattern[at] === MARK.star) at++
  return at === pattern.length
}

export type Statement = Script['statements'][number]
export type Command = Statement['pipelines'][number]['commands'][number]
export type SimpleCommand = Extract<Command, { type: 'SimpleCommand' }>
export type Redirection = SimpleCommand['redirections'][number]
export type Word = SimpleCommand['args'][number]
export type Part = Word['parts'][number]
export type Expansion = Extract<Part, { type: 'ParameterExpansion' }>
type Braces = Extract<Part, { type: 'BraceExpansion' }>

/** The value of a variable as far as the script shows it; null otherwise. */
export type ValueOf = (variable: string) => string | null

const MAX_FIELDS = 64
const MAX_FIELD_CHARS = 100_000

/** The fields that the word becomes: more than one with braces, or where a list is expanded. */
export function fieldsOf({ parts }: Word, valueIn: ValueOf): string[] {
  const list = listIn(parts)
  if (list !== null) {
    const value = valueIn(list.parameter)
    if (list.operation === null && value !== null) return splitFields(value)
  }
  let fields = ['']
  for (const part of parts) {
    // Whatever may separate words counts as a separator here.
    const choices = isSeparator(part) ? [SEPARATOR] : choicesOf(part, valueIn)
    if (choices.length === 1) fields = fields.map((field) => joined(field, choices[0] ?? ''))
    else fields = fields.flatMap((field) => choices.map((choice) => joined(field, choice))).slice(0, MAX_FIELDS)
  }
  return fields.some((field) => field.includes(SEPARATOR)) ? fields.flatMap(splitFields) : fields
}

const SEPARATOR = '\uE005'
const isSeparator = (part: Part) => part.type === 'ParameterExpansion' && part.parameter === 'IFS'

/** One text, for places where the shell does not split words. */
export function textOf(word: Word, valueIn: ValueOf): string {
  return word.parts.map((part) => choicesOf(part, valueIn).join(' ')).join('')
}

function joined(field: string, more: string): string {
  return field.length + more.length > MAX_FIELD_CHARS ? `${field}${MARK.unknown}` : field + more
}

/** The expansion, if the word is a single one whose value is split: unquoted, or a list that keeps its items apart. */
function listIn(parts: readonly Part[]): Expansion | null {
  const [only, ...others] = parts
  if (only === undefined || others.length > 0) return null
  if (only.type === 'ParameterExpansion') return only
  if (only.type !== 'DoubleQuoted') return null
  const inner = listIn(only.parts)
  return inner !== null && /^@$|\[@\]$/.test(inner.parameter) ? inner : null
}

function splitFields(value: string): string[] {
  return value
    .split(/[ \t\n\uE005]+/)
    .filter((field) => field !== '')
    .slice(0, MAX_FIELDS)
}

function choicesOf(part: Part, valueIn: ValueOf): string[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'Escaped':
      return [part.value]
    case 'DoubleQuoted':
      return [part.parts.map((inner) => choicesOf(inner, valueIn).join(' ')).join('')]
    case 'ParameterExpansion':
      return [expansionOf(part, valueIn)]
    case 'CommandSubstitution':
      return [MARK.made]
    case 'ProcessSubstitution':
      return [MARK.pipe]
    // A number of unknown value.
    case 'ArithmeticExpansion':
      return ['1']
    case 'BraceExpansion':
      return choicesOfBraces(part, valueIn)
    case 'TildeExpansion':
      return [`~${part.user ?? ''}`]
    case 'Glob':
      return [globOf(part.pattern)]
    default:
      return [MARK.unknown]
  }
}

function expansionOf({ parameter, operation }: Expansion, valueIn: ValueOf): string {
  if (operation === null) return valueIn(parameter) ?? MARK.unknown
  switch (operation.type) {
    case 'DefaultValue':
    case 'AssignDefault':
      return valueIn(parameter) ?? (valueIn(DEFAULTS) === null ? MARK.unknown : textOf(operation.word, valueIn))
    case 'UseAlternative':
      return valueIn(DEFAULTS) === null ? MARK.unknown : textOf(operation.word, valueIn)
    default:
      return MARK.unknown
  }
}

/** The name of no variable: asks whether the text after `:-` and similar operators is used. */
export const DEFAULTS = ':-'

function choicesOfBraces({ items }: Braces, valueIn: ValueOf): string[] {
  const choices: string[] = []
  for (const item of items) {
    if (choices.length >= MAX_FIELDS) break
    if (item.type === 'Word') choices.push(...fieldsOf(item.word, valueIn))
    // Ranges of letters and numbers cannot form a command, but may be a part of a name.
    else choices.push(...rangeOf(String(item.start), String(item.end)))
  }
  return choices.slice(0, MAX_FIELDS)
}

function rangeOf(start: string, end: string): string[] {
  if (!/^[A-Za-z]$/.test(start) || !/^[A-Za-z]$/.test(end)) return [MARK.unknown]
  const [from, to] = [start.charCodeAt(0), end.charCodeAt(0)]
  const step = from <= to ? 1 : -1
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => String.fromCharCode(from + i * step))
}

function globOf(pattern: string): string {
  if (/^[@?*+!]\(/.test(pattern)) return MARK.star
  const pieces = pattern.match(/\[[!^]?\]?[^\]]*\]|\*+|[\s\S]/g) ?? []
  return pieces
    .map((piece) => {
      if (piece === '?' || (piece.length > 1 && piece.startsWith('['))) return MARK.one
      return piece.startsWith('*') ? MARK.star : piece
    })
    .join('')
}

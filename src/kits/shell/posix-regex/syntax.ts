// The syntax tree of a POSIX regular expression.

export type Anchor =
  | 'line-start'
  | 'line-end'
  | 'text-start'
  | 'text-end'
  | 'word-edge'
  | 'inside-word'
  | 'word-start'
  | 'word-end'

export type Regex =
  /** One character; `source` is its JavaScript pattern, `literal` the character if it is the only possible one. */
  | { kind: 'one'; source: string; literal: string | null }
  | { kind: 'sequence'; parts: Regex[] }
  | { kind: 'choice'; options: Regex[] }
  | { kind: 'repeat'; part: Regex; min: number; max: number }
  | { kind: 'group'; part: Regex; index: number }
  | { kind: 'back-reference'; index: number }
  | { kind: 'place'; place: Anchor }
  /** A place that JavaScript's pattern tells. */
  | { kind: 'look'; source: string }

export interface Dialect {
  /** ERE, where groups and intervals are written without a backslash; otherwise BRE. */
  extended: boolean
  escapes: Escapes
  /** A repetition of nothing or of an anchor is an error, and in basic expressions also a repetition of a repetition. */
  isStrict: boolean
  /** An unmatched `)` is literal. */
  takesLooseEnds: boolean
  /** Whether the positions of groups are needed. */
  keepsGroups: boolean
}

export interface Escapes {
  /** The character of the escape at the backslash, or null if there is no such escape. */
  read(text: string, at: number): { char: string; end: number } | null
  /** Whether a backslash in brackets escapes the following character if it is not a known escape. */
  quotesInBrackets: boolean
  /** Letters for positions and sets. */
  places: Readonly<Record<string, Anchor>>
  /** Whether `\\1` is the text of the first group. */
  hasReferences: boolean
}

/** The messages are those of GNU's library. */
export class RegexError extends Error {
  override readonly name = 'RegexError'
}

/** The value of POSIX's RE_DUP_MAX. */
export const MAX_REPEATS = 32767

export function literal(char: string): Regex {
  return { kind: 'one', source: escaped(char), literal: char }
}

/** For a pattern with or without the flag `u`, inside and outside of brackets. */
export function escaped(char: string): string {
  return /[\^$\\.*+?()[\]{}|/-]/.test(char) ? `\\${char === '-' ? 'x2d' : char}` : char
}

// What expands words, as those see it who expand a part of one.

import type { Position, Watched } from '../position.ts'
import type { ShellVariables } from '../shape.ts'
import type { Part, Run, Word } from '../words-alone.ts'
import type { ExpansionFailure } from './failure.ts'
import type { Field, Item, Separators } from './fields.ts'
import type { Pattern } from './pattern.ts'

/** What a word is expanded for: fields, or one text of an assignment, a here-document, an expression behind `=~`, or anything else. */
export type Purpose = 'fields' | 'assignment' | 'declaration' | 'document' | 'expression' | 'text'
export type ExpansionContext = { purpose: Purpose; isQuoted: boolean; splitsText: boolean }
export type PatternReading = { hasGroups?: boolean; isRaw?: boolean; folds?: boolean }

export interface Expands {
  readonly shell: Watched
  readonly position: Position
  readonly run: Run
  /** What substitutions wrote as errors. */
  stderr: string
  readonly state: ShellVariables
  readonly separators: Separators
  failure(message: string, options?: { isReported?: boolean }): ExpansionFailure
  text(parts: readonly Part[], purpose?: Purpose): Promise<string>
  pieces(parts: readonly Part[], purpose?: Purpose): Promise<Field>
  pattern(word: Word, reading?: PatternReading): Promise<Pattern>
  template(word: Word, hasMatch: boolean): Promise<(string | null)[]>
  items(parts: readonly Part[], place: ExpansionContext): Promise<Item[]>
  /** The words that the interpreter makes of a part in quotes. */
  asked(part: Part): Promise<string[]>
  key(text: string): Promise<string>
  assign(name: string, value: string): Promise<void>
}

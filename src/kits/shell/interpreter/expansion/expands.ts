// The interface of the expander for code that expands a part of a word.

import type { Position, Watched } from '../position.ts'
import type { ShellVariables } from '../shape.ts'
import type { Part, Run, Word } from '../words-alone.ts'
import type { ExpansionFailure } from './failure.ts'
import type { Field, Item, Separators } from './fields.ts'
import type { Pattern } from './pattern.ts'

/**
 * The purpose of an expansion: fields, or a single text for an assignment, a here-document, an expression after `=~`,
 * or anything else.
 */
export type Purpose = 'fields' | 'assignment' | 'declaration' | 'document' | 'expression' | 'text'
export type ExpansionContext = { purpose: Purpose; isQuoted: boolean; splitsText: boolean }
export type PatternReading = { hasGroups?: boolean; isRaw?: boolean; folds?: boolean }

export interface Expands {
  readonly shell: Watched
  readonly position: Position
  readonly run: Run
  /** The error output of substitutions. */
  stderr: string
  readonly state: ShellVariables
  readonly separators: Separators
  failure(message: string, options?: { isReported?: boolean }): ExpansionFailure
  text(parts: readonly Part[], purpose?: Purpose): Promise<string>
  pieces(parts: readonly Part[], purpose?: Purpose): Promise<Field>
  pattern(word: Word, reading?: PatternReading): Promise<Pattern>
  template(word: Word, hasMatch: boolean): Promise<(string | null)[]>
  items(parts: readonly Part[], place: ExpansionContext): Promise<Item[]>
  /** The interpreter's words for a part in quotes. */
  asked(part: Part): Promise<string[]>
  key(text: string): Promise<string>
  assign(name: string, value: string): Promise<void>
}

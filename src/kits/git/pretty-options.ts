// The format of a commit in a log.

import type { DateStyle } from './dates.ts'
import type { Visited } from './history.ts'
import type { ShownNotes } from './notes.ts'
import type { ShownEntry } from './reflog-walk.ts'

export interface PrettyOptions {
  /** A name such as `oneline`, or a text with placeholders after `format:` or `tformat:`. */
  format: string
  date: DateStyle
  abbreviates: boolean
  /** For abbreviated ids; by default as many digits as needed, but at least seven. */
  idLength?: number | undefined
  /** By id; null leaves them out. */
  decorations: ReadonlyMap<string, readonly string[]> | null
  /** The reflog entry of a commit. */
  entryOf?: (visited: Visited) => ShownEntry | null
  /** Shown after the message. */
  notes?: ShownNotes | null
  /** For a comparison of two: the side of a commit, and whether it is shown before its id. */
  sides?: { of: ((oid: string) => string) | null; isShown: boolean }
}

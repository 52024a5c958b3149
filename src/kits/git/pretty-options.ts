// How a log shows a commit.

import type { DateStyle } from './dates.ts'
import type { Visited } from './history.ts'
import type { ShownNotes } from './notes.ts'
import type { ShownEntry } from './reflog-walk.ts'

export interface PrettyOptions {
  /** A name such as `oneline`, or a text with placeholders behind `format:` or `tformat:`. */
  format: string
  date: DateStyle
  abbreviates: boolean
  /** Of abbreviated ids; as many letters as are needed, but seven at least, unless told otherwise. */
  idLength?: number | undefined
  /** By id; null leaves them out. */
  decorations: ReadonlyMap<string, readonly string[]> | null
  /** The entry of a log of refs that led to a commit. */
  entryOf?: (visited: Visited) => ShownEntry | null
  /** Shown below the message. */
  notes?: ShownNotes | null
  /** Of a comparison of two: on which of them a commit is, and whether that stands in front of its id. */
  sides?: { of: ((oid: string) => string) | null; isShown: boolean }
}

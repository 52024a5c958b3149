// The terminal for people on the wire between a runner and the service.

import { z } from 'zod'

/** Columns and rows of a terminal. */
export const TerminalSize = z.object({ cols: z.number().int().min(2).max(500), rows: z.number().int().min(1).max(300) })
export type TerminalSize = z.infer<typeof TerminalSize>
/** The newest output of a terminal that the runner keeps for those who come later. */
export const SCROLLBACK_BYTES = 256 * 1024

/**
 * object → runner: the terminal for people, on a stream whose number the object gives; the stream before it is over.
 * `starts`: a shell, if there is none. What is kept of the output follows as frames, then what comes, as on the streams of
 * ports: frames in both directions, a window of `PORT_WINDOW_BYTES` each.
 */
export const TerminalOpen = TerminalSize.extend({ stream: z.number().int().nonnegative(), starts: z.boolean() })
export type TerminalOpen = z.infer<typeof TerminalOpen>
export const TerminalOpened = z.object({
  /** A new one for each shell; null while there is none. */
  terminal: z.string().max(64).nullable(),
  /** Which byte of the output the first frame begins with. */
  from: z.number().int().nonnegative(),
  /** How many bytes it had printed when it was asked. */
  to: z.number().int().nonnegative(),
  /** Why there is none any more; empty where there never was one. */
  reason: z.string().max(500),
})
export type TerminalOpened = z.infer<typeof TerminalOpened>
/** object → runner: nobody looks any more. The shell stays. */
export const TerminalClose = z.object({})
/** runner → object: the shell is gone. Its last frame says `end`. */
export const TerminalEnded = z.object({ stream: z.number().int().nonnegative(), reason: z.string().max(500) })
export type TerminalEnded = z.infer<typeof TerminalEnded>

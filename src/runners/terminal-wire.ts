// The user's terminal on the wire between a runner and the service.

import { z } from 'zod'

/** Columns and rows of a terminal. */
export const TerminalSize = z.object({ cols: z.number().int().min(2).max(500), rows: z.number().int().min(1).max(300) })
export type TerminalSize = z.infer<typeof TerminalSize>
/** The newest terminal output that the runner keeps for viewers who connect later. */
export const SCROLLBACK_BYTES = 256 * 1024

/**
 * object → runner: opens the user's terminal on a stream whose number comes from the object; the previous stream is
 * over. `starts`: starts a shell if there is none. The kept output follows as frames, then new output, as on the
 * streams of ports: frames in both directions, each with a window of `PORT_WINDOW_BYTES`.
 */
export const TerminalOpen = TerminalSize.extend({ stream: z.number().int().nonnegative(), starts: z.boolean() })
export type TerminalOpen = z.infer<typeof TerminalOpen>
export const TerminalOpened = z.object({
  /** A new id for each shell; null while there is none. */
  terminal: z.string().max(64).nullable(),
  /** The position of the first frame in the output. */
  from: z.number().int().nonnegative(),
  /** The number of bytes of output at the time of the request. */
  to: z.number().int().nonnegative(),
  /** Why the shell has ended; empty if there never was one. */
  reason: z.string().max(500),
})
export type TerminalOpened = z.infer<typeof TerminalOpened>
/** object → runner: there are no viewers any more. The shell keeps running. */
export const TerminalClose = z.object({})
/** runner → object: the shell has ended. Its last frame has `end`. */
export const TerminalEnded = z.object({ stream: z.number().int().nonnegative(), reason: z.string().max(500) })
export type TerminalEnded = z.infer<typeof TerminalEnded>

import type { StoredEvent } from './event-log.ts'

/** A frame that is no event: progress, a new title, a failure. Not stored and never replayed. */
export type Announcement =
  | { status_update: true; type: 'info' | 'error'; id?: string; message: string; conversation_title?: string }
  | { error: true; type?: never; message: string }

/** How a session speaks on the wire. Frames are texts; several sessions of one protocol get the very same text. */
export interface SocketProtocol {
  /** What a client is told before anything else; empty where it speaks first. */
  greeting(sid: string): string[]
  /** Events as they are sent while they happen. */
  live(events: readonly StoredEvent[]): string[]
  /** Events as they are sent to a client that catches up. `newestState` is the id of the newest state event at its begin. */
  replayed(events: readonly StoredEvent[], newestState: number): string[]
  /** The replay is over. */
  ready(lastId: number): string[]
  announcement(frame: Announcement): string[]
  /** Asks for a sign of life that comes back after everything sent before it. */
  probe(): string
  /** The last words before the server closes. */
  farewell(reason: string): string[]
}

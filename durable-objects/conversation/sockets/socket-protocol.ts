import { Buffer } from 'node:buffer'
import type { Announcement, StoredEvent } from '../../../src/agent/events.ts'

/** How a session writes and reads its protocol. Frames are texts; all sessions of one protocol get the same text. */
export interface SocketProtocol {
  /** The first frame for a client; empty where the client sends first. */
  greeting(sid: string): string[]
  /** The frames for events as they happen. */
  live(events: readonly StoredEvent[]): string[]
  /** The frames for events of the replay. `newestState` is the id of the newest state event when the replay began. */
  replayed(events: readonly StoredEvent[], newestState: number): string[]
  /** The frame after the end of the replay. */
  ready(lastId: number): string[]
  announcement(frame: Announcement): string[]
  /** A probe. Its answer comes after everything that was sent before. */
  probe(): string
  /** The last frame before the server closes the socket. */
  farewell(reason: string): string[]
}

/** The length of a client's message in bytes. Text came as UTF-8, with up to three bytes for each UTF-16 unit. */
export const bytesOf = (data: string | ArrayBuffer): number =>
  typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength

// Limits incomplete WebSocket messages. The runtime buffers a message until it is complete, up to 32 MiB per socket: a thousand
// sockets that each leave out the last byte would use all memory.

import { LONGEST_MESSAGE_BYTES } from './websocket-frames.ts'

/** The limit for all sockets of an owner together. It is higher than that of a single socket, which the runtime enforces with its own error. */
const MOST_BYTES = 2 * LONGEST_MESSAGE_BYTES

export class HalfMessages {
  readonly #ofOwners = new Map<string, number>()

  /** Counts one socket. It is called with the buffered size of its message at each change; 0 at its end. Returns false above the limit. */
  shareOf(owner: string): (bytes: number) => boolean {
    let own = 0
    return (bytes) => {
      if (bytes === own) return true
      const all = (this.#ofOwners.get(owner) ?? 0) + bytes - own
      own = bytes
      if (all > 0) this.#ofOwners.set(owner, all)
      else this.#ofOwners.delete(owner)
      return all <= MOST_BYTES
    }
  }
}

// What clients have said by halves. The runtime keeps all of a message until it is whole, up to 32 MiB for each socket: a thousand
// sockets, each of which leaves out its last byte, would take all memory there is.

import { LONGEST_MESSAGE_BYTES } from './websocket-frames.ts'

/** Of all sockets of an owner together. More than one alone may have: that is refused by the runtime, which says why. */
const MOST_BYTES = 2 * LONGEST_MESSAGE_BYTES

export class HalfMessages {
  readonly #ofOwners = new Map<string, number>()

  /** The share of one socket. It says how much of its message is there, each time that changes; 0 at its end. False: that is too much. */
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

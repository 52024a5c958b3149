// What clients have said by halves. The runtime keeps all of a message until it is whole, up to 32 MiB for each socket: a thousand
// sockets, each of which leaves out its last byte, would take all memory there is.

/** Of all sockets of an owner together; as much as the runtime takes as one message. */
const MOST_BYTES = 32 * 1024 * 1024

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

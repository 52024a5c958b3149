const LIMIT_BYTES = 1024 * 1024

/** What programs print while no call listens: the last of it is kept for the next one. */
export class Between {
  #chunks: Buffer[] = []
  #bytes = 0
  #dropped = 0

  push(bytes: Buffer): void {
    this.#chunks.push(Buffer.from(bytes))
    this.#bytes += bytes.byteLength
    while (this.#bytes > LIMIT_BYTES) {
      const first = this.#chunks.shift()
      if (first === undefined) return
      const over = this.#bytes - LIMIT_BYTES
      const rest = first.subarray(Math.min(over, first.byteLength))
      this.#bytes -= first.byteLength - rest.byteLength
      this.#dropped += first.byteLength - rest.byteLength
      if (rest.byteLength > 0) this.#chunks.unshift(rest)
    }
  }

  take(): { bytes: Buffer; dropped: number } {
    const taken = { bytes: Buffer.concat(this.#chunks), dropped: this.#dropped }
    this.#chunks = []
    this.#bytes = 0
    this.#dropped = 0
    return taken
  }
}

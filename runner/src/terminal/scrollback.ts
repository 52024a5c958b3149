// The newest bytes of a terminal, by their position in its whole output.

export class Scrollback {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #start = 0
  #end = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get end(): number {
    return this.#end
  }

  /** `needed`: bytes from this position on are kept, whatever their number. */
  push(chunk: Buffer, needed: number): void {
    this.#chunks.push(chunk)
    this.#end += chunk.byteLength
    for (let first = this.#chunks[0]; first !== undefined; first = this.#chunks[0]) {
      const after = this.#start + first.byteLength
      if (this.#end - after < this.#limit || after > needed) return
      this.#chunks.shift()
      this.#start = after
    }
  }

  /** The position of the oldest kept byte: the start of a line, if the beginning was dropped and a line start is near. */
  get from(): number {
    if (this.#start === 0) return 0
    const lineEnd = this.#chunks[0]?.indexOf(0x0a) ?? -1
    return this.#start + lineEnd + 1
  }

  /** The contiguous bytes from this position, at most the requested number. */
  read(from: number, most: number): Buffer {
    let at = this.#start
    for (const chunk of this.#chunks) {
      if (from < at + chunk.byteLength) return chunk.subarray(from - at, from - at + most)
      at += chunk.byteLength
    }
    return Buffer.alloc(0)
  }
}

// The newest bytes of a terminal, by their place in all that it ever printed.

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

  /** `needed`: nothing from there on goes, however much it is. */
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

  /** Where what is kept begins: at a line, where the beginning is gone and a line is near. */
  get from(): number {
    if (this.#start === 0) return 0
    const lineEnd = this.#chunks[0]?.indexOf(0x0a) ?? -1
    return this.#start + lineEnd + 1
  }

  /** The bytes from there on, as many as are asked for and lie together. */
  read(from: number, most: number): Buffer {
    let at = this.#start
    for (const chunk of this.#chunks) {
      if (from < at + chunk.byteLength) return chunk.subarray(from - at, from - at + most)
      at += chunk.byteLength
    }
    return Buffer.alloc(0)
  }
}

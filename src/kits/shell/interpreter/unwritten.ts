// Buffers the file output of a loop with many small commands. It is written before any command could read the file:
// before the next normal step, at each pause, and when the script ends or is stopped.

import type { OutputTarget } from './output-routes.ts'

const MOST_CHARS = 256 * 1024

export class Unwritten {
  readonly #files = new Set<GatheringFile>()

  get isEmpty(): boolean {
    return this.#files.size === 0
  }

  file(append: (bytes: string) => Promise<void>): GatheringFile {
    return new GatheringFile(this.#files, append)
  }

  async write(): Promise<void> {
    for (const file of [...this.#files]) await file.flush()
  }
}

class GatheringFile implements OutputTarget {
  readonly #waiting: Set<GatheringFile>
  readonly #append: (bytes: string) => Promise<void>
  #pieces: string[] = []
  #length = 0

  constructor(waiting: Set<GatheringFile>, append: (bytes: string) => Promise<void>) {
    this.#waiting = waiting
    this.#append = append
  }

  /** In the order of the output. */
  async write(bytes: string): Promise<void> {
    if (this.#length > 0) await this.flush()
    await this.#append(bytes)
  }

  /** `gather` does no file operation, so nothing is awaited. */
  gather(bytes: string): Promise<void> | void {
    this.#pieces.push(bytes)
    this.#length += bytes.length
    this.#waiting.add(this)
    return this.#length > MOST_CHARS ? this.flush() : undefined
  }

  async flush(): Promise<void> {
    const bytes = this.#pieces.join('')
    this.#pieces = []
    this.#length = 0
    this.#waiting.delete(this)
    if (bytes !== '') await this.#append(bytes)
  }
}

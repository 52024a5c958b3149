/** A mutual exclusion lock, in the order of the requests. */
export class Lock {
  #tail: Promise<void> = Promise.resolve()
  #holders = 0

  /** Also true while others wait. */
  get isHeld(): boolean {
    return this.#holders > 0
  }

  /** Resolves with a function that releases the lock. */
  acquire(): Promise<() => void> {
    this.#holders += 1
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = () => {
        this.#holders -= 1
        resolve()
      }
    })
    const turn = this.#tail.then(() => release)
    this.#tail = this.#tail.then(() => held)
    return turn
  }

  async run<T>(action: () => Promise<T>): Promise<T> {
    const release = await this.acquire()
    try {
      return await action()
    } finally {
      release()
    }
  }
}

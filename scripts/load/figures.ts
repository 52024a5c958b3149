// The measurements: the times of each kind of work, and its errors.

export class Figures {
  readonly #ms = new Map<string, number[]>()
  readonly errors: string[] = []

  add(kind: string, ms: number): void {
    const all = this.#ms.get(kind)
    if (all === undefined) this.#ms.set(kind, [ms])
    else all.push(ms)
  }

  /** Measures the work. If it throws, this counts as an error of the run and the result is null. */
  async time<T>(kind: string, work: () => Promise<T>): Promise<T | null> {
    const startedAt = performance.now()
    try {
      const value = await work()
      this.add(kind, performance.now() - startedAt)
      return value
    } catch (error) {
      this.errors.push(`${kind}: ${error instanceof Error ? error.message : error}`)
      return null
    }
  }

  /** Work that is not measured as a whole; an exception counts as an error of the run. */
  async guard(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.errors.push(error instanceof Error ? error.message : String(error))
    }
  }

  /** One line per kind: count, rate per second, and median, 99th percentile and maximum in milliseconds. */
  lines(seconds: number): string[] {
    return [...this.#ms]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([kind, ms]) => {
        const sorted = ms.toSorted((a, b) => a - b)
        const at = (share: number) =>
          Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
        const rate = (ms.length / seconds).toFixed(1)
        return `${kind.padEnd(28)}${String(ms.length).padStart(7)}  ${rate.padStart(6)}/s  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  most ${at(1)} ms`
      })
  }
}

/** Resolves when the work has ended, however it did, or the time is over. The work goes on. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  work.then(
    () => resolve(),
    () => resolve(),
  )
  await promise
  clearTimeout(timer)
}

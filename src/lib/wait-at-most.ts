/** Resolves when the work has ended, in any way, or the time is over. The work goes on. */
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

/** The result of the work; throws the error of `late` after the time limit. The work itself goes on. */
export async function inTime<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const isOver = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  try {
    return await Promise.race([work, isOver])
  } finally {
    clearTimeout(timer)
  }
}

/** For callers that only report that there was no answer. */
export const noAnswerWithin = (ms: number) => (): Error => new Error(`no answer within ${ms} ms`)

/** The result of the work, or the signal's reason at once, so that work that ignores the signal cannot hold up the caller. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // The losing promise may still fail; its error is ignored.
  work.catch(() => undefined)
  if (signal.aborted) throw signal.reason
  let leave = () => {}
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Waits; throws the signal's reason if that fires first. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  signal?.throwIfAborted()
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await (signal ? unlessAborted(signal, elapsed) : elapsed)
  } finally {
    clearTimeout(timer)
  }
}

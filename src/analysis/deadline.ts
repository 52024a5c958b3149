/** What a bounded piece of work came to. */
export type Bounded<T> = { ok: true; value: T } | { ok: false; reason: 'deadline' | 'cancelled' }

export type Bound = { timeoutMs: number; signal: AbortSignal }

/**
 * Runs work that may not outlast its deadline or the caller's signal. The work is told through its own signal; one that does
 * not listen is left behind. An error of the work itself is thrown on.
 */
export async function within<T>(
  { timeoutMs, signal }: Bound,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Bounded<T>> {
  if (signal.aborted) return { ok: false, reason: 'cancelled' }
  const controller = new AbortController()
  const ended = Promise.withResolvers<Bounded<T>>()
  const end = (reason: 'deadline' | 'cancelled') => {
    ended.resolve({ ok: false, reason })
    controller.abort(new Error(reason))
  }
  const cancel = () => end('cancelled')
  const timer = setTimeout(() => end('deadline'), timeoutMs)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const done = work(controller.signal).then(
      (value): Bounded<T> => ({ ok: true, value }),
      (error): Promise<Bounded<T>> => {
        // Work that was told to end may say so in any words; only what it fails with by itself counts.
        if (controller.signal.aborted) return ended.promise
        throw error
      },
    )
    return await Promise.race([ended.promise, done])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

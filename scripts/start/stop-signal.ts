const CHECK_PARENT_EVERY_MS = 200

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Aborts when this process is told to stop or has lost its parent: npm dies of a signal without telling its child. A
 * second signal calls `hurry`.
 */
export function stopSignal(hurry: () => void): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) hurry()
    else controller.abort()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    if (!controller.signal.aborted) controller.abort()
  }, CHECK_PARENT_EVERY_MS)
  watch.unref()
  return controller.signal
}

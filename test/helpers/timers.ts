import { onTestFinished } from 'vitest'

export type HeldTimers = {
  /** How many are set and neither cleared nor gone off. */
  readonly waiting: number
  /** Those that are set from here on, by whom it may be, are ordinary ones. */
  takeNoMore(): void
  /** Has those that are set go off. */
  goOff(): void
}

const NEVER_MS = 2_147_483_647

/**
 * Until the test is over, timers of exactly this length, those of `AbortSignal.timeout` among them, go off when it says so
 * and never by themselves. So a limit of time falls where the test wants it, at any pace of the machine. The length is to
 * be one that nothing else sets.
 */
export function heldTimers(delayMs: number): HeldTimers {
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const { timeout } = AbortSignal
  const held = new Map<unknown, () => void>()
  let isHolding = true
  Object.assign(globalThis, {
    setTimeout: (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      if (ms !== delayMs || !isHolding) return set(callback, ms, ...args)
      const timer = set(callback, NEVER_MS)
      held.set(timer, () => callback(...args))
      return timer
    },
    clearTimeout: (timer?: ReturnType<typeof setTimeout>) => {
      held.delete(timer)
      clear(timer)
    },
  })
  AbortSignal.timeout = (ms) => {
    if (ms !== delayMs || !isHolding) return timeout.call(AbortSignal, ms)
    const controller = new AbortController()
    held.set(controller, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')))
    return controller.signal
  }
  onTestFinished(() => {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
    AbortSignal.timeout = timeout
  })
  return {
    get waiting() {
      return held.size
    },
    takeNoMore: () => {
      isHolding = false
    },
    goOff: () => {
      for (const [timer, goOff] of [...held]) {
        held.delete(timer)
        if (!(timer instanceof AbortController)) clear(timer as ReturnType<typeof setTimeout>)
        goOff()
      }
    },
  }
}

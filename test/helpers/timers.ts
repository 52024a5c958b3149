import { onTestFinished } from 'vitest'

export type HeldTimers = {
  /** The number of timers that are set and have neither been cleared nor fired. */
  readonly waiting: number
  /** All timers set from now on are ordinary ones. */
  takeNoMore(): void
  /** Fires the timers that are set. */
  goOff(): void
}

const NEVER_MS = 2_147_483_647

/**
 * Until the test ends, timers of exactly this length, including those of `AbortSignal.timeout`, only fire when the test fires them
 * and never by themselves. So the test decides when a timeout happens, at any speed of the machine. The length must
 * be one that no other code uses.
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

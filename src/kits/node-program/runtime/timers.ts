// The clocks of the program: its timers, and what it puts off until the stack is empty.

import { isOver } from './ending.ts'
import { wrongType } from './errors.ts'
import { guarded } from './uncaught.ts'

type Callback = (...args: unknown[]) => unknown

/** The runtime's own, which the program's take the places of. */
export const clocks = {
  setTimeout: globalThis.setTimeout.bind(globalThis),
  clearTimeout: globalThis.clearTimeout.bind(globalThis),
  queueMicrotask: globalThis.queueMicrotask.bind(globalThis),
}

export const wait = (ms: number) => new Promise<void>((resolve) => void clocks.setTimeout(resolve, ms))

const isCallback = (given: unknown): given is Callback => typeof given === 'function'

export function callable(given: unknown): Callback {
  if (!isCallback(given)) throw wrongType('The "callback" argument must be of type function', given)
  return given
}

const ticks: (() => unknown)[] = []
let depth = 0

export function nextTick(run: unknown, ...args: unknown[]): void {
  const callback = callable(run)
  ticks.push(() => callback(...args))
  // From a promise's callback they wait until no other is ready, which only a task of its own can tell.
  if (depth === 0 && ticks.length === 1) clocks.setTimeout(drainTicks, 0)
}

/** What a program put off comes before the promises that are settled by then, and before any timer. */
function drainTicks(): void {
  depth++
  for (let next = ticks.shift(); next !== undefined && !isOver(); next = ticks.shift()) guarded(next)
  depth--
}

export function asMacrotask(run: () => unknown): void {
  depth++
  try {
    run()
  } finally {
    if (--depth === 0) drainTicks()
  }
}

/** How many timers the program waits for. */
let pending = 0
export const hasPending = () => pending > 0 || ticks.length > 0

type Setting = { run: Callback; ms: number; args: unknown[]; repeats: boolean }

class Timer {
  readonly #setting: Setting
  #id: ReturnType<typeof globalThis.setTimeout> | undefined
  /** Whether the program waits for it. */
  #counts = true
  #isActive = false

  constructor(setting: Setting) {
    this.#setting = setting
    this.#arm()
  }
  #arm(): void {
    if (!this.#isActive) {
      this.#isActive = true
      if (this.#counts) pending++
    }
    this.#start()
  }
  #start(): void {
    this.#id = clocks.setTimeout(() => this.#fire(), this.#setting.ms)
  }
  #fire(): void {
    if (!this.#isActive) return
    const { run, args, repeats } = this.#setting
    if (!repeats) this.close()
    drainTicks()
    asMacrotask(() => guarded(() => run(...args)))
    if (repeats && this.#isActive && !isOver()) this.#start()
  }
  ref(): this {
    if (!this.#counts && this.#isActive) pending++
    this.#counts = true
    return this
  }
  unref(): this {
    if (this.#counts && this.#isActive) pending--
    this.#counts = false
    return this
  }
  hasRef(): boolean {
    return this.#counts
  }
  refresh(): this {
    clocks.clearTimeout(this.#id)
    this.#arm()
    return this
  }
  close(): this {
    clocks.clearTimeout(this.#id)
    if (this.#isActive && this.#counts) pending--
    this.#isActive = false
    return this
  }
  [Symbol.toPrimitive](): number {
    return Number(this.#id) || 0
  }
  [Symbol.dispose](): void {
    this.close()
  }
}

const msOf = (given: unknown) => Math.max(1, Number(given) || 0)

function clear(timer: unknown): void {
  if (timer instanceof Timer) timer.close()
}

export const timers = {
  setTimeout: (run: unknown, ms?: unknown, ...args: unknown[]) =>
    new Timer({ run: callable(run), ms: msOf(ms), args, repeats: false }),
  setInterval: (run: unknown, ms?: unknown, ...args: unknown[]) =>
    new Timer({ run: callable(run), ms: msOf(ms), args, repeats: true }),
  setImmediate: (run: unknown, ...args: unknown[]) => new Timer({ run: callable(run), ms: 0, args, repeats: false }),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
}

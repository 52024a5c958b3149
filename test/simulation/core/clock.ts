// Isolates, and the only clock that they have. A timer belongs to the isolate that set it and dies with it, as does whatever the
// isolate still waits for.

import { AsyncLocalStorage } from 'node:async_hooks'

/** What a dead isolate waits for. */
export const NEVER = new Promise<never>(() => {})

/** In which isolate this code runs; none for the world itself. */
export const isolates = new AsyncLocalStorage<Isolate>()

export class Isolate {
  readonly name: string
  isDead = false
  /** Of its calls elsewhere, those without an answer. */
  openCalls = 0
  readonly #callers = new Set<(error: Error) => void>()

  constructor(name: string) {
    this.name = name
  }

  /** Whether somebody waits for something of it. */
  get isAsked(): boolean {
    return this.#callers.size > 0
  }

  /** Runs the work in here. Whoever waits for it learns of the death of the isolate, and not what came of the work. */
  enter<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.isDead) return reject(new Error(`${this.name} is gone`))
      this.#callers.add(reject)
      const end = (settle: () => void) =>
        this.gated(() => {
          this.#callers.delete(reject)
          settle()
        })
      isolates
        .run(this, async () => work())
        .then(
          (value) => end(() => resolve(value)),
          (error) => end(() => reject(error)),
        )
    })
  }

  /** Lets something out. */
  gated(send: () => void): void {
    if (!this.isDead) send()
  }

  die(): void {
    if (this.isDead) return
    this.isDead = true
    for (const reject of this.#callers) reject(new Error(`${this.name} is gone`))
    this.#callers.clear()
  }
}

/** What is thrown by an isolate that has died meanwhile is heard by nobody, as in the runtime. */
export function runIn(isolate: Isolate, run: () => void): void {
  try {
    isolates.run(isolate, run)
  } catch (error) {
    if (!isolate.isDead) throw error
  }
}

type Timer = { id: number; at: number; everyMs: number | null; isolate: Isolate | undefined; run: () => void }

export class Clock {
  readonly #onChange: (now: number) => void
  #timers: Timer[] = []
  #lastId = 0
  #now: number

  constructor(now: number, onChange: (now: number) => void) {
    this.#now = now
    this.#onChange = onChange
    onChange(now)
  }

  get now(): number {
    return this.#now
  }

  set(run: () => void, afterMs: number, isRepeated = false): number {
    const ms = Math.max(isRepeated ? 1 : 0, Number.isFinite(afterMs) ? afterMs : 0)
    const id = ++this.#lastId
    this.#timers.push({ id, at: this.#now + ms, everyMs: isRepeated ? ms : null, isolate: isolates.getStore(), run })
    return id
  }

  clear(id: number | null): void {
    const at = this.#timers.findIndex((timer) => timer.id === id)
    if (at >= 0) this.#timers.splice(at, 1)
  }

  isWaitedFor(isolate: Isolate): boolean {
    return this.#timers.some((timer) => timer.isolate === isolate)
  }

  /** Some time passes in which nothing happens by itself. */
  pass(ms: number): void {
    const next = this.#first()
    this.#move(Math.min(this.#now + ms, next?.at ?? Number.POSITIVE_INFINITY))
  }

  /** On to the next thing that waits for its time; false when nothing does. */
  advance(): boolean {
    const next = this.#first()
    if (next === undefined) return false
    this.#move(Math.max(this.#now, next.at))
    if (next.everyMs === null) this.clear(next.id)
    else next.at += next.everyMs
    if (next.isolate === undefined) next.run()
    else runIn(next.isolate, next.run)
    return true
  }

  /** The earliest of the living; of two at one time the one that was set first. */
  #first(): Timer | undefined {
    this.#timers = this.#timers.filter(({ isolate }) => isolate?.isDead !== true)
    let first: Timer | undefined
    for (const timer of this.#timers)
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.id < first.id)) first = timer
    return first
  }

  #move(to: number): void {
    if (to === this.#now) return
    this.#now = to
    this.#onChange(to)
  }
}

// What isolates, objects, sockets and the database meet between each other. Everything that is on its way waits here in lines: each
// line keeps its order, and chance picks the line that goes on. Chance also decides what is lost, and who dies when.

import { hashOf, Random } from '../random.ts'
import { Clock, type Isolate, isolates, NEVER } from './clock.ts'

export const BEGAN_AT = Date.parse('2026-08-13T01:35:00Z')
const LOST_SHARE = 0.02
const DEATH_SHARE = 0.02

/** One turn of the real loop: everything that waits for no clock has gone on. */
export const turn = (() => {
  const next = globalThis.setImmediate
  return () => new Promise<void>((resolve) => next(resolve))
})()
export const atTurnEnd = (() => {
  const next = globalThis.setImmediate
  return (commit: () => void) => void next(commit)
})()

type Happening = { readonly label: string; run: () => void }

/** What keeps its order. */
export class Line {
  readonly waiting: Happening[] = []

  /** All but the first few never arrive. */
  lose(from: number): void {
    for (const happening of this.waiting.slice(from)) happening.run = () => {}
  }
}

export class CoreWorld {
  readonly random: Random
  readonly clock: Clock
  readonly faults: string[] = []
  readonly story: string[] = []
  /** By where they came. */
  readonly deaths = new Map<string, number>()
  /** Losses and deaths that may still come. */
  hazards: number
  readonly #lines: Line[] = []

  constructor(seed: number, onTime: (now: number) => void) {
    this.random = new Random(seed)
    this.clock = new Clock(BEGAN_AT, onTime)
    this.hazards = this.random.chance(0.02) ? 40 : this.random.below(10)
  }

  get isQuiet(): boolean {
    return this.#lines.length === 0
  }

  tell(text: string): void {
    this.story.push(`${this.clock.now - BEGAN_AT} ${text}`)
  }

  fault(text: string): void {
    if (!this.faults.includes(text)) this.faults.push(text)
    this.tell(`FAULT ${text}`)
  }

  /** The same for the same story. */
  get hash(): string {
    return hashOf(this.story)
  }

  later(label: string, run: () => void, line = new Line()): void {
    if (line.waiting.length === 0) this.#lines.push(line)
    line.waiting.push({ label, run })
  }

  /** One thing that is on its way arrives. */
  step(): void {
    const at = this.random.below(this.#lines.length)
    const line = this.#lines[at] as Line
    const happening = line.waiting.shift() as Happening
    if (line.waiting.length === 0) {
      this.#lines[at] = this.#lines.at(-1) as Line
      this.#lines.pop()
    }
    this.tell(happening.label)
    happening.run()
  }

  /**
   * A call from one isolate to somewhere else: it, or its answer, may be lost, its caller may die of it, and neither comes at once.
   * It goes out when what its caller wrote before is stored.
   */
  call<T>(label: string, work: () => T | Promise<T>): Promise<T> {
    const from = isolates.getStore()
    if (from?.isDead) return NEVER
    if (from !== undefined) from.openCalls += 1
    return new Promise<T>((resolve, reject) => {
      const settle = (end: () => void) =>
        this.later(`${label}: answered`, () => {
          if (from !== undefined) from.openCalls -= 1
          if (from === undefined || !(from.isDead || this.dies(from, `before the answer of ${label}`))) end()
        })
      const lost = () => settle(() => reject(new Error(`${label}: no connection`)))
      const arrive = () => {
        if (from !== undefined && (from.isDead || this.dies(from, `before ${label}`))) return
        if (this.strikes(LOST_SHARE)) return lost()
        const isAnswerLost = this.strikes(LOST_SHARE)
        isolates
          .exit(async () => work())
          .then(
            (value) => (isAnswerLost ? lost() : settle(() => resolve(value))),
            (error) => settle(() => reject(error)),
          )
      }
      if (from === undefined) this.later(label, arrive)
      else from.gated(() => this.later(label, arrive))
    })
  }

  /** Whether the isolate dies here. */
  dies(isolate: Isolate, where: string): boolean {
    if (!this.strikes(DEATH_SHARE)) return false
    this.noteDeath(`${isolate.name} ${where}`)
    isolate.die()
    return true
  }

  noteDeath(where: string): void {
    this.deaths.set(where, (this.deaths.get(where) ?? 0) + 1)
    this.tell(`death: ${where}`)
  }

  strikes(share: number): boolean {
    if (this.hazards === 0 || !this.random.chance(share)) return false
    this.hazards -= 1
    return true
  }
}

/** The one that is played: what the runtime gives by global names finds it here. */
let played: CoreWorld | null = null
export function play(world: CoreWorld): void {
  played = world
}
export function currentWorld(): CoreWorld {
  if (played === null) throw new Error('no world is played')
  return played
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

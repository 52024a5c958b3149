// Who is held up: starved of its processor, or stopped, for longer than its heartbeats are apart. It is not dead, and nobody can tell.

import { vi } from 'vitest'
import type { Random } from '../random.ts'
import type { Machine } from './machine.ts'
import type { Network } from './network.ts'

const LEAST_MS = 5_000
const MOST_MS = 60_000
/** What a call waits for its machine where another one is free, `RETURN_BEFORE_OTHERS_MS`, less the first look: a loss is allowed from here on. */
export const GIVEN_UP_MS = 6_000
/** A hold-up before a step may be the reason that no machine is there. */
const BEFORE_MS = 20_000

type Deps = { network: Network; random: Random; tell(text: string): void }

export class HoldUps {
  readonly #deps: Deps
  readonly #ofMachines: { from: number; until: number }[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  machine(name: string): void {
    const ms = this.#length()
    this.#ofMachines.push({ from: Date.now(), until: Date.now() + ms })
    this.#deps.network.hold(name, ms)
  }

  /** Its clock has gone on when it is back, while what came in meanwhile is still to be read; connections may be gone by then. */
  service(): void {
    const { network, random } = this.#deps
    const share = random.pick([0, 0.5, 1])
    for (const connection of [...network.connections]) if (random.next() < share) connection.cut()
    this.#stopService(random.below(3_000))
  }

  /** The machine has no connection for so long, and goes on with its command. */
  away(machine: Machine, ms: number): void {
    this.#ofMachines.push({ from: Date.now(), until: Date.now() + ms })
    this.#deps.network.hold(machine.name, ms)
    for (const connection of machine.connections) connection.cut()
  }

  /** For so long the pool does not take the machine, which comes back to its conversation sooner. */
  keepFromPool(machine: Machine, ms: number): void {
    const { network } = this.#deps
    const { entry } = network
    const until = Date.now() + ms
    if (entry === null) return
    network.entry = async (path, bearer) =>
      bearer === machine.name && Date.now() < until ? 503 : await entry(path, bearer)
  }

  /** The machine's connections are gone and it is back in four seconds, in which the service is held up for longer than it waits. */
  cutOff(machine: Machine): void {
    const { network, random } = this.#deps
    network.hold(machine.name, 4_000)
    for (const connection of machine.connections) connection.cut()
    this.#stopService(random.below(3_500))
  }

  /** The longest time that a machine was held up since then, or shortly before. */
  since(at: number): number {
    const lengths = this.#ofMachines.map(
      ({ from, until }) => Math.min(until, Date.now()) - Math.max(from, at - BEFORE_MS),
    )
    return Math.max(0, ...lengths)
  }

  #stopService(inMs: number): void {
    const ms = this.#length()
    setTimeout(() => {
      this.#deps.tell(`the service is held up for ${ms} ms`)
      vi.setSystemTime(Date.now() + ms)
    }, inMs)
  }

  #length(): number {
    return LEAST_MS + this.#deps.random.below(MOST_MS - LEAST_MS)
  }
}

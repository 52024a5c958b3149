// Whoever has commands run on a lent machine, and what must be true of them: none is begun twice, each comes to its end, and what the
// service tells of one is what the machine did.

import type { Disk } from '../disk.ts'
import { type Lent, newLent, type Pool, type Result, type Step } from './lent.ts'
import { type Command, linesOf, Machine } from './machine.ts'
import { type CoreWorld, sleep } from './world.ts'

const AGAIN_MS = 700

export class Lending {
  readonly lent: Lent
  readonly pool: Pool
  readonly machine: Machine
  /** Of which nobody has answered that it is taken. */
  waiting = 0
  readonly #commands = new Map<string, Command>()
  readonly #world: CoreWorld

  constructor(world: CoreWorld, disks: { lent: Disk; pool: Disk }) {
    this.#world = world
    const { lent, pool } = newLent(world, disks)
    this.lent = lent
    this.pool = pool
    this.machine = new Machine(world, { lent, pool })
  }

  async command(): Promise<void> {
    const { random } = this.#world
    const key = `command-${this.#commands.size}`
    const command = { lines: random.below(4), restMs: random.pick([1, 50, 3_000]), exitCode: random.below(3) }
    this.#commands.set(key, command)
    this.waiting += 1
    const ask = () => this.lent.call('add', (object) => object.add(key, JSON.stringify(command)))
    while (
      !(await ask().then(
        () => true,
        () => false,
      ))
    )
      await sleep(AGAIN_MS)
    this.waiting -= 1
  }

  judge(): void {
    const steps = this.lent.disk.read<Step>('SELECT * FROM steps')
    for (const [key, command] of this.#commands) {
      const step = steps.find((one) => one.key === key)
      if (step === undefined) this.#world.fault(`${key} was taken and is not there`)
      else this.#judgeStep(step, command)
    }
    if (steps.length === 0) return
    const left = this.lent.disk.read<{ key: string }>('SELECT key FROM runner_calls')
    if (left.length > 0) this.#world.fault(`calls are left: ${left.map(({ key }) => key)}`)
  }

  #judgeStep({ key, result }: Step, command: Command): void {
    const { machine } = this
    const times = machine.begun.get(key) ?? 0
    const { output, exitCode, failure } = JSON.parse(result ?? 'null') as Result
    this.#world.tell(`${key}: ${failure ?? exitCode}`)
    if (times > 1) this.#world.fault(`${key} was begun ${times} times`)
    if (failure !== null) {
      if (times > 0 && machine.deaths === 0) this.#world.fault(`${key} was begun, nobody died, and it ${failure}`)
      return
    }
    if (times === 0) this.#world.fault(`${key} has an outcome and was never begun`)
    if (exitCode !== command.exitCode || output !== linesOf(key, command).join(''))
      this.#world.fault(`${key} ended with ${exitCode} and printed ${JSON.stringify(output)}`)
  }
}

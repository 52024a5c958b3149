// Steps that were given up while their machine lived, because it was away for longer than a call waits where another one is free:
// once it is back their outcome is told after all, once.

import { type Command, isCall } from './command.ts'
import type { Machine } from './machine.ts'
import type { Service } from './service.ts'

/** A machine that is back asks again every two seconds, and tells an outcome without its files after three attempts. */
const TOLD_WITHIN_MS = 30_000

export class GivenUp {
  readonly #ranOn = new Map<string, Machine>()
  readonly #commands: { readonly command: Command; readonly at: number }[] = []
  /** Told afterwards. */
  told = 0

  ran(key: string, machine: Machine): void {
    this.#ranOn.set(key, machine)
  }

  add(command: Command): void {
    this.#commands.push({ command, at: Date.now() })
  }

  /** What is wrong with them once all machines are back. */
  async audit(service: Service, round: () => Promise<void>): Promise<string[]> {
    const faults: string[] = []
    for (const { command, at } of this.#commands) {
      const machine = this.#ranOn.get(command.key)
      // What nobody ran has no outcome, and that of a machine which died later was lost with it.
      if (machine === undefined || machine.deaths.some((death) => death >= at - 60_000)) continue
      const since = Date.now()
      while (service.toldLate(command.key).length === 0 && Date.now() - since < TOLD_WITHIN_MS) await round()
      const told = service.toldLate(command.key)
      this.told += told.length
      if (told.length !== 1) faults.push(`${command.key} was given up and its outcome told ${told.length} times`)
      else if (
        !told[0]?.includes(isCall(command) ? `"exitCode":${command.exitCode}` : `exit code ${command.exitCode}.`)
      )
        faults.push(`${command.key} is told as ${told[0]}`)
    }
    return faults
  }
}

// Schedules in which one thing happens: a machine that lives is out of reach in its command.

import { commandOf } from './command.ts'
import type { Machine } from './machine.ts'
import type { Schedule } from './schedule.ts'

type Make = typeof commandOf

/**
 * The connections of a machine are cut in its command and it is back in four seconds, in which the service is held up for longer
 * than it waits: how the command ended.
 */
export async function heldUp(schedule: Schedule, make: Make): Promise<void> {
  await schedule.begin(0)
  await schedule.take(commandOf('first', schedule.random), false)
  const command = { ...make('second', schedule.random), restMs: 400, lines: 5 }
  schedule.onRun = (key) => {
    const machine = schedule.connected()
    if (key !== command.key || machine === undefined) return
    schedule.holdUps.cutOff(machine)
  }
  await schedule.take(command, false)
  await schedule.end()
}

/** The machine has no connection in its command and lives; another one takes the next command: simulated time from there to its end. */
export async function away(schedule: Schedule, make: Make): Promise<number> {
  await schedule.begin(0)
  await schedule.take(commandOf('first', schedule.random), false)
  const command = { ...make('second', schedule.random), restMs: 400, lines: 5 }
  let cutAt = 0
  let machine: Machine | undefined
  schedule.onRun = (key) => {
    machine = key === command.key ? schedule.connected() : machine
    if (key !== command.key || machine === undefined) return
    cutAt = Date.now()
    schedule.holdUps.away(machine, 12_000)
  }
  await schedule.take(command, false)
  await schedule.take({ ...commandOf('third', schedule.random), restMs: 10 }, false)
  const tookMs = Date.now() - cutAt
  if (machine === undefined || schedule.connected() === machine) schedule.faults.push('no other machine took it')
  await schedule.end()
  return tookMs
}

/**
 * The machine has no connection for four seconds, less than its command waits, and is back at its conversation before the pool has
 * it: the command is not given up.
 */
export async function awayForMoment(schedule: Schedule, make: Make): Promise<void> {
  await schedule.begin(0)
  await schedule.take(commandOf('first', schedule.random), false)
  const command = { ...make('second', schedule.random), restMs: 400, lines: 5 }
  schedule.onRun = (key) => {
    const machine = schedule.connected()
    if (key !== command.key || machine === undefined) return
    schedule.holdUps.away(machine, 4_000)
    schedule.holdUps.keepFromPool(machine, 9_000)
  }
  await schedule.take(command, false)
  await schedule.end()
}

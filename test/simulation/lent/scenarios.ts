// Schedules in which one thing happens: a machine that lives is out of reach in its command.

import { type Command, commandOf } from './command.ts'
import type { Machine } from './machine.ts'
import type { Schedule } from './schedule.ts'

type Make = typeof commandOf

/** Takes two commands; `act` is done to the machine that runs the second one, as soon as it does. */
async function inSecond(schedule: Schedule, make: Make, act: (machine: Machine) => void): Promise<void> {
  await schedule.begin(0)
  await schedule.take(commandOf('first', schedule.random), false)
  const command = { ...make('second', schedule.random), restMs: 400, lines: 5 }
  schedule.onRun = (key) => {
    const machine = schedule.connected()
    if (key === command.key && machine !== undefined) act(machine)
  }
  await schedule.take(command, false)
}

/**
 * The connections of a machine are cut in its command and it is back in four seconds, in which the service is held up for longer
 * than it waits: how the command ended.
 */
export async function heldUp(schedule: Schedule, make: Make): Promise<void> {
  await inSecond(schedule, make, (machine) => schedule.holdUps.cutOff(machine))
  await schedule.end()
}

/** The machine has no connection in its command and lives; another one takes the next command: simulated time from there to its end. */
export async function away(schedule: Schedule, make: Make): Promise<number> {
  const gone: { machine: Machine; at: number }[] = []
  await inSecond(schedule, make, (machine) => {
    gone.push({ machine, at: Date.now() })
    schedule.holdUps.away(machine, 12_000)
  })
  await schedule.take({ ...commandOf('third', schedule.random), restMs: 10 }, false)
  const last = gone.at(-1)
  const tookMs = Date.now() - (last?.at ?? 0)
  if (last === undefined || schedule.connected() === last.machine) schedule.faults.push('no other machine took it')
  await schedule.end()
  return tookMs
}

/**
 * The machine has no connection for four seconds, less than its command waits, and is back at its conversation before the pool has
 * it: the command is not given up.
 */
export async function awayForMoment(schedule: Schedule, make: Make): Promise<void> {
  await inSecond(schedule, make, (machine) => {
    schedule.holdUps.away(machine, 4_000)
    schedule.holdUps.keepFromPool(machine, 9_000)
  })
  await schedule.end()
}

/** Messages of either side that are about to arrive when somebody dies. */
export const MOMENTS = [
  ...['"method":"conversation/open"', '"method":"session/hello"', '"exclude":'],
  ...['"method":"transfer/begin"', '"method":"transfer/commit"', '"method":"frame/ack"'],
  ...['"method":"call/start"', '"state":"running"', '"method":"call/ended"', '"refused":'],
  ...['"method":"server/start"', '"method":"server/message"'],
] as const
export const VICTIMS = ['machine', 'object', 'service', 'machine and object', 'machine and service'] as const
export type Victim = (typeof VICTIMS)[number]

/** Somebody dies at one message of a step, comes back within seconds, and dies once more at any: the messages of both. */
export async function deathAt(
  schedule: Schedule,
  { moment, victim, make }: { moment: string; victim: Victim; make: Make },
): Promise<string[]> {
  await schedule.begin(0)
  const due = [moment, schedule.random.pick(MOMENTS)]
  const came: string[] = []
  schedule.network.onHeard = (text) => {
    const [next] = due
    if (next === undefined || !text.includes(next)) return
    came.push(next)
    due.shift()
    const machine = schedule.connected() ?? schedule.machines[0]
    // At once, so that it is lost; or when it has had its effect.
    const strike = () => {
      if (victim.startsWith('machine') && machine !== undefined) schedule.kill(machine)
      if (victim.endsWith('object')) schedule.service.object?.die()
      if (victim.endsWith('service')) schedule.service.restart()
    }
    if (schedule.random.chance(0.5)) strike()
    else queueMicrotask(strike)
  }
  const rest = (command: Command): Command => ({ ...command, restMs: 10 })
  for (const key of ['first', 'second']) await schedule.take(rest(make(key, schedule.random)), false)
  due.length = 0
  await schedule.take(rest(commandOf('last', schedule.random)), false)
  await schedule.end()
  return came
}

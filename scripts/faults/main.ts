// `npm run test:faults -- [SUITE …] [--kills N]`: the service under real faults. Each suite prints its books and says
// whether they balance.

import { Fault } from '../start/fault.ts'
import { agentFaults } from './agent.ts'
import { alertFaults } from './alerts.ts'
import { deployFaults } from './deploys.ts'
import { lentFaults } from './lent.ts'
import { readOptions, type SuiteName, USAGE } from './options.ts'
import { queueFaults } from './queue.ts'
import { runnerFaults } from './runner.ts'

/** Settles with true if all checks of the suite passed. */
type Suite = (options: { kills: number }) => Promise<boolean>

const SUITES: Readonly<Record<SuiteName, Suite>> = {
  agent: agentFaults,
  alerts: alertFaults,
  deploys: deployFaults,
  lent: lentFaults,
  queue: queueFaults,
  runner: runnerFaults,
}

export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(USAGE)
  try {
    const { suites, kills } = readOptions(args)
    for (const name of suites) {
      console.log(`== ${name} ==`)
      const holds = await SUITES[name]({ kills })
      if (!holds) process.exitCode = 1
    }
  } catch (error) {
    console.error(error instanceof Fault ? error.message : error)
    process.exitCode = 1
  }
  // Sockets of clients that were cut off may still be trying.
  process.exit()
}

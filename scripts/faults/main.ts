// `npm run test:faults -- [SUITE …] [--kills N]`: the service under real faults. Each suite prints its books and says
// whether they balance.

import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'
import { agentFaults } from './agent.ts'
import { deployFaults } from './deploys.ts'
import { queueFaults } from './queue.ts'
import { runnerFaults } from './runner.ts'

/** Settles with whether everything held that the suite is about. */
type Suite = (options: { kills: number }) => Promise<boolean>

const SUITES: Readonly<Record<string, Suite>> = {
  agent: agentFaults,
  deploys: deployFaults,
  queue: queueFaults,
  runner: runnerFaults,
}

const DEFAULT_KILLS = 200
const USAGE = `npm run test:faults -- [SUITE …] [--kills N]\nSuites: ${Object.keys(SUITES).join(', ')}`

export async function main(args: readonly string[]): Promise<void> {
  try {
    const { suites, kills } = read(args)
    for (const name of suites) {
      console.log(`== ${name} ==`)
      const holds = await SUITES[name]?.({ kills })
      if (holds !== true) process.exitCode = 1
    }
  } catch (error) {
    console.error(error instanceof Fault ? error.message : error)
    process.exitCode = 1
  }
  // Sockets of clients that were cut off may still be trying.
  process.exit()
}

function read(args: readonly string[]): { suites: readonly string[]; kills: number } {
  const { values, positionals } = parse(args)
  const unknown = positionals.filter((name) => !(name in SUITES))
  if (unknown.length > 0) throw new Fault(`There is no suite ${unknown.join(', ')}. ${USAGE}`)
  const kills = values.kills === undefined ? DEFAULT_KILLS : Number(values.kills)
  if (!Number.isInteger(kills) || kills < 1) throw new Fault(`--kills: found "${values.kills}". ${USAGE}`)
  return { suites: positionals.length === 0 ? Object.keys(SUITES) : positionals, kills }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { kills: { type: 'string' } }, allowPositionals: true })
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${USAGE}`)
  }
}

// The main job of both families, done against a server of its own over HTTP and WebSocket alone, as a stranger's client
// would: first a conversation whose agent works on files, with a lost socket and a restarted server on the way, then
// three stocks in one batch. With `--agent`, an agent with a model repairs a program instead; with `--runner`, one works on a
// published package with the processes of this machine.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { startScriptedModel } from '../../test/support/scripted-model.ts'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'
import { type Service, startService } from '../start/service.ts'
import { showAgent } from './agent.ts'
import { modelVariables, repairer } from './agent-script.ts'
import { showAnalysis } from './analysis.ts'
import { continueConversation, showConversation } from './conversation.ts'
import { PACKAGES } from './lent/packages.ts'
import { RIGHT } from './lent/task.ts'
import { showLentMachine } from './lent.ts'
import { heading, say } from './print.ts'

export const OUTPUT = join(ROOT, 'demo-output')

type Options = {
  /** Leaves the service running, with everything the demo made, until it is interrupted. */
  keep: boolean
  /** Shows the agent with a model, and nothing else. */
  agent: boolean
  /** Shows the agent with the real processes of this machine, and nothing else. */
  runner: boolean
}

/** The exit code: 0 when everything that was shown is true. */
export async function runDemo({ keep, agent, runner }: Options): Promise<number> {
  if (runner) return runnerPart()
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-demo-'))
  mkdirSync(OUTPUT, { recursive: true })
  const model = agent ? await startScriptedModel({ respond: repairer }) : null
  const env = model === null ? {} : modelVariables(model.url)
  let service: Service | null = null
  const start = async () => {
    service = await startService({ stateDir, env })
    return service
  }
  try {
    say('Starting the service with an empty state folder …')
    service = await start()
    say(`It answers at ${service.url}`)
    service = agent ? await agentPart(service) : await bothFamilies(service, start)
    heading('Done')
    say('What was written is in demo-output/.')
    if (keep) await untilInterrupted(service)
    return 0
  } catch (error) {
    say(`The demo failed: ${error instanceof Error ? error.message : String(error)}`)
    if (!(error instanceof Fault) && error instanceof Error) say(error.stack ?? '')
    if (service !== null) say(service.log.split('\n').slice(-20).join('\n'))
    return 1
  } finally {
    await service?.stop()
    await model?.close()
    if (!keep) rmSync(stateDir, { recursive: true, force: true })
  }
}

async function runnerPart(): Promise<number> {
  try {
    const { ended, codes, pushed, requests } = await showLentMachine(PACKAGES[1] ?? '')
    heading('Done')
    say(
      `The tests ${codes}; "${pushed}" is at the git host; pull request ${requests.join(', ')} is open; the turn ${ended}.`,
    )
    return isDeepStrictEqual({ ended, codes, pushed, requests }, RIGHT) ? 0 : 1
  } catch (error) {
    say(`The demo failed: ${error instanceof Error ? error.stack : String(error)}`)
    return 1
  }
}

async function agentPart(service: Service): Promise<Service> {
  heading('An agent repairs a program')
  await showAgent(service.url)
  return service
}

/** Returns the service that runs at the end. */
async function bothFamilies(first: Service, start: () => Promise<Service>): Promise<Service> {
  heading('1. A conversation whose agent works on files')
  const seen = await showConversation(first.url)
  say('Stopping the whole server, and starting it again on the same state folder …')
  await first.stop()
  const service = await start()
  await continueConversation(service.url, seen)

  heading('2. Three stocks in one batch')
  await showAnalysis(service.url)
  return service
}

async function untilInterrupted(service: Service): Promise<void> {
  say(`The service goes on at ${service.url}; open it in a browser. Ctrl-C ends it.`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

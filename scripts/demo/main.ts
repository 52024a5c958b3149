// The main job of both families, done against a server of its own over HTTP and WebSocket alone, as a stranger's client
// would: first a conversation whose agent works on files, with a lost socket and a restarted server on the way, then
// three stocks in one batch.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'
import { type Service, startService } from '../start/service.ts'
import { showAnalysis } from './analysis.ts'
import { continueConversation, showConversation } from './conversation.ts'
import { heading, say } from './print.ts'

export const OUTPUT = join(ROOT, 'demo-output')

type Options = {
  /** Leaves the service running, with everything the demo made, until it is interrupted. */
  keep: boolean
}

/** The exit code: 0 when everything that was shown is true. */
export async function runDemo({ keep }: Options): Promise<number> {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-demo-'))
  mkdirSync(OUTPUT, { recursive: true })
  let service: Service | null = null
  try {
    say('Starting the service with an empty state folder …')
    service = await startService({ stateDir })
    say(`It answers at ${service.url}`)

    heading('1. A conversation whose agent works on files')
    const seen = await showConversation(service.url)
    say('Stopping the whole server, and starting it again on the same state folder …')
    await service.stop()
    service = await startService({ stateDir })
    await continueConversation(service.url, seen)

    heading('2. Three stocks in one batch')
    await showAnalysis(service.url)

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
    if (!keep) rmSync(stateDir, { recursive: true, force: true })
  }
}

async function untilInterrupted(service: Service): Promise<void> {
  say(`The service goes on at ${service.url}; open it in a browser. Ctrl-C ends it.`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

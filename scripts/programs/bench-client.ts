// The client that sends requests while hostile programs run, in a separate process, so that only the service can delay it.

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand, startConversation } from '../bench/conversation.ts'
import { serveCalls } from '../bench/pinned-process.ts'

export type Probes = { program: number[]; request: number[] }

export type ClientCalls = {
  /** Creates the conversation whose events are requested and which runs trivial programs. */
  begin(job: { port: number }): Promise<void>
  /** Sends requests for about this time, with a trivial program after every few of them; returns the time of each in ms. */
  probe(job: { durationMs: number }): Promise<Probes>
}

const REQUESTS_PER_PROGRAM = 20
const PAUSE_MS = 10

const agent = new Agent({ keepAlive: true })
let port = 0
let conversation: Awaited<ReturnType<typeof startConversation>> | null = null

const calls: ClientCalls = {
  async begin(job) {
    port = job.port
    conversation = await startConversation({ worker: { port, key: '' } })
    await oneProgram()
  },
  async probe({ durationMs }) {
    const taken: Probes = { program: [], request: [] }
    for (const end = performance.now() + durationMs; performance.now() < end; ) {
      for (let i = 0; i < REQUESTS_PER_PROGRAM; i++) {
        taken.request.push(await timed(oneRequest))
        await sleep(PAUSE_MS)
      }
      taken.program.push(await timed(oneProgram))
    }
    return taken
  },
}

async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

async function oneProgram(): Promise<void> {
  if (conversation === null) throw new Error('there is no conversation yet')
  const observation = await runCommand(conversation, 'node -p "6 * 7"')
  if (!observation.includes('"content":"42')) throw new Error(`the program answered ${observation}`)
}

function oneRequest(): Promise<void> {
  const path = `${conversation?.path}/events?limit=20`
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, agent }, (answer) => {
      answer.resume().once('error', reject)
      answer.once('end', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Error(`${path}: ${answer.statusCode}`))
      })
    })
    asked.once('error', reject)
    asked.end()
  })
}

serveCalls(calls)

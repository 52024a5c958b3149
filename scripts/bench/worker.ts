// Bellwether as it is deployed: every variable at its default but those that would end a measurement, and a key that was
// issued as any other.

import { randomBytes } from 'node:crypto'
import { runtimeBelow } from '../start/usage.ts'
import type { PinnedProcess } from './pinned-process.ts'
import type { ServerCalls } from './server.ts'
import type { WorkerSide } from './stage.ts'

/** Whose key it is, and so whose everything is. */
export const OWNER = 'bench'

const UNREACHED = '999999999/1'

type Job = { script: string; stateDir: string; vars: Readonly<Record<string, string>> }

export async function startBellwether(
  server: PinnedProcess<ServerCalls>,
  { script, stateDir, vars }: Job,
): Promise<WorkerSide> {
  const root = randomBytes(32).toString('hex')
  const variables = {
    AUTH_MODE: 'keys',
    ROOT_API_KEY: root,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    // The one command that keeps an agent busy must outlast the benchmark.
    SHELL_TIMEOUT_SECONDS: '600',
    // Requests and messages are counted as ever, but one key and one socket may send as many as they can.
    RATE_LIMIT_READS: UNREACHED,
    RATE_LIMIT_WRITES: UNREACHED,
    RATE_LIMIT_STARTS: UNREACHED,
    SOCKET_MESSAGES_PER_SECOND: '1000000',
    MAX_SOCKETS_PER_OWNER: '1000000',
    MAX_STREAMS_PER_OWNER: '10000',
    MAX_STREAMS_PER_KEY: '10000',
    MAX_CONVERSATIONS_PER_OWNER: '10000000',
    MAX_OPEN_ANALYSES_PER_OWNER: '100000',
    MAX_ANALYSES_PER_DAY: '10000000',
    ...vars,
  }
  const port = await server.call('worker', { script, stateDir, vars: variables })
  const answer = await fetch(`http://127.0.0.1:${port}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-api-key': root },
    body: JSON.stringify({ owner: OWNER, name: 'bench', scopes: ['conversations', 'analysis'] }),
  })
  if (answer.status !== 201) throw new Error(`no key: ${answer.status} ${await answer.text()}`)
  const { key } = (await answer.json()) as { key: string }
  return { port, runtime: runtimeBelow(server.pid), key, rootKey: root, stop: () => server.stop() }
}

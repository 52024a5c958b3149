// One object after the other, each new: how long from the request until its first event is there.

import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection } from './http-connection.ts'
import { Watcher } from './watchers.ts'

export type CreationJob = {
  readonly port: number
  /** The raw request that makes one. */
  readonly request: string
  readonly count: number
  /** Where its events are watched, with `{id}` for the id in the answer; null when the answer itself is the end. */
  readonly socket: { readonly path: string; readonly headers: string } | null
  /** A raw request, with `{id}` again, that puts away what was made; it is not timed. */
  readonly putAway: string | null
}

export type CreationResult = { readonly p50Ms: number; readonly clientCpu: number }

/** A moment between two, so that one does not pay for what the last one left to do. */
const PAUSE_MS = 5

export async function create({ port, request, count, socket, putAway }: CreationJob): Promise<CreationResult> {
  const bytes = Buffer.from(request)
  const connection = await HttpConnection.open(port)
  const times: number[] = []
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  for (let i = 0; i < count; i++) {
    const from = performance.now()
    const answer = await connection.ask(bytes)
    if (socket !== null) {
      const path = socket.path.replace('{id}', idIn(answer))
      const watcher = await Watcher.open({ port, path, headers: socket.headers, protocol: 'plain' })
      await watcher.firstEvent
      watcher.close()
    }
    times.push(performance.now() - from)
    if (putAway !== null) await connection.ask(Buffer.from(putAway.replace('{id}', idIn(answer))))
    await sleep(PAUSE_MS)
  }
  connection.close()
  const { user, system } = process.cpuUsage(cpu)
  times.sort((a, b) => a - b)
  return {
    p50Ms: times[Math.floor(times.length / 2)] ?? Number.NaN,
    clientCpu: (user + system) / 1000 / (performance.now() - startedAt),
  }
}

function idIn(answer: string): string {
  const id = /"conversation_id":"([^"]+)"/.exec(answer)?.[1]
  if (id === undefined) throw new Error(`no conversation in ${answer}`)
  return id
}

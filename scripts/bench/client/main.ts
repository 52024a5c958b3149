// The generator as a process of its own, so that neither the server nor the report takes its time. Its parent asks; when
// the parent is gone, it goes too.

import { serveCalls } from '../pinned-process.ts'
import { type CreationJob, type CreationResult, create } from './creations.ts'
import { HttpConnection } from './http-connection.ts'
import { type LoadJob, type LoadResult, load } from './load.ts'
import { type SocketTarget, Watchers } from './watchers.ts'

export type ClientCalls = {
  load(job: LoadJob): Promise<LoadResult>
  /** One request on a connection of its own; answers the body. */
  ask(job: { port: number; request: string }): Promise<string>
  create(job: CreationJob): Promise<CreationResult>
  /** Opens a group of sockets, which stay open. */
  watch(job: { group: string; target: SocketTarget; count: number }): Promise<void>
  /** Settles when each socket of the group has got exactly so many events. */
  settled(job: { group: string; events: number }): Promise<void>
}

const groups = new Map<string, Watchers>()

const calls: ClientCalls = {
  load,
  ask: async ({ port, request }) => {
    const connection = await HttpConnection.open(port)
    try {
      return await connection.ask(Buffer.from(request))
    } finally {
      connection.close()
    }
  },
  create,
  watch: async ({ group, target, count }) => void groups.set(group, await Watchers.open(target, count)),
  settled: async ({ group, events }) => {
    const watchers = groups.get(group)
    if (watchers === undefined) throw new Error(`no sockets ${group}`)
    await watchers.until(events)
  },
}

serveCalls(calls)

// The generator as a process of its own, so that neither the server nor the report takes its time. Its parent asks; when
// the parent is gone, it goes too.

import { serveCalls } from '../pinned-process.ts'
import { type CreationJob, type CreationResult, create } from './creations.ts'
import { type DropJob, type DropResult, followThroughDrops } from './drops.ts'
import { type FanOutJob, type FanOutResult, fanOut } from './fan-out.ts'
import { HttpConnection } from './http-connection.ts'
import { type LoadJob, type LoadResult, load } from './load.ts'
import { type PipelineJob, type PipelineResult, pipeline } from './pipeline.ts'
import { type ReplayJob, type ReplayResult, replay } from './replay.ts'
import type { SocketTarget } from './socket-client.ts'
import {
  type DrainJob,
  drain,
  type ListenJob,
  listen,
  type StartJob,
  silence,
  starts,
  type TellJob,
  type Timed,
  tell,
} from './tasks.ts'
import { type DownloadJob, download, type Transfer, type UploadJob, upload } from './transfers.ts'
import { Watchers } from './watchers.ts'

export type ClientCalls = {
  load(job: LoadJob): Promise<LoadResult>
  /** One request on a connection of its own; answers the body. */
  ask(job: { port: number; request: string }): Promise<string>
  create(job: CreationJob): Promise<CreationResult>
  /** Opens a group of sockets, which stay open. */
  watch(job: { group: string; target: SocketTarget; count: number }): Promise<void>
  /** Settles when each socket of the group has got exactly so many events. */
  settled(job: { group: string; events: number }): Promise<void>
  /** Has so many sockets of the group read nothing from here on. */
  stall(job: { group: string; count: number }): Promise<void>
  /** Closes the sockets of the group. */
  leave(job: { group: string }): Promise<void>
  fanOut(job: FanOutJob): Promise<FanOutResult>
  pipeline(job: PipelineJob): Promise<PipelineResult>
  drops(job: DropJob): Promise<DropResult>
  replay(job: ReplayJob): Promise<ReplayResult>
  download(job: DownloadJob): Promise<Transfer>
  upload(job: UploadJob): Promise<Transfer>
  /** Opens event streams, which stay open until `silence`. */
  listen(job: ListenJob): Promise<void>
  silence(job: { group: string }): Promise<void>
  tell(job: TellJob): Promise<Timed>
  starts(job: StartJob): Promise<Timed>
  drain(job: DrainJob): Promise<Timed>
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
  settled: ({ group, events }) => groupOf(group).until(events),
  stall: async ({ group, count }) => groupOf(group).stall(count),
  leave: async ({ group }) => {
    groups.get(group)?.close()
    groups.delete(group)
  },
  fanOut: (job) => fanOut(job, groupOf(job.group)),
  pipeline,
  drops: followThroughDrops,
  replay,
  download,
  upload,
  listen,
  silence,
  tell,
  starts,
  drain,
}

function groupOf(name: string): Watchers {
  const watchers = groups.get(name)
  if (watchers === undefined) throw new Error(`no sockets ${name}`)
  return watchers
}

serveCalls(calls)

// What every row needs: the two servers and the generator, each a process of its own on its own core, and a way to ask.

import { join } from 'node:path'
import { ROOT } from '../start/paths.ts'
import { runtimeBelow, usageOf } from '../start/usage.ts'
import type { Bundles, SmallName } from './bundle.ts'
import type { ClientCalls } from './client/main.ts'
import { type Calls, type Cores, PinnedProcess } from './pinned-process.ts'
import type { Sample } from './rounds.ts'
import type { ServerCalls } from './server.ts'
import { startBellwether } from './worker.ts'

const BENCH = join(ROOT, 'scripts', 'bench')

export type Side = {
  readonly port: number
  /** The process that answers, where it can be found. */
  readonly runtime: number | null
}

export type WorkerSide = Side & {
  readonly key: string
  /** Of the operator, who makes other keys. */
  readonly rootKey: string
  stop(): Promise<void>
}

export type WorkerWishes = {
  /** The same Worker with a way to fill it that no client has. */
  readonly isSeeded?: boolean
  readonly vars?: Readonly<Record<string, string>>
}

export type Stage = {
  readonly client: PinnedProcess<ClientCalls>
  readonly worker: WorkerSide
  readonly small: Readonly<Record<SmallName, Side>>
  /** Runs a piece of work against a side and tells what it cost the server. */
  measured(side: Side, work: () => Promise<Work>): Promise<Sample>
  /** One more runtime with Bellwether in it, on an empty state. */
  startWorker(wishes: WorkerWishes): Promise<WorkerSide>
  /** A program of the benchmark's on the core of the servers; it calls `serveCalls`. */
  startProgram<C extends Calls>(file: string): PinnedProcess<C>
  /** Something else that ends with the stage. */
  endsWithIt(what: { stop(): Promise<void> }): void
  stop(): Promise<void>
}

type Work = { value: number; requests: number | null; clientCpu: number | null }

export async function setStage(bundles: Bundles, outDir: string, cores: Cores | null): Promise<Stage> {
  const started: { stop(): Promise<void> }[] = []
  const start = <C extends Calls>(file: string, core: number | null): PinnedProcess<C> => {
    const program = PinnedProcess.start<C>(join(BENCH, file), core)
    started.push(program)
    return program
  }
  const serverCore = cores?.server ?? null
  const startWorker = async ({ isSeeded = false, vars = {} }: WorkerWishes): Promise<WorkerSide> => {
    const script = isSeeded ? await bundles.seeded() : bundles.worker.script
    const stateDir = join(outDir, `state-${started.length}`)
    return startBellwether(start<ServerCalls>('server.ts', serverCore), { script, stateDir, vars })
  }
  const stop = async () => {
    await Promise.all(started.map((one) => one.stop()))
  }
  try {
    const client = start<ClientCalls>('client/main.ts', cores?.client ?? null)
    const worker = await startWorker({})
    const small =
      bundles.small.length === 0
        ? NO_SMALL
        : await startSmall(start('server.ts', serverCore), bundles.small, join(outDir, 'state-small'))
    const startProgram = <C extends Calls>(file: string) => start<C>(file, serverCore)
    const endsWithIt = (what: (typeof started)[number]) => void started.push(what)
    return { client, worker, small, measured, startWorker, startProgram, endsWithIt, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** On the stage of rows that have none. */
const NO_SMALL = new Proxy({} as Stage['small'], {
  get: (_, name) => {
    throw new Error(`${String(name)} is not on this stage`)
  },
})

async function startSmall(
  server: PinnedProcess<ServerCalls>,
  workers: Bundles['small'],
  stateDir: string,
): Promise<Stage['small']> {
  const ports = await server.call('small', { workers, stateDir })
  const runtime = runtimeBelow(server.pid)
  const sides = Object.entries(ports).map(([name, port]) => [name, { port, runtime }] as const)
  return Object.fromEntries(sides) as Record<SmallName, Side>
}

async function measured({ runtime }: Side, work: () => Promise<Work>): Promise<Sample> {
  const before = runtime === null ? null : usageOf(runtime)
  const startedAt = performance.now()
  const { value, requests, clientCpu } = await work()
  const elapsedMs = performance.now() - startedAt
  const after = runtime === null ? null : usageOf(runtime)
  if (before === null || after === null) return { value, clientCpu, serverMicros: null, waited: null }
  const ranMs = after.ranMs - before.ranMs
  return {
    value,
    clientCpu,
    serverMicros: requests === null ? null : (ranMs * 1000) / requests,
    serverCpu: ranMs / elapsedMs,
    waited: (after.waitedMs - before.waitedMs) / elapsedMs,
  }
}

// What every row needs: the two servers and the generator, each a process of its own on its own core, and a way to ask.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ROOT } from '../start/paths.ts'
import type { Bundles, SmallName } from './bundle.ts'
import type { ClientCalls } from './client/main.ts'
import { type Cores, PinnedProcess } from './pinned-process.ts'
import type { Sample } from './rounds.ts'
import type { ServerCalls } from './server.ts'
import { runtimeBelow, usageOf } from './usage.ts'

const BENCH = join(ROOT, 'scripts', 'bench')

export type Side = {
  readonly port: number
  /** The runtime's process, where it can be found. */
  readonly runtime: number | null
}

export type Stage = {
  readonly client: PinnedProcess<ClientCalls>
  readonly worker: Side & { readonly key: string }
  readonly small: Readonly<Record<SmallName, Side>>
  /** Runs a piece of work against a side and tells what it cost the server. */
  measured(side: Side, work: () => Promise<Work>): Promise<Sample>
  stop(): Promise<void>
}

type Work = { value: number; requests: number | null; clientCpu: number | null }

export async function setStage(bundles: Bundles, outDir: string, cores: Cores | null): Promise<Stage> {
  const servers = [0, 1].map(() => PinnedProcess.start<ServerCalls>(join(BENCH, 'server.ts'), cores?.server ?? null))
  const client = PinnedProcess.start<ClientCalls>(join(BENCH, 'client', 'main.ts'), cores?.client ?? null)
  const stop = async () => {
    await Promise.all([...servers, client].map((one) => one.stop()))
  }
  try {
    const [ours, theirs] = servers
    if (ours === undefined || theirs === undefined) throw new Error('two servers were started')
    const worker = await startWorker(ours, bundles.worker.script, join(outDir, 'state-worker'))
    const small = await startSmall(theirs, bundles.small, join(outDir, 'state-small'))
    return { client, worker, small, measured, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Bellwether as it is deployed: every variable at its default, a key that was issued as any other. */
async function startWorker(
  server: PinnedProcess<ServerCalls>,
  script: string,
  stateDir: string,
): Promise<Stage['worker']> {
  const root = randomBytes(32).toString('hex')
  const vars = {
    AUTH_MODE: 'keys',
    ROOT_API_KEY: root,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    // The one command that keeps an agent busy must outlast the benchmark.
    SHELL_TIMEOUT_SECONDS: '600',
    // Requests are counted as ever, but one key may send as many as it can.
    RATE_LIMIT_READS: '999999999/1',
    RATE_LIMIT_WRITES: '999999999/1',
    RATE_LIMIT_STARTS: '999999999/1',
  }
  const port = await server.call('worker', { script, stateDir, vars })
  const answer = await fetch(`http://127.0.0.1:${port}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-api-key': root },
    body: JSON.stringify({ owner: 'bench', name: 'bench', scopes: ['conversations', 'analysis'] }),
  })
  if (answer.status !== 201) throw new Error(`no key: ${answer.status} ${await answer.text()}`)
  const { key } = (await answer.json()) as { key: string }
  return { port, runtime: runtimeBelow(server.pid), key }
}

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
  return {
    value,
    clientCpu,
    serverMicros: requests === null ? null : ((after.ranMs - before.ranMs) * 1000) / requests,
    waited: (after.waitedMs - before.waitedMs) / elapsedMs,
  }
}

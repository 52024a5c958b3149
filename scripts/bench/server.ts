// One runtime as a process of its own: Miniflare straight from Node, each Worker on a socket of its own with nothing in
// front of it. Its parent asks it to start a side; when the parent is gone, it goes too.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Miniflare, V4WorkerOptions } from 'miniflare'
import { unstable_getMiniflareWorkerOptions, unstable_splitSqlQuery } from 'wrangler'
import { loadMiniflare } from '../start/miniflare-bundle.ts'
import { ROOT } from '../start/paths.ts'
import { modulesOf } from '../start/worker-bundle.ts'
import { CONFIG, runtimeSettings, type Small, type SmallName } from './bundle.ts'
import { serveCalls } from './pinned-process.ts'

export type ServerCalls = {
  /** Starts Bellwether on an empty database; answers its port. */
  worker(job: { script: string; stateDir: string; vars: Record<string, string> }): Promise<number>
  /** Puts other code in the place of Bellwether's, on the same state and port. */
  deploy(job: { script: string; stateDir: string; vars: Record<string, string> }): Promise<number>
  /** Starts the small Workers; answers their ports. */
  small(job: { workers: readonly Small[]; stateDir: string }): Promise<Record<SmallName, number>>
}

const miniflare = loadMiniflare()
const NAME = 'bellwether'
const SOCKET = { host: '127.0.0.1', port: 0 }

let running: Miniflare | null = null

const calls: ServerCalls = {
  worker: async ({ script, stateDir, vars }) => {
    const runtime = await start(stateDir, [bellwether(script, vars)])
    await migrate(await runtime.getD1Database('DB', NAME))
    return portOf(runtime, NAME)
  },
  deploy: async ({ script, stateDir, vars }) => {
    if (running === null) throw new Error('nothing runs that could be replaced')
    await running.setOptions(optionsOf(stateDir, [bellwether(script, vars)]))
    return portOf(running, NAME)
  },
  small: async ({ workers, stateDir }) => {
    const { compatibility_date: compatibilityDate, compatibility_flags: compatibilityFlags } = runtimeSettings()
    const runtime = await start(
      stateDir,
      workers.map(({ name, script, object }) => ({
        ...scriptOf(name, script),
        compatibilityDate,
        compatibilityFlags,
        ...(object === null ? {} : { durableObjects: { OBJECT: { className: object, useSQLite: true } } }),
      })),
    )
    const ports = await Promise.all(workers.map(async ({ name }) => [name, await portOf(runtime, name)] as const))
    return Object.fromEntries(ports) as Record<SmallName, number>
  },
}

function bellwether(script: string, vars: Record<string, string>): V4WorkerOptions {
  // Static files are served before the Worker is asked, by the platform; without them every request is the Worker's.
  const {
    assets: _assets,
    modulesRules: _rules,
    ...fromConfig
  } = unstable_getMiniflareWorkerOptions(CONFIG).workerOptions
  return { ...fromConfig, ...scriptOf(NAME, script), bindings: vars }
}

async function start(stateDir: string, workers: V4WorkerOptions[]): Promise<Miniflare> {
  running = new miniflare.Miniflare(optionsOf(stateDir, workers))
  await running.ready
  return running
}

function optionsOf(stateDir: string, workers: V4WorkerOptions[]) {
  const options = { ...SOCKET, handleStructuredLogs: pass, resourcePersistencePath: stateDir, workers }
  return miniflare.convertV4MiniflareOptions(options)
}

/** What the runtime remarks on the alarms of one that was killed is nothing to worry about. */
const REMARK = /^NOSENTRY SQLite alarm (overdue|handler canceled)/

function pass({ level, message }: { level: string; message: string }): void {
  if (REMARK.test(message)) return
  if (level === 'error' || level === 'warn') console.error(message)
  else console.log(message)
}

function scriptOf(name: string, script: string) {
  return { name, rootPath: dirname(script), modules: modulesOf(script), unsafeDirectSockets: [SOCKET] }
}

async function portOf(runtime: Miniflare, name: string): Promise<number> {
  return Number((await runtime.unsafeGetDirectURL(name)).port)
}

async function migrate(db: Awaited<ReturnType<Miniflare['getD1Database']>>): Promise<void> {
  const folder = join(ROOT, 'migrations')
  for (const file of readdirSync(folder).sort()) {
    const statements = unstable_splitSqlQuery(readFileSync(join(folder, file), 'utf8'))
    await db.batch(statements.map((statement) => db.prepare(statement)))
  }
}

serveCalls(calls, async () => running?.dispose())

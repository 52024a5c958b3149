// The process that runs Miniflare, a child of the supervisor. It gets its job over the IPC channel, so
// that no secret is on a command line or in a file, and reports the port of each runtime that it has started.

import { flushCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import type { Miniflare, V4WorkerOptions } from 'miniflare'
import { type ProgramHost, startProgramHost } from '../programs/host.ts'
import { messageOf } from './fault.ts'
import { applyMigrations, isMigrated } from './migrations.ts'
import { loadMiniflare } from './miniflare-bundle.ts'
import { HOST } from './port.ts'
import { writeLogLine } from './runtime-output.ts'
import { answerAbout } from './state-keeper.ts'
import { modulesOf, readPlan, SCRIPT_FILE } from './worker-bundle.ts'

export type HostJob = {
  readonly stateDir: string
  /** The folder with the console. */
  readonly consoleDir: string
  readonly vars: Readonly<Record<string, string>>
  /** The secret that the proxy and the Worker share. */
  readonly word: string
  /** Names in the environment that the runtime must not see. */
  readonly foreign: readonly string[]
  /** The port of the inspector; null for none. */
  readonly inspectorPort: number | null
}

export type HostNews =
  | { readonly kind: 'serving'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string }

const NAME = 'bellwether'
/** More often than the platform, so that a schedule on a developer's machine runs in its minute. */
const CRON_EVERY_MS = 60_000
const CRON = '*/5 * * * *'

export function runHost(): void {
  // Imported before the job arrives, because this takes a third of the time of a start.
  const miniflare = loadMiniflare()
  process.once('message', (job: HostJob) => void serve(job, miniflare))
  // Without the supervisor there is nothing to serve.
  process.once('disconnect', () => process.exit(0))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(0))
}

async function serve(job: HostJob, miniflare: typeof import('miniflare')): Promise<void> {
  try {
    for (const name of job.foreign) delete process.env[name]
    const plan = readPlan()
    const isUpToDate = isMigrated(job.stateDir, plan.migrations)
    const isServing = Promise.withResolvers<void>()
    const folder = join(job.stateDir, 'programs')
    const programs = await startProgramHost({ folder, runtime: plan.programs, sparesAfter: isServing.promise })
    const announce = async () => tell({ kind: 'serving', port: await portOf(runtime) })
    const runtime = new miniflare.Miniflare(
      miniflare.convertV4MiniflareOptions({
        host: HOST,
        port: 0,
        resourcePersistencePath: join(job.stateDir, 'v3'),
        handleStructuredLogs: writeLogLine,
        unsafeHandleRuntimeRestart: () => void announce(),
        cf: false,
        logRequests: false,
        ...(job.inspectorPort !== null && { inspectorHost: HOST, inspectorPort: job.inspectorPort }),
        workers: [workerOf(plan.options, job, { programs, Response: miniflare.Response })],
      }),
    )
    await runtime.ready
    if (!isUpToDate) await applyMigrations(await runtime.getD1Database('DB', NAME), plan.migrations)
    await announce()
    isServing.resolve()
    flushCompileCache()
    setInterval(() => void fireCron(runtime), CRON_EVERY_MS)
  } catch (error) {
    // The rest is a stack trace of the runtime.
    tell({ kind: 'failed', message: messageOf(error).split('\n')[0] ?? '' })
    process.exitCode = 1
    process.disconnect?.()
  }
}

type HostDeps = { programs: ProgramHost; Response: typeof import('miniflare').Response }

function workerOf(options: V4WorkerOptions, job: HostJob, { programs, Response }: HostDeps): V4WorkerOptions {
  const { vars, word, stateDir, consoleDir } = job
  return {
    ...options,
    assets: { ...options.assets, directory: consoleDir },
    name: NAME,
    rootPath: dirname(SCRIPT_FILE),
    modules: modulesOf(SCRIPT_FILE),
    bindings: { ...vars, FRONT_WORD: word },
    // An agent's endless program runs in a separate process.
    serviceBindings: {
      ...options.serviceBindings,
      PROGRAMS: { external: { address: `unix:${programs.socketPath}`, http: {} } },
      STATE: async ({ method, url }: { method: string; url: string }) => {
        const answer = answerAbout(stateDir, method, new URL(url).pathname)
        return answer === null ? new Response('no such question', { status: 404 }) : Response.json(answer)
      },
    },
    // Requests do not pass the runtime's own entry Worker, which has headers and paths for developers.
    unsafeDirectSockets: [{ host: HOST, port: 0 }],
  } as V4WorkerOptions
}

async function portOf(runtime: Miniflare): Promise<number> {
  return Number((await runtime.unsafeGetDirectURL(NAME)).port)
}

/** The platform fires the Worker's cron triggers; a local runtime fires none by itself. */
async function fireCron(runtime: Miniflare): Promise<void> {
  try {
    await (await runtime.getWorker(NAME)).scheduled({ cron: CRON })
  } catch (error) {
    // The runtime is being restarted: the next call does the due work.
    writeLogLine({ timestamp: Date.now(), level: 'warn', message: logLine('start.cron_missed', error) })
  }
}

const logLine = (event: string, error: unknown): string =>
  JSON.stringify({ level: 'warn', event, error: messageOf(error) })

function tell(news: HostNews): void {
  process.send?.(news)
}

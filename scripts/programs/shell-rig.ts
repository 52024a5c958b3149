// The agent's shell as a separate server, with or without a program host, for tests and the benchmark of
// programs. It has no state, and only the shell of the service.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { bundleFile, runtimeSettings } from '../bench/bundle.ts'
import { ROOT } from '../start/paths.ts'
import { type ProgramHost, startProgramHost } from './host.ts'
import type { Limits } from './limits.ts'
import { readProgramRuntime } from './runtime-sources.ts'
import type { ShellJob, ShellOutcome } from './shell-job.ts'

const ENTRY = join(ROOT, 'scripts', 'programs', 'entries', 'shell-worker.ts')
const NAME = 'shell'

export type ShellRequest = Partial<ShellJob> & Pick<ShellJob, 'script'>

export type ShellRig = {
  readonly host: ProgramHost
  run(job: ShellRequest): Promise<ShellOutcome>
  /** A request that takes no program, in milliseconds. */
  light(): Promise<number>
  stop(): Promise<void>
}

export async function startShellRig(limits: Partial<Limits> = {}): Promise<ShellRig> {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-shell-'))
  const script = await bundleFile(ENTRY, folder)
  const host = await startProgramHost({ folder: join(folder, 'p'), runtime: readProgramRuntime(), ...limits })
  const { compatibility_date: compatibilityDate, compatibility_flags: compatibilityFlags } = runtimeSettings()
  const contents = readFileSync(script, 'utf8')
  const worker = {
    name: NAME,
    rootPath: folder,
    modules: [{ type: 'ESModule' as const, path: 'shell-worker.js', contents }],
    compatibilityDate,
    compatibilityFlags,
    workerLoaders: { LOADER: {} },
    serviceBindings: { PROGRAMS: { external: { address: `unix:${host.socketPath}`, http: {} } } },
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  }
  const runtime = new Miniflare(convertV4MiniflareOptions({ host: '127.0.0.1', port: 0, workers: [worker] }))
  await runtime.ready
  const port = Number((await runtime.unsafeGetDirectURL(NAME)).port)
  return {
    host,
    async run({ script, ...more }) {
      const job: ShellJob = { ...DEFAULTS, script, ...more }
      return JSON.parse(await exchange({ port, method: 'POST', body: JSON.stringify(job) })) as ShellOutcome
    },
    async light() {
      const start = performance.now()
      await exchange({ port, method: 'GET' })
      return performance.now() - start
    },
    async stop() {
      await runtime.dispose()
      await host.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const DEFAULTS: Omit<ShellJob, 'script'> = {
  files: {},
  cwd: '/workspace',
  timeoutMs: 60_000,
  maxOutputChars: 30_000,
  stopAfterMs: null,
  group: 'rig',
  wanted: [],
}

type Exchange = { port: number; method: string; body?: string }

/** Without Node's `fetch`, which gives up waiting for an answer by itself. */
function exchange({ port, method, body }: Exchange): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path: '/', agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        if (answer.statusCode === 200) resolve(text)
        else reject(new Error(`${answer.statusCode}: ${text.slice(0, 500)}`))
      })
    })
    asked.once('error', reject)
    asked.end(body)
  })
}

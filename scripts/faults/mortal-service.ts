// The service on a runtime that can be killed outright at any moment: Miniflare from Node starts another one at once, on
// the same port and the same storage, as a platform would.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bundleFile, bundleWorker } from '../bench/bundle.ts'
import { PinnedProcess } from '../bench/pinned-process.ts'
import type { ServerCalls } from '../bench/server.ts'
import { buildConsole } from '../start/console.ts'
import { ROOT } from '../start/paths.ts'
import { signalIfThere } from '../start/processes.ts'
import { runtimeBelow } from '../start/usage.ts'

/** A busy machine may take its time for a runtime and its first answer. */
const BACK_WITHIN_MS = 120_000
const LOOK_EVERY_MS = 20

export type MortalService = {
  readonly url: string
  /** Of the runtime that answers now; null where there is none. */
  runtime(): number | null
  /** Ends the runtime with SIGKILL; settles with the milliseconds until another one answers. */
  kill(): Promise<number>
  /** Makes the runtime stand still for so long, as on a machine that has too much to do. */
  holdUp(ms: number): Promise<void>
  /** Puts a changed bundle in the place of the one that runs; settles with the milliseconds until that one answers. */
  deploy(): Promise<number>
  /** How often the runtime had exited by itself before the next fault. */
  ownDeaths(): number
  stop(): Promise<void>
}

const UNLIMITED = ['READS', 'WRITES', 'STARTS', 'UPLOADS', 'ANALYSES', 'WRONG_KEYS'].map(
  (name) => [`RATE_LIMIT_${name}`, 'off'] as const,
)

/** For everybody who can reach it, with every other variable at its default; the entry is one of this folder's own. */
export async function startMortalService(
  vars: Readonly<Record<string, string>>,
  entry?: string,
): Promise<MortalService> {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-faults-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await buildConsole()
  const own = entry === undefined ? null : join(ROOT, 'scripts', 'faults', 'entries', entry)
  const script = own === null ? await bundleWorker(folder) : await bundleFile(own, folder)
  const server = PinnedProcess.start<ServerCalls>(join(ROOT, 'scripts', 'bench', 'server.ts'), null)
  const variables = {
    AUTH_MODE: 'local',
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ...Object.fromEntries(UNLIMITED),
    ...vars,
  }
  const job = { script, stateDir: join(folder, 'state'), vars: variables }
  const url = `http://127.0.0.1:${await server.call('worker', job)}`
  const runtime = new WatchedRuntime(server.pid)
  let deployed = 0
  const deploy = async () => {
    deployed += 1
    const startedAt = performance.now()
    await server.call('deploy', { ...job, script: changed(script, deployed) })
    return until(startedAt, async () => (await versionAt(url)) === versionOf(deployed))
  }
  return {
    url,
    runtime: () => runtimeBelow(server.pid),
    kill: () => runtime.suffers((old) => kill(old, server.pid, url)),
    holdUp: (ms) => runtime.suffers((old) => holdUp(old, ms)),
    deploy: () => runtime.suffers(deploy).finally(() => runtime.isReplaced()),
    ownDeaths: () => runtime.ownDeaths,
    stop: () => server.stop(),
  }
}

/** The runtime may end by itself, as any program may; another one is there soon, and no fault is spared. */
class WatchedRuntime {
  readonly #server: number
  #known: number | null = null
  ownDeaths = 0

  constructor(server: number) {
    this.#server = server
  }

  async suffers<T>(fault: (runtime: number) => Promise<T>): Promise<T> {
    await until(performance.now(), async () => runtimeBelow(this.#server) !== null)
    const now = runtimeBelow(this.#server)
    if (now === null) throw new Error('the runtime ends again and again')
    if (this.#known !== null && now !== this.#known) this.ownDeaths += 1
    const outcome = await fault(now)
    this.#known = runtimeBelow(this.#server)
    return outcome
  }

  /** The process from before a deployment may exit at any time. */
  isReplaced(): void {
    this.#known = null
  }
}

/** Of the interface, as its document tells it: every changed bundle says another one. */
const VERSION = '0.53.0'
const versionOf = (deployed: number): string => `${VERSION}-${deployed}`

/** The same bundle with one word changed; answers its file. */
function changed(script: string, deployed: number): string {
  const code = readFileSync(script, 'utf8')
  const parts = code.split(`"${VERSION}"`)
  if (parts.length === 1) throw new Error(`the bundle does not hold the version ${VERSION}`)
  const file = script.replace(/\.js$/, `-${deployed}.js`)
  writeFileSync(file, parts.join(`"${versionOf(deployed)}"`))
  return file
}

async function kill(old: number, server: number, url: string): Promise<number> {
  const killedAt = performance.now()
  signalIfThere(old, 'SIGKILL')
  return until(killedAt, async () => {
    const now = runtimeBelow(server)
    return now !== null && now !== old && (await answers(url))
  })
}

async function holdUp(runtime: number, ms: number): Promise<void> {
  signalIfThere(runtime, 'SIGSTOP')
  await sleep(ms)
  signalIfThere(runtime, 'SIGCONT')
}

/** Settles with the milliseconds since then, once it is so. */
async function until(startedAt: number, isSo: () => Promise<boolean>): Promise<number> {
  while (performance.now() - startedAt < BACK_WITHIN_MS) {
    if (await isSo()) return performance.now() - startedAt
    await sleep(LOOK_EVERY_MS)
  }
  throw new Error(`no runtime answered as it should within ${BACK_WITHIN_MS / 1000} s`)
}

async function versionAt(url: string): Promise<string | null> {
  try {
    const response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(1_000) })
    return ((await response.json()) as { info: { version: string } }).info.version
  } catch {
    // The old process exited during the response, or the new one is not ready yet: retry.
    return null
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/alive`, { signal: AbortSignal.timeout(1_000) })).ok
  } catch {
    // The server does not listen yet: retry.
    return false
  }
}

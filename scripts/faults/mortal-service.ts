// The service on a runtime that can be killed outright at any moment: Miniflare from Node starts another one at once, on
// the same port and the same storage, as a platform would.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bundleFile, bundleWorker } from '../bench/bundle.ts'
import { PinnedProcess } from '../bench/pinned-process.ts'
import type { ServerCalls } from '../bench/server.ts'
import { runtimeBelow } from '../bench/usage.ts'
import { buildConsole } from '../start/console.ts'
import { ROOT } from '../start/paths.ts'
import { signalIfThere } from '../start/processes.ts'

const BACK_WITHIN_MS = 30_000
const LOOK_EVERY_MS = 20

export type MortalService = {
  readonly url: string
  /** Ends the runtime with SIGKILL; settles with the milliseconds until another one answers. */
  kill(): Promise<number>
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
  const port = await server.call('worker', { script, stateDir: join(folder, 'state'), vars: variables })
  const url = `http://127.0.0.1:${port}`
  return { url, kill: () => kill(server.pid, url), stop: () => server.stop() }
}

async function kill(server: number, url: string): Promise<number> {
  const old = runtimeBelow(server)
  if (old === null) throw new Error('there is no runtime to kill')
  const killedAt = performance.now()
  signalIfThere(old, 'SIGKILL')
  while (performance.now() - killedAt < BACK_WITHIN_MS) {
    const now = runtimeBelow(server)
    if (now !== null && now !== old && (await answers(url))) return performance.now() - killedAt
    await sleep(LOOK_EVERY_MS)
  }
  throw new Error(`no runtime answered within ${BACK_WITHIN_MS / 1000} s of a kill`)
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/alive`, { signal: AbortSignal.timeout(1_000) })).ok
  } catch {
    // Nobody listens yet: asked again.
    return false
  }
}

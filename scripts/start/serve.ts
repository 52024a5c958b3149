// From the settings to a service that runs until it is stopped.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { takeConsole } from './console.ts'
import { requireSoundDatabases } from './databases.ts'
import { Front } from './front.ts'
import { isAlive } from './health.ts'
import type { HostJob } from './host.ts'
import { startLocalRunner } from './local-runner.ts'
import { requireKnownMigrations } from './migrations.ts'
import { buildMiniflare } from './miniflare-bundle.ts'
import { withOwnOrigins } from './own-origins.ts'
import { HOST, listenPatiently } from './port.ts'
import { WORKER_VARIABLES } from './quiet-environment.ts'
import { type Host, startHost } from './runtime.ts'
import { lockedAway } from './sealed-values.ts'
import { withRunnerToken, withSecretsKey } from './secrets-key.ts'
import type { Settings } from './settings.ts'
import { requireRestored, type StateFolder, takeStateFolder } from './state-folder.ts'
import { supervise } from './supervisor.ts'
import { buildWorker, readPlan } from './worker-bundle.ts'

const WORD_BYTES = 32

type Service = {
  readonly settings: Settings
  /** A host that was started in advance, for the first runtime. */
  readonly host: Host | null
  readonly stopped: AbortSignal
  /** A runner is started beside the service when that is ready. */
  readonly withRunner: boolean
  /** The port of the runtime's inspector; null for none. A runtime that a debugger has paused does not count as lost. */
  readonly inspectorPort: number | null
}

export async function serve({ settings, host, stopped, withRunner, inspectorPort }: Service): Promise<void> {
  const { port, stateDir } = settings
  const word = randomBytes(WORD_BYTES).toString('hex')
  const front = await listenPatiently(port, () => Front.listen(port, word))
  requireRestored(stateDir)
  const state = await takeStateFolder(stateDir)
  let [first, runtime]: [Host | null, Host | null] = [host, null]
  // All child processes end with this process, in every case.
  process.on('exit', () => {
    void runtime?.kill()
    state.release()
  })
  await prepare(state, stopped)
  const job = { ...(await whatToServe(settings, state)), word, inspectorPort }
  let [backend, isInspected]: [number | null, boolean] = [null, false]
  let handBack = () => Promise.resolve()
  const over = endAfter(stopped, () => handBack().finally(() => front.close()))
  await supervise({
    launch: () => {
      backend = null
      front.serveFrom(null)
      runtime = first ?? startHost()
      first = null
      runtime.serve(job, (at) => {
        if (backend !== null) note({ reason: 'the runtime died', delayMs: 0 })
        backend = at
        front.serveFrom(at)
      })
      return runtime
    },
    probe: async () => backend !== null && (isInspected || (await isAlive(backend, word))),
    onReady: () => {
      isInspected = inspectorPort !== null
      console.log(`ready http://${HOST}:${port}`)
      if (withRunner) handBack = startLocalRunner({ port, stateDir: state.path }).handBack
    },
    onRestart: note,
    stopped: over,
  })
}

/** Aborts when the preparation is done. */
function endAfter(stopped: AbortSignal, first: () => Promise<void>): AbortSignal {
  const over = new AbortController()
  if (stopped.aborted) over.abort()
  else stopped.addEventListener('abort', () => void first().finally(() => over.abort()))
  return over.signal
}

/** Refuses databases that are damaged or from a newer release, and reports values that cannot be decrypted. */
async function whatToServe(
  { port, vars }: Settings,
  state: StateFolder,
): Promise<Omit<HostJob, 'word' | 'inspectorPort'>> {
  const { path } = state
  requireSoundDatabases(path)
  requireKnownMigrations(path, readPlan().migrations)
  const sealed = withOwnOrigins(withRunnerToken(withSecretsKey(vars, path), path), port)
  const locked = await lockedAway(path, sealed)
  if (locked !== null) console.error(locked)
  return { stateDir: path, consoleDir: consoleIn(state), vars: sealed, foreign: WORKER_VARIABLES }
}

function note(restart: { reason: string; delayMs: number }): void {
  const time = new Date().toISOString()
  console.error(JSON.stringify({ time, level: 'warn', event: 'start.runtime_restarted', ...restart }))
}

/** Waits for all of them, so that after a failure of one no other is still running. */
async function prepare(state: StateFolder, stopped: AbortSignal): Promise<void> {
  const taken = takeConsole(consoleIn(state), stopped)
  const results = await Promise.allSettled([taken, buildWorker(stopped), buildMiniflare(stopped)])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

const consoleIn = ({ own }: StateFolder): string => join(own, 'console')

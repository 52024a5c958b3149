// `npm start`: check what was asked for, build what is not built yet, then run the Worker and keep it running behind a front
// that stays. The standard output carries the one line that says where; everything else goes to the standard error.

import { randomBytes } from 'node:crypto'
import { ConfigError } from '../../src/config.ts'
import { readArguments, USAGE } from './arguments.ts'
import { buildConsole } from './console.ts'
import { Fault, outOfRoom } from './fault.ts'
import { Front } from './front.ts'
import { isAlive } from './health.ts'
import { withOwnOrigins } from './own-origins.ts'
import { HOST, listenPatiently } from './port.ts'
import { launchRuntime, type Runtime } from './runtime.ts'
import { withSecretsKey } from './secrets-key.ts'
import { readSettings, type Settings } from './settings.ts'
import { takeStateFolder } from './state-folder.ts'
import { stopSignal } from './stop-signal.ts'
import { supervise } from './supervisor.ts'
import { buildWorker } from './worker-bundle.ts'

/** A stop promises to be over in 5 s, whatever hangs. */
const STOP_DEADLINE_MS = 4_500
const WORD_BYTES = 32

export async function main(args: readonly string[]): Promise<void> {
  // A reader that went away must not take the service with it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const stopped = stopSignal(() => process.exit(1))
  stopped.addEventListener('abort', () => setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref())
  try {
    const { help, env } = readArguments(args)
    if (help) console.log(USAGE)
    else await serve(readSettings({ ...process.env, ...env }), stopped)
  } catch (error) {
    if (!stopped.aborted) process.exitCode = 1
    if (!stopped.aborted) console.error(sentenceOf(error))
  }
  process.exit()
}

async function serve({ port, stateDir, vars }: Settings, stopped: AbortSignal): Promise<void> {
  const word = randomBytes(WORD_BYTES).toString('hex')
  const front = await listenPatiently(port, () => Front.listen(port, word))
  const state = await takeStateFolder(stateDir)
  let runtime: Runtime | null = null
  // However this process ends, nothing that it started stays behind.
  process.on('exit', () => {
    void runtime?.kill()
    state.release()
  })
  await prepare(stopped)
  const job = { stateDir: state.path, vars: withOwnOrigins(withSecretsKey(vars, state.path), port), word }
  let backend: number | null = null
  stopped.addEventListener('abort', () => front.close())
  await supervise({
    launch: () => {
      backend = null
      front.serveFrom(null)
      let isFirst = true
      runtime = launchRuntime({
        job,
        write: (text) => process.stderr.write(text),
        onServing: (at) => {
          if (!isFirst) note({ reason: 'the runtime died', delayMs: 0 })
          isFirst = false
          backend = at
          front.serveFrom(at)
        },
      })
      return runtime
    },
    probe: async () => backend !== null && (await isAlive(backend, word)),
    onReady: () => console.log(`ready http://${HOST}:${port}`),
    onRestart: note,
    stopped,
  })
}

function note(restart: { reason: string; delayMs: number }): void {
  console.error(JSON.stringify({ level: 'warn', event: 'start.runtime_restarted', ...restart }))
}

/** Both end before this does, so that a failure of one leaves no work of the other behind. */
async function prepare(stopped: AbortSignal): Promise<void> {
  // The bundle's plan names the folder of the console.
  const results = await Promise.allSettled([buildConsole(stopped), buildWorker(stopped)])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** What a person can do something about is one sentence; anything else is a defect, with its stack. */
function sentenceOf(error: unknown): unknown {
  if (error instanceof Fault || error instanceof ConfigError) return error.message
  return outOfRoom(error)?.message ?? error
}

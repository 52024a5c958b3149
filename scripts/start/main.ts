// `npm start`: check the settings, build what is not built yet, then run the Worker and keep it running behind a proxy
// that outlives it. Standard output only has the line with the address; everything else goes to standard error.

import { readArguments, USAGE, type Wishes } from './arguments.ts'
import { Fault, outOfRoom } from './fault.ts'
import { isMiniflareBuilt } from './miniflare-bundle.ts'
import { requireForInspector } from './port.ts'
import { startHost } from './runtime.ts'
import { stopSignal } from './stop-signal.ts'

/** A stop takes at most 5 s, even if something hangs. */
const STOP_DEADLINE_MS = 4_500

export async function main(args: readonly string[]): Promise<void> {
  // A closed output pipe must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const stopped = stopSignal(() => process.exit(1))
  stopped.addEventListener('abort', () => setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref())
  try {
    const wishes = readArguments(args)
    if (wishes.help) console.log(USAGE)
    else await start(wishes, stopped)
  } catch (error) {
    if (!stopped.aborted) process.exitCode = 1
    if (!stopped.aborted) console.error(sentenceOf(error))
  }
  process.exit()
}

async function start({ env, runner, inspectorPort }: Wishes, stopped: AbortSignal): Promise<void> {
  // Both processes load much code before the first can send the job to the second, so they load in parallel.
  const host = isMiniflareBuilt() ? startHost() : null
  process.on('exit', () => void host?.kill())
  const { readSettings } = await import('./settings.ts')
  const { serve } = await import('./serve.ts')
  const settings = readSettings({ ...process.env, ...env })
  if (inspectorPort !== null) await requireForInspector(inspectorPort, settings.port)
  await serve({ settings, host, stopped, withRunner: runner, inspectorPort })
}

/** An error that the user can correct is one line; any other error is a defect and has a stack trace. */
function sentenceOf(error: unknown): unknown {
  // A `ConfigError` is recognised by its name, because its module is loaded lazily.
  if (error instanceof Fault || (error instanceof Error && error.name === 'ConfigError')) return error.message
  return outOfRoom(error)?.message ?? error
}

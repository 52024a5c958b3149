// `npm start`: check what was asked for, build what is not built yet, then run the Worker and keep it running behind a front
// that stays. The standard output carries the one line that says where; everything else goes to the standard error.

import { readArguments, USAGE, type Wishes } from './arguments.ts'
import { Fault, outOfRoom } from './fault.ts'
import { isMiniflareBuilt } from './miniflare-bundle.ts'
import { requireForInspector } from './port.ts'
import { startHost } from './runtime.ts'
import { stopSignal } from './stop-signal.ts'

/** A stop promises to be over in 5 s, whatever hangs. */
const STOP_DEADLINE_MS = 4_500

export async function main(args: readonly string[]): Promise<void> {
  // A reader that went away must not take the service with it.
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
  // Both processes have much to read before the first can tell the second what to do: they read at the same time.
  const host = isMiniflareBuilt() ? startHost() : null
  process.on('exit', () => void host?.kill())
  const { readSettings } = await import('./settings.ts')
  const { serve } = await import('./serve.ts')
  const settings = readSettings({ ...process.env, ...env })
  if (inspectorPort !== null) await requireForInspector(inspectorPort, settings.port)
  await serve({ settings, host, stopped, withRunner: runner, inspectorPort })
}

/** What a person can do something about is one sentence; anything else is a defect, with its stack. */
function sentenceOf(error: unknown): unknown {
  // A `ConfigError` by its name: its module is among what is read late.
  if (error instanceof Fault || (error instanceof Error && error.name === 'ConfigError')) return error.message
  return outOfRoom(error)?.message ?? error
}

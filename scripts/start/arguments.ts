// The command-line options of `npm start`. A flag has the meaning of its variable and takes precedence.

import { parseArgs } from 'node:util'
import { Fault, messageOf } from './fault.ts'

export const USAGE = `Usage: npm start [-- options]

Serves the whole product on this machine until it is stopped with Ctrl-C.

  --port NUMBER    where to listen on 127.0.0.1 (PORT, default 8787)
  --state FOLDER   where everything is kept (BELLWETHER_STATE, default .wrangler/state)
  --runner         starts a runner beside it, which lends this machine's processes (docs/runners.md)
  --inspect PORT   opens the runtime's inspector on 127.0.0.1, for a debugger or a look at its memory
  --help           this text

Every other setting is a variable of the environment or of .dev.vars: see docs/configuration.md.`

const OPTIONS = {
  port: { type: 'string' },
  state: { type: 'string' },
  runner: { type: 'boolean' },
  inspect: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

export type Wishes = {
  readonly help: boolean
  readonly runner: boolean
  /** The port of the inspector; null for none. */
  readonly inspectorPort: number | null
  readonly env: Readonly<Record<string, string>>
}

/** Throws a `Fault` that names an unknown option. */
export function readArguments(args: readonly string[]): Wishes {
  try {
    const { port, state, runner, inspect, help } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: false,
    }).values
    return {
      help: help === true,
      runner: runner === true,
      inspectorPort: inspect === undefined ? null : portOf(inspect),
      env: { ...(port !== undefined && { PORT: port }), ...(state !== undefined && { BELLWETHER_STATE: state }) },
    }
  } catch (error) {
    const [sentence = ''] = messageOf(error).split('. ')
    throw new Fault(`${sentence.replace(/\.$/, '')}. See: npm start -- --help`)
  }
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new Error(`'--inspect' takes a port from 1 to 65535, not '${text}'`)
  return port
}

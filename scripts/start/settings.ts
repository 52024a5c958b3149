// The settings of `npm start`: the port, the state folder, and the variables for the Worker. They come
// from the environment and, with lower precedence, from `.dev.vars`.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig, VARIABLES } from '../../src/config.ts'
import { MARKET_SOURCES } from '../../src/market/providers/registry.ts'
import { parseEnvFile } from './env-file.ts'
import { Fault } from './fault.ts'
import { ROOT, stateFolderOf } from './paths.ts'

/** What the commands read themselves; the Worker never sees these. */
export const COMMAND_VARIABLES = ['PORT', 'BELLWETHER_STATE', 'CHROMIUM_PATH', 'REQUIRE_ALL', 'PROOF'] as const

/** Local use needs no key and still answers without a network. */
const LOCAL_DEFAULTS = {
  AUTH_MODE: 'local',
  MARKET_DATA: MARKET_SOURCES.join(),
} as const

type Environment = Readonly<Record<string, string | undefined>>

export type Settings = {
  readonly port: number
  readonly stateDir: string
  /** The validated variables of the Worker. */
  readonly vars: Readonly<Record<string, string>>
}

/** Throws a `Fault` or `ConfigError` that says which variable is wrong, what was found and what is allowed. */
export function readSettings(env: Environment): Settings {
  const vars = workerVariables(env, readDevVars())
  parseConfig(vars)
  return {
    port: parsePort(env.PORT),
    stateDir: stateFolderOf(env),
    vars,
  }
}

function workerVariables(env: Environment, devVars: Readonly<Record<string, string>>): Record<string, string> {
  const vars: Record<string, string> = { ...devVars }
  for (const { name } of VARIABLES) {
    const value = env[name]
    if (value !== undefined && value !== '') vars[name] = value
  }
  // An empty value counts as not set.
  for (const [name, value] of Object.entries(LOCAL_DEFAULTS)) vars[name] ||= value
  return vars
}

function readDevVars(): Record<string, string> {
  const file = join(ROOT, '.dev.vars')
  return existsSync(file) ? parseEnvFile(readFileSync(file, 'utf8')) : {}
}

function parsePort(text: string | undefined): number {
  if (text === undefined || text === '') return 8787
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new Fault(`PORT: found ${JSON.stringify(text)}, allowed is a whole number from 1 to 65535`)
}

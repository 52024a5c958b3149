import { join } from 'node:path'
import { VARIABLES } from '../../src/config.ts'
import { ROOT, WRANGLER } from './paths.ts'
import { HOST } from './port.ts'
import type { StateFolder } from './state-folder.ts'

/** Quiet, offline, without a question, and apart from any other server on this machine. */
export function wranglerEnvironment(state: StateFolder): NodeJS.ProcessEnv {
  return {
    ...withoutForeign(process.env),
    CI: 'true',
    WRANGLER_SEND_METRICS: 'false',
    DO_NOT_TRACK: '1',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_WRITE_LOGS: 'false',
    WRANGLER_CACHE_DIR: join(state.own, 'cache'),
    // Servers find each other's Workers by name in here; with a shared one, our own service binding may lead elsewhere.
    WRANGLER_REGISTRY_PATH: join(state.own, 'registry'),
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    CLOUDFLARE_INCLUDE_PROCESS_ENV: 'false',
    X_LOCAL_OBSERVABILITY: 'false',
    X_LOCAL_EXPLORER: 'false',
  }
}

/** The Worker's variables reach it by the file alone, and nothing of the user's steers wrangler. */
function withoutForeign(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const known = new Set(VARIABLES.map(({ name }) => name))
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !known.has(name) && !/^(CLOUDFLARE|WRANGLER|CF|MINIFLARE)_/.test(name)),
  )
}

export function wranglerDevArguments(port: number, state: StateFolder, envFile: string): string[] {
  return [
    '--no-warnings',
    '--import',
    join(ROOT, 'scripts', 'start', 'die-with-parent.mjs'),
    WRANGLER,
    'dev',
    ...['--ip', HOST, '--port', String(port), '--inspector-port', '0'],
    ...['--persist-to', state.path, '--env-file', envFile],
    '--show-interactive-dev-session=false',
  ]
}

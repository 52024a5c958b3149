import { delimiter, dirname } from 'node:path'
import { VARIABLES } from '../../src/config.ts'
import { withoutSteering } from './steering.ts'

/** For wrangler: quiet, offline, without a question; nothing of the user's steers it, and it sees none of the Worker's variables. */
export function quietEnvironment(): NodeJS.ProcessEnv {
  return {
    ...withoutForeign(process.env),
    // The build command of wrangler.toml runs on whatever Node the path has first.
    PATH: [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
    CI: 'true',
    WRANGLER_SEND_METRICS: 'false',
    DO_NOT_TRACK: '1',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_WRITE_LOGS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    CLOUDFLARE_INCLUDE_PROCESS_ENV: 'false',
    X_LOCAL_OBSERVABILITY: 'false',
    X_LOCAL_EXPLORER: 'false',
  }
}

/** The Worker's variables go to the Worker alone. */
export const WORKER_VARIABLES: readonly string[] = VARIABLES.map(({ name }) => name)

function withoutForeign(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const known = new Set(WORKER_VARIABLES)
  return Object.fromEntries(Object.entries(withoutSteering(env)).filter(([name]) => !known.has(name)))
}

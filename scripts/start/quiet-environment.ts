import { delimiter, dirname } from 'node:path'
import { VARIABLES } from '../../src/config.ts'

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

/** What is left for Node and for the runtime beneath it. */
export function withoutForeign(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const known = new Set(VARIABLES.map(({ name }) => name))
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !known.has(name) && !/^(CLOUDFLARE|WRANGLER|CF|MINIFLARE)_/.test(name)),
  )
}

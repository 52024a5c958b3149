/** An environment without what steers wrangler, Miniflare and the runtime beneath it. */
export function withoutSteering(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(CLOUDFLARE|WRANGLER|CF|MINIFLARE)_/.test(name)))
}

// What `cloudflare:workers` is in a simulation: a class that keeps what it is given.

class Entry {
  readonly ctx: unknown
  readonly env: unknown
  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx
    this.env = env
  }
}

export { Entry as DurableObject, Entry as WorkerEntrypoint }
export const env = {}

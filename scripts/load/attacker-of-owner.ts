// One owner with a key for an attack: sends requests in parallel lanes until the time is over and ignores the responses.

export type Target = {
  readonly url: string
  readonly key: string
  readonly runnerKey: string
  readonly seconds: number
}
/** The number of requests, and how many of them were refused or aborted. */
export type Struck = { sent: number; refused: number }

export class Attacker {
  readonly struck: Struck = { sent: 0, refused: 0 }
  readonly #target: Target
  readonly #endsAt: number

  constructor(target: Target) {
    this.#target = target
    this.#endsAt = performance.now() + target.seconds * 1000
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAt
  }

  get url(): string {
    return this.#target.url
  }

  /** The key for runners. */
  get runnerKey(): string {
    return this.#target.runnerKey
  }

  get key(): string {
    return this.#target.key
  }

  /** Sends requests one after the other in each of this number of lanes, until the time is over. */
  async lanes(count: number, work: (lane: number) => Promise<unknown>): Promise<void> {
    const run = async (lane: number) => {
      while (!this.isOver) await work(lane)
    }
    await Promise.all(Array.from({ length: count }, (_, lane) => run(lane)))
  }

  async ask(path: string, { method = 'GET', json, body }: { method?: string; json?: object; body?: BodyInit } = {}) {
    this.struck.sent += 1
    try {
      const response = await fetch(`${this.url}${path}`, {
        method,
        headers: {
          'x-session-api-key': this.key,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        signal: AbortSignal.timeout(30_000),
        ...(json !== undefined ? { body: JSON.stringify(json) } : body !== undefined ? { body } : {}),
      })
      const text = await response.text()
      if (!response.ok) this.struck.refused += 1
      return { status: response.status, text }
    } catch {
      // Aborted or timed out: the attacker ignores this.
      this.struck.refused += 1
      return { status: 0, text: '{}' }
    }
  }

  async conversation(): Promise<string> {
    const { text } = await this.ask('/api/conversations', { method: 'POST', json: { initial_user_msg: 'echo hello' } })
    const { conversation_id: id } = JSON.parse(text) as { conversation_id?: string }
    return `/api/conversations/${id ?? 'none'}`
  }

  say(conversation: string, content: string) {
    const json = { action: 'message', args: { content } }
    return this.ask(`${conversation}/events`, { method: 'POST', json })
  }
}

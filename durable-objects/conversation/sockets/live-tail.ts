// What the current step has streamed so far, for clients that connect in the middle of it. It is in memory only: after
// an eviction new clients see only what is streamed from then on. The event that ends the step contains everything in
// any case.

import type { StoredEvent, StreamFrame } from '../../../src/agent/events.ts'

/** Characters that are kept of one output or answer: its end, which users look at. */
const MOST_CHARACTERS = 64 * 1024
/** Outputs that are kept at once: more than the commands that a turn runs in parallel. */
const MOST_OUTPUTS = 32

type Delta = Extract<StreamFrame, { kind: 'text' | 'reasoning' }>

export class LiveTail {
  readonly #outputs = new Map<number, string>()
  #answer: Delta | null = null

  sent(frame: StreamFrame): void {
    if (frame.type === 'output') this.#printed(frame.action_id, frame.text)
    else if (frame.kind === 'text') this.#written(frame)
  }

  /** An observation ends the output of its action. Any event of the agent ends the streamed answer. */
  stored(events: readonly StoredEvent[]): void {
    if (this.#outputs.size === 0 && this.#answer === null) return
    for (const { source, text } of events) {
      if (source === 'agent') this.#answer = null
      const cause = /"cause":(\d+)/.exec(text)?.[1]
      if (cause !== undefined) this.#outputs.delete(Number(cause))
    }
  }

  /** The frames that show a new client the current step so far. */
  frames(): StreamFrame[] {
    const outputs = [...this.#outputs].map(([action_id, text]) => ({ type: 'output' as const, action_id, text }))
    return this.#answer === null ? outputs : [this.#answer, ...outputs]
  }

  #printed(actionId: number, text: string): void {
    this.#outputs.set(actionId, `${this.#outputs.get(actionId) ?? ''}${text}`.slice(-MOST_CHARACTERS))
    const [oldest] = this.#outputs.keys()
    if (this.#outputs.size > MOST_OUTPUTS && oldest !== undefined) this.#outputs.delete(oldest)
  }

  #written(frame: Delta): void {
    const before = this.#answer
    const goesOn = before !== null && before.answer === frame.answer && before.attempt === frame.attempt
    this.#answer = { ...frame, text: `${goesOn ? before.text : ''}${frame.text}`.slice(-MOST_CHARACTERS) }
  }
}

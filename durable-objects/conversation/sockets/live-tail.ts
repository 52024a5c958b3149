// What the current step has shown so far, for clients that connect in the middle of it. It is in memory only: after an eviction
// they see only what comes from then on. The event that ends the step holds all of it in any case.

import type { StoredEvent, StreamFrame } from '../../../src/agent/events.ts'

/** Of one output or answer; the end is what is looked at. */
const MOST_CHARACTERS = 64 * 1024
/** Of outputs at once: as many commands as a turn runs side by side, and more. */
const MOST_OUTPUTS = 32

type Delta = Extract<StreamFrame, { kind: 'text' | 'reasoning' }>

export class LiveTail {
  readonly #outputs = new Map<number, string>()
  #answer: Delta | null = null

  sent(frame: StreamFrame): void {
    if (frame.type === 'output') this.#printed(frame.action_id, frame.text)
    else if (frame.kind === 'text') this.#written(frame)
  }

  /** An observation ends the output of its action, and whatever the agent does ends the answer that it was. */
  stored(events: readonly StoredEvent[]): void {
    if (this.#outputs.size === 0 && this.#answer === null) return
    for (const { source, text } of events) {
      if (source === 'agent') this.#answer = null
      const cause = /"cause":(\d+)/.exec(text)?.[1]
      if (cause !== undefined) this.#outputs.delete(Number(cause))
    }
  }

  /** The frames that bring a client up to now. */
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

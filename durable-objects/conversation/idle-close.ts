// A running loop takes one of the few places that its owner has. One that nobody follows, that does nothing and that
// nobody has said anything to for a while gives its place up; whoever comes back starts it again by coming.

import type { AgentState } from '../../src/agent/states.ts'

type Session = {
  readonly running: boolean
  readonly settingUp: boolean
  readonly agentState: AgentState
  readonly sessions: { readonly count: number }
  readonly log: { readonly lastAt: string | null }
  stop(): void
}

export class IdleWatch {
  readonly #session: Session
  readonly #wakeAt: (at: number) => void
  readonly #delayMs: number

  constructor(session: Session, wakeAt: (at: number) => void, delayMs: number) {
    this.#session = session
    this.#wakeAt = wakeAt
    this.#delayMs = delayMs
  }

  /** The time counts from now on. */
  begin(): void {
    if (this.#session.running) this.#wakeAt(Date.now() + this.#delayMs)
  }

  /** Closes the session, or looks again when it may be time. */
  look(): void {
    const { running, settingUp, agentState, sessions, log } = this.#session
    if (!running) return
    if (sessions.count > 0 || settingUp || agentState === 'running') {
      this.begin()
      return
    }
    const dueAt = (log.lastAt === null ? 0 : Date.parse(log.lastAt)) + this.#delayMs
    if (dueAt > Date.now()) this.#wakeAt(dueAt)
    else this.#session.stop()
  }
}

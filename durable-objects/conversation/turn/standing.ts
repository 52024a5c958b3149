// The agent's state, for requests that wait until it is at rest. Waiting requests are not stored: when the object dies
// they fail, and their clients repeat them.

import { isSettled } from '../../../src/agent/transitions.ts'
import type { AgentState } from '../../../src/agent/turn.ts'
import type { TurnStore } from '../../../src/agent/turn-deps.ts'
import type { EventLog } from '../events/event-log.ts'

export type Stand = {
  atRest: boolean
  state: AgentState
  /**
   * The agent's last message after the event or, without one, the output of its last command. Null if there is neither.
   */
  said: string | null
  last: number
}

const PAGE = { startId: 0, endId: null, reverse: true, limit: 1 }
const ANY = { excludeHidden: false, query: null, excludeTypes: null, startDate: null, endDate: null }
const WORDS = ['action:message', 'action:finish']
const OUTPUT = ['observation:run']

export class Standing {
  readonly #turn: TurnStore
  readonly #log: EventLog
  readonly #waiting = new Set<() => void>()

  constructor(turn: TurnStore, log: EventLog) {
    this.#turn = turn
    this.#log = log
  }

  /** Something was stored: waiting requests check again. */
  wake(): void {
    for (const look of this.#waiting) look()
    this.#waiting.clear()
  }

  /** Resolves when the agent is at rest or the time is over. */
  async after(eventId: number, waitMs: number): Promise<Stand> {
    const until = Date.now() + waitMs
    for (;;) {
      const atRest = isSettled(this.#turn)
      const leftMs = until - Date.now()
      if (atRest || leftMs <= 0) return this.#stand(eventId, atRest)
      await this.#change(leftMs)
    }
  }

  #stand(eventId: number, atRest: boolean): Stand {
    const log = this.#log
    const said = atRest ? (newest(log, eventId, WORDS) ?? newest(log, eventId, OUTPUT)) : null
    return { atRest, state: this.#turn.turn.value.state, said, last: log.last }
  }

  #change(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look)
        resolve()
      }, waitMs)
      const look = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#waiting.add(look)
    })
  }
}

type EventText = { message?: string; content?: string; args?: { content?: string; final_thought?: string } }

function newest(log: EventLog, after: number, includeTypes: string[]): string | null {
  const filter = { ...ANY, includeTypes, source: 'agent' }
  const [text] = log.search({ ...PAGE, startId: after + 1, filter }).events
  if (text === undefined) return null
  // Stored by this service.
  const { message, content, args } = JSON.parse(text) as EventText
  return content ?? (args?.content || args?.final_thought || message || '')
}

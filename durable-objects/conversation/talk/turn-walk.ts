// What happened in one turn of a talk, derived from its events only, so that every caller gets the same answer.

import type { EventLog } from '../events/event-log.ts'

/** `id` is the event that the step comes from. `step` counts the model's answers. */
export type TurnStep =
  | { id: number; kind: 'begun' }
  | { id: number; kind: 'thinking' | 'writing'; step: number }
  | { id: number; kind: 'tool_start'; step: number; tool: string }
  | { id: number; kind: 'tool_done'; step: number; tool: string; success: boolean; seconds: number }
  | { id: number; kind: 'ended'; content: string | null; failure: string | null; steps: number; seconds: number }

type Metadata = { function_name: string; model_response: { id: string }; total_calls_in_response: number }

type Parsed = {
  id: number
  timestamp: string
  source: string
  action?: string
  observation?: string
  content?: string
  cause?: number
  extras?: { error_id?: string; record?: string }
  tool_call_metadata?: Metadata
}

const READ = 200
const USER_ONLY = 'AGENT_NOTE$USER_ONLY'

export class TurnWalk {
  readonly question: number
  readonly steps: TurnStep[] = []
  /** Tools that found something. */
  readonly found: string[] = []
  /** The newest error that the user was shown. */
  trouble: string | null = null
  /** The number of the model's answers so far. */
  answers = 0
  #upTo: number
  #beganAt = ''
  readonly #begun = new Map<number, { tool: string; step: number; at: string }>()
  /** The newest answer with calls: its id, and the number of its open calls. */
  #response = ''
  #open = 0

  constructor(question: number) {
    this.question = question
    this.#upTo = question - 1
  }

  /** Reads events up to this one. */
  go(log: EventLog, upTo: number): void {
    while (this.#upTo < upTo) {
      const events = log.since(this.#upTo, Math.min(READ, upTo - this.#upTo))
      const last = events.at(-1)?.id
      if (last === undefined) return
      // Stored by this service.
      for (const { text } of events) this.#take(JSON.parse(text) as Parsed)
      this.#upTo = last
    }
  }

  secondsUntil(timestamp: string): number {
    return secondsBetween(this.#beganAt, timestamp)
  }

  #take(event: Parsed): void {
    const { id, action, observation, source, tool_call_metadata: of } = event
    if (id === this.question) {
      this.#beganAt = event.timestamp
      this.steps.push({ id, kind: 'begun' }, { id, kind: 'thinking', step: 1 })
    } else if (action === 'message' && source === 'agent') {
      this.answers += 1
      this.steps.push({ id, kind: 'writing', step: this.answers })
    } else if (of !== undefined) this.#takeCall(event, of)
    else if (observation === 'error' && event.extras?.error_id === USER_ONLY) this.trouble = event.content ?? null
  }

  #takeCall(
    event: Parsed,
    { function_name: tool, model_response: response, total_calls_in_response: total }: Metadata,
  ) {
    const { id, timestamp: at } = event
    if (response.id !== this.#response || this.#open <= 0) {
      this.#response = response.id
      this.#open = total
      this.answers += 1
    }
    if (event.action !== undefined) {
      this.#begun.set(id, { tool, step: this.answers, at })
      this.steps.push({ id, kind: 'tool_start', step: this.answers, tool })
      return
    }
    const begun = this.#begun.get(event.cause ?? -1) ?? null
    const step = begun?.step ?? this.answers
    // A call that failed before it began has no action.
    if (begun === null) this.steps.push({ id, kind: 'tool_start', step, tool })
    const success = event.observation === 'mcp' && !isFailed(event.content ?? '')
    const seconds = begun === null ? 0 : secondsBetween(begun.at, at)
    this.steps.push({ id, kind: 'tool_done', step, tool, success, seconds })
    if (success && !this.found.includes(tool)) this.found.push(tool)
    this.#open -= 1
    if (this.#open === 0) this.steps.push({ id, kind: 'thinking', step: this.answers + 1 })
  }
}

/** For a stored tool result. */
function isFailed(content: string): boolean {
  return (JSON.parse(content) as { isError?: boolean }).isError === true
}

function secondsBetween(from: string, to: string): number {
  const ms = Date.parse(to) - Date.parse(from)
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms / 100) / 10) : 0
}

// An event is its own wire format: the same JSON is stored, sent and read back. Keys without a value are absent, never
// null.

export type EventSource = 'agent' | 'user' | 'environment'

/** The model's answer and the call in it to which an action or observation belongs. */
export type ToolCallMetadata = {
  function_name: string
  tool_call_id: string
  model_response: { id: string }
  total_calls_in_response: number
}

type Common = {
  source: EventSource
  /** The text that a client shows if it does not know the kind of event; may be empty. */
  message: string
  tool_call_metadata?: ToolCallMetadata
}

export type ActionEvent = Common & {
  action: string
  args: Record<string, unknown>
  timeout?: number
  /** The cost of the conversation so far; present on actions of the agent. */
  llm_metrics?: Record<string, unknown>
}

export type ObservationEvent = Common & {
  observation: string
  content: string
  extras: Record<string, unknown>
  /** The id of the action that this answers. */
  cause?: number
  /** Of `run` observations: whether the exit code is 0. */
  success?: boolean
}

/** An event that has no number yet. */
export type NewEvent = ActionEvent | ObservationEvent

/** `action:run`, `observation:run`: the kind of an event as one name. */
export function kindOf(event: NewEvent): string {
  return 'action' in event ? `action:${event.action}` : `observation:${event.observation}`
}

/** Only `run` events can be hidden: stored and sent, but shown neither to the user nor to a model. */
export function isHidden(event: NewEvent): boolean {
  return ('action' in event ? event.args : event.extras).hidden === true
}

/** An event as a log holds it; `text` is the JSON that clients get. */
export type StoredEvent = { id: number; kind: string; source: string; text: string }

// Frames besides the events, for live clients. None of them is stored.

/** A frame that is not an event: progress, a new title, a failure. Not stored and never replayed. */
export type Announcement =
  | { status_update: true; type: 'info' | 'error'; id?: string; message: string; conversation_title?: string }
  | { error: true; type?: never; message: string }

/** Progress of the current step: a piece of the model's answer, or output of a running tool. */
export type StreamFrame =
  | { type: 'delta'; answer: number; attempt: number; kind: 'text' | 'reasoning'; text: string }
  | {
      type: 'delta'
      answer: number
      attempt: number
      kind: 'call'
      index: number
      id: string
      name: string
      text: string
    }
  | { type: 'output'; action_id: number; text: string }

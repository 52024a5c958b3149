// An event is its own wire shape: what is written here is what is stored, sent and read back, letter for letter. Keys
// without a value are absent, never null.

export type EventSource = 'agent' | 'user' | 'environment'

/** Which call of which answer of the model an action or its observation belongs to. */
export type ToolCallMetadata = {
  function_name: string
  tool_call_id: string
  model_response: { id: string }
  total_calls_in_response: number
}

type Common = {
  source: EventSource
  /** What a client shows where it has nothing better; may be empty. */
  message: string
  tool_call_metadata?: ToolCallMetadata
}

export type ActionEvent = Common & {
  action: string
  args: Record<string, unknown>
  timeout?: number
  /** What the conversation has cost so far; of the agent's actions. */
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

/** `action:run`, `observation:run`: one name for what an event is. */
export function kindOf(event: NewEvent): string {
  return 'action' in event ? `action:${event.action}` : `observation:${event.observation}`
}

/** Only `run` events can be hidden: kept and sent, but shown neither to the user nor to a model. */
export function isHidden(event: NewEvent): boolean {
  return ('action' in event ? event.args : event.extras).hidden === true
}

// The actions that Bellwether makes, and the three that a client may send.

import { z } from 'zod'
import type { ActionEvent } from './events.ts'
import { type AgentState, RequestedState } from './turn.ts'

/** Arguments that old clients still send and that have no meaning any more. */
const Ignored = { timestamp: z.unknown().optional() }

const MessageArgs = z.strictObject({
  content: z.string(),
  image_urls: z.array(z.string()).nullish(),
  file_urls: z.array(z.string()).nullish(),
  wait_for_response: z.boolean().optional(),
  /** The older spelling of `image_urls`. */
  images_urls: z.array(z.string()).nullish(),
  ...Ignored,
})

const RunArgs = z.strictObject({
  command: z.string(),
  is_input: z.boolean().optional(),
  thought: z.string().optional(),
  blocking: z.boolean().optional(),
  is_static: z.boolean().optional(),
  cwd: z.string().nullish(),
  hidden: z.boolean().optional(),
  confirmation_state: z.enum(['confirmed', 'awaiting_confirmation', 'rejected']).optional(),
  is_confirmed: z.unknown().optional(),
  keep_prompt: z.unknown().optional(),
  ...Ignored,
})

/** `action_id`: the waiting action that is answered; without it, any waiting action. */
const StateArgs = z.strictObject({
  agent_state: RequestedState,
  thought: z.string().optional(),
  action_id: z.int().nonnegative().optional(),
  ...Ignored,
})

/** Any valid source may be named; what is stored is always `user`. */
const source = z.enum(['agent', 'user', 'environment']).optional()
const timestamp = z.unknown().optional()

/** What a client may add to a conversation. Observations, numbered events and every other action are refused. */
export const ClientAction = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('message'), args: MessageArgs, source, timestamp }),
  z.strictObject({ action: z.literal('run'), args: RunArgs, source, timestamp }),
  z.strictObject({ action: z.literal('change_agent_state'), args: StateArgs, source, timestamp }),
])
export type ClientAction = z.infer<typeof ClientAction>

/** The event that a client's action becomes. */
export function fromClient(action: ClientAction): ActionEvent {
  switch (action.action) {
    case 'message': {
      const { content, image_urls, images_urls, file_urls } = action.args
      return userMessage(content, image_urls ?? images_urls ?? null, file_urls ?? null)
    }
    case 'run':
      return runAction('user', action.args.command, { hidden: action.args.hidden ?? false })
    case 'change_agent_state':
      return changeAgentState('user', action.args.agent_state, action.args.action_id)
  }
}

export function userMessage(content: string, imageUrls: string[] | null, fileUrls: string[] | null): ActionEvent {
  const args = { content, image_urls: imageUrls, file_urls: fileUrls, wait_for_response: false }
  return { source: 'user', message: content, action: 'message', args }
}

export function agentMessage(content: string): ActionEvent {
  const args = { content, image_urls: null, file_urls: null, wait_for_response: true }
  return { source: 'agent', message: content, action: 'message', args }
}

type RunOptions = { thought?: string; hidden?: boolean }

export function runAction(from: 'agent' | 'user', command: string, options: RunOptions = {}): ActionEvent {
  return {
    source: from,
    message: `Running command: ${command}`,
    action: 'run',
    args: {
      command,
      is_input: false,
      thought: options.thought ?? '',
      blocking: false,
      is_static: false,
      cwd: null,
      hidden: options.hidden ?? false,
      confirmation_state: 'confirmed',
    },
  }
}

/** A note to the user and the model about where commands run. It is a thought, because every client shows thoughts. */
export function placeNote(text: string): ActionEvent {
  return { source: 'environment', message: text, action: 'think', args: { thought: text } }
}

/** The context of the model has become too long. */
export function condensationRequest(): ActionEvent {
  return {
    source: 'agent',
    message: 'Requesting a condensation of the conversation history.',
    action: 'condensation_request',
    args: {},
  }
}

export type Forgotten = { ids: { start: number; end: number }; summary: { text: string; offset: number } | null }

/** From here on the model does not see these events any more, but a summary of them if there is one. */
export function condensation({ ids, summary }: Forgotten): ActionEvent {
  return {
    source: 'agent',
    message: summary?.text ?? `The events ${ids.start} to ${ids.end} are no longer shown to the model.`,
    action: 'condensation',
    args: {
      forgotten_events_start_id: ids.start,
      forgotten_events_end_id: ids.end,
      ...(summary === null ? {} : { summary: summary.text, summary_offset: summary.offset }),
    },
  }
}

/** The first real event of a conversation: who the agent is and which tools it has, in function-call format. */
export function systemAction(content: string, agentClass: string, tools: object[]): ActionEvent {
  return { source: 'agent', message: content, action: 'system', args: { content, tools, agent_class: agentClass } }
}

export function changeAgentState(from: 'user' | 'environment', state: AgentState, actionId?: number): ActionEvent {
  const args = { agent_state: state, thought: '', ...(actionId === undefined ? {} : { action_id: actionId }) }
  return { source: from, message: '', action: 'change_agent_state', args }
}

export function recallAction(type: 'workspace_context' | 'knowledge', query: string): ActionEvent {
  return {
    source: 'user',
    message: `Retrieving content for: ${query.slice(0, 50)}`,
    action: 'recall',
    args: { recall_type: type, query, thought: '' },
  }
}

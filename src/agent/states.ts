import { z } from 'zod'

export type AgentState =
  | 'loading'
  | 'running'
  | 'awaiting_user_input'
  | 'paused'
  | 'stopped'
  | 'finished'
  | 'rejected'
  | 'error'
  | 'awaiting_user_confirmation'
  | 'user_confirmed'
  | 'user_rejected'
  | 'rate_limited'

/** The states that a client may ask for. */
export const RequestedState = z.enum([
  'running',
  'paused',
  'stopped',
  'user_confirmed',
  'user_rejected',
  'awaiting_user_input',
  'finished',
  'rejected',
])
export type RequestedState = z.infer<typeof RequestedState>

// The exported record of a conversation: every event that is not hidden, without pictures and page dumps.

import { z } from 'zod'
import { isHidden, type NewEvent } from './events.ts'
import { actionKind } from './tools/index.ts'

/** Members of `extras`, at any depth, that are left out: pictures and page dumps, and references to them. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'screenshot',
  'set_of_marks',
  'dom_object',
  'axtree_object',
  'active_page_index',
  'last_browser_action',
  'last_browser_action_error',
  'focused_element_bid',
  'extra_element_properties',
])

/** A stored event for the record; null when it is hidden. The text is unchanged if nothing is left out. */
export function forTrajectory(text: string): string | null {
  const event = JSON.parse(text) as NewEvent
  if (isHidden(event)) return null
  if (!('extras' in event)) return text
  const dropped = { count: 0 }
  const extras = withoutLeftOut(event.extras, dropped)
  return dropped.count === 0 ? text : JSON.stringify({ ...event, extras })
}

function withoutLeftOut(value: unknown, dropped: { count: number }): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutLeftOut(item, dropped))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const kept = entries.filter(([key]) => !LEFT_OUT.has(key))
  dropped.count += entries.length - kept.length
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutLeftOut(item, dropped)]))
}

/** The text of a stored event if it is an action whose risk was judged, else null. */
export function judgedAction(text: string): string | null {
  const event = JSON.parse(text) as NewEvent
  return 'action' in event && event.args.security_risk !== undefined ? text : null
}

// A recorded conversation that is replayed: its actions run one after the other without a model, and the observations
// are the real ones of this run.

const Recorded = z.object({
  source: z.string().optional(),
  action: z.string().optional(),
  observation: z.string().optional(),
  args: z.record(z.string(), z.unknown()).default({}),
})

export type ReplayStep =
  /** A message of the agent; only the last one waits for an answer. */
  | { kind: 'message'; source: 'agent' | 'user'; content: string }
  | { kind: 'call'; name: string; arguments: string; thought: string }

export type Replay = { firstMessage: { content: string; imageUrls: string[] | null }; steps: ReplayStep[] }

/** `reason` is for the user. */
export type ReadReplay = { ok: true; replay: Replay } | { ok: false; reason: string }

export function readReplay(text: string): ReadReplay {
  const events = z.array(Recorded).safeParse(parsed(text))
  if (!events.success) return { ok: false, reason: 'replay_json must be the JSON text of a list of events' }
  const actions = events.data.filter(
    ({ action, source }) => action !== undefined && action !== 'null' && source !== 'environment',
  )
  // The service adds these events to every conversation itself.
  const own = actions.filter(({ action }) => actionKind(action ?? '')?.replay !== 'by-itself')
  const [first, ...rest] = own
  if (first?.action !== 'message' || typeof first.args.content !== 'string') {
    return { ok: false, reason: 'replay_json must begin with a message' }
  }
  const steps: ReplayStep[] = []
  for (const event of rest) {
    const step = stepOf(event)
    if (step === null)
      return { ok: false, reason: `replay_json holds an action that cannot be replayed: ${event.action}` }
    steps.push(step)
  }
  const images = z.array(z.string()).safeParse(first.args.image_urls)
  const firstMessage = { content: first.args.content, imageUrls: images.success ? images.data : null }
  return { ok: true, replay: { firstMessage, steps } }
}

type Event = z.infer<typeof Recorded>

function stepOf({ action = '', args, source }: Event): ReplayStep | null {
  if (action === 'message') {
    if (typeof args.content !== 'string') return null
    return { kind: 'message', source: source === 'user' ? 'user' : 'agent', content: args.content }
  }
  const replay = actionKind(action)?.replay ?? null
  if (replay === null || replay === 'by-itself') return null
  const { name, arguments: given, thought = typeof args.thought === 'string' ? args.thought : '' } = replay(args)
  return { kind: 'call', name, arguments: JSON.stringify(given), thought }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the error is the same as for any text that is not a list of events.
    return null
  }
}

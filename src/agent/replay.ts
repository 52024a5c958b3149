// A recorded conversation, played again: its actions are taken in turn without asking a model, and what they observe is
// what really happens this time.

import { z } from 'zod'

const Recorded = z.object({
  source: z.string().optional(),
  action: z.string().optional(),
  observation: z.string().optional(),
  args: z.record(z.string(), z.unknown()).default({}),
})

export type ReplayStep =
  /** Somebody says something; the agent only waits for an answer after the last one. */
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
  // What the service itself adds to every conversation comes again by itself.
  const own = actions.filter(({ action }) => !OURS.has(action ?? ''))
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

const OURS: ReadonlySet<string> = new Set([
  'system',
  'recall',
  'change_agent_state',
  'condensation',
  'condensation_request',
])

type Event = z.infer<typeof Recorded>

function stepOf({ action, args, source }: Event): ReplayStep | null {
  const thought = typeof args.thought === 'string' ? args.thought : ''
  const call = (name: string, given: object): ReplayStep => ({
    kind: 'call',
    name,
    arguments: JSON.stringify(given),
    thought,
  })
  switch (action) {
    case 'message':
      if (typeof args.content !== 'string') return null
      return { kind: 'message', source: source === 'user' ? 'user' : 'agent', content: args.content }
    case 'run':
      return call('execute_bash', { command: args.command })
    case 'read':
      return call('str_replace_editor', { command: 'view', ...some(args, ['path', 'view_range']) })
    case 'edit':
      return call('str_replace_editor', some(args, EDITOR_ARGUMENTS))
    case 'write':
      return call('str_replace_editor', { command: 'create', path: args.path, file_text: args.content })
    case 'think':
      return { kind: 'call', name: 'think', arguments: JSON.stringify({ thought }), thought: '' }
    case 'finish':
      return call('finish', { message: args.final_thought ?? '' })
    case 'browse':
      return call('browse', { url: args.url })
    case 'call_tool_mcp':
      return call(String(args.name), (args.arguments ?? {}) as object)
    default:
      return null
  }
}

const EDITOR_ARGUMENTS = ['command', 'path', 'file_text', 'old_str', 'new_str', 'insert_line'] as const

function some(args: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (args[name] == null ? [] : [[name, args[name]]])))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: told like any other text that is no list of events.
    return null
  }
}

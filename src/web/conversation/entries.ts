// From the log to what a person reads: one entry per thing that happened, a command together with its output. Nothing
// from an event is ever markup here: every text is shown as text.

import type { StoredEvent } from '../wire.ts'

export type Output = { text: string; exitCode: number | null }

export type Entry =
  | { kind: 'said'; id: number; by: 'user' | 'agent'; text: string; files: string[] }
  | { kind: 'command'; id: number; command: string; thought: string; byUser: boolean; output: Output | null }
  | { kind: 'step'; id: number; title: string; body: string; pictures: string[] }
  | { kind: 'error'; id: number; text: string }
  | { kind: 'note'; id: number; text: string }

export type AgentState = { name: string; reason: string }

/** Bookkeeping between server and agent, which the state line shows already. */
const SILENT = new Set(['system', 'recall', 'change_agent_state', 'condensation', 'condensation_request', 'null'])

export function toEntries(events: StoredEvent[]): Entry[] {
  const entries: Entry[] = []
  const placeOf = new Map<number, number>()
  for (const event of events) {
    if (event.action === 'run') placeCommand(event, entries, placeOf)
    else if (event.observation === 'run') placeOutput(event, entries, placeOf)
    else {
      const entry = event.action === undefined ? fromObservation(event) : fromAction(event)
      if (entry) entries.push(entry)
    }
  }
  return entries
}

/** The state that the events tell last, `null` when they tell none. */
export function lastState(events: StoredEvent[]): AgentState | null {
  const event = events.findLast(({ observation }) => observation === 'agent_state_changed')
  return event ? { name: text(event.extras?.agent_state), reason: text(event.extras?.reason) } : null
}

function placeCommand(event: StoredEvent, entries: Entry[], placeOf: Map<number, number>): void {
  if (event.args?.hidden === true) return
  const command = text(event.args?.command)
  const before = entries.at(-1)
  // An agent that runs what the user typed would say it twice: the message then stands as the command itself.
  const typed = before?.kind === 'said' && before.by === 'user' && before.text.trim() === command.trim()
  // An action that waited for a confirmation is told again with the answer to it.
  const answered = before?.kind === 'command' && before.output === null && before.command === command
  if (typed || answered) entries.pop()
  placeOf.set(event.id, entries.length)
  const thought = text(event.args?.thought) || (answered ? before.thought : '')
  const byUser = typed || event.source === 'user'
  entries.push({ kind: 'command', id: event.id, command, thought, byUser, output: null })
}

function placeOutput(event: StoredEvent, entries: Entry[], placeOf: Map<number, number>): void {
  if (event.extras?.hidden === true) return
  const output = { text: text(event.content), exitCode: exitCodeOf(event) }
  const place = placeOf.get(event.cause ?? -1)
  const entry = place === undefined ? undefined : entries[place]
  if (place !== undefined && entry?.kind === 'command') {
    entries[place] = { ...entry, output }
    return
  }
  // Its command lies before the part of the log that is loaded.
  const command = text(event.extras?.command)
  entries.push({ kind: 'command', id: event.id, command, thought: '', byUser: event.source === 'user', output })
}

function exitCodeOf(event: StoredEvent): number | null {
  const metadata = event.extras?.metadata
  const code = typeof metadata === 'object' && metadata !== null && 'exit_code' in metadata ? metadata.exit_code : null
  return typeof code === 'number' ? code : null
}

function fromAction(event: StoredEvent): Entry | null {
  const { id, action = '', args = {} } = event
  // A model's instructions are not for the reader; that no model is there is.
  if (action === 'system' && args.agent_class === 'ShellAgent') {
    return { kind: 'note', id, text: text(args.content).replaceAll('\n', ' ') }
  }
  if (SILENT.has(action)) return null
  if (action === 'message') {
    const by = event.source === 'user' ? 'user' : 'agent'
    const said = by === 'user' ? text(args.content) : event.message
    return { kind: 'said', id, by, text: said || event.message || text(args.content), files: texts(args.file_urls) }
  }
  if (action === 'finish') {
    return { kind: 'said', id, by: 'agent', text: text(args.final_thought) || event.message, files: [] }
  }
  if (action === 'think') return { kind: 'note', id, text: text(args.thought) }
  if (action === 'run_ipython') return { kind: 'step', id, title: 'notebook', body: text(args.code), pictures: [] }
  const subject = text(args.path) || text(args.url) || text(args.name)
  const title = subject === '' ? words(action) : `${words(action)} ${subject}`
  return { kind: 'step', id, title, body: pretty(args), pictures: [] }
}

function fromObservation(event: StoredEvent): Entry | null {
  const { id, observation = '', extras = {} } = event
  if (SILENT.has(observation) || observation === 'think') return null
  if (observation === 'error') return { kind: 'error', id, text: event.message || text(event.content) }
  if (observation === 'agent_state_changed') return fromState(id, lastState([event]))
  const subject = text(extras.path) || text(extras.url) || text(extras.name)
  const pictures = observation === 'run_ipython' ? texts(extras.image_urls).filter(isPicture) : []
  const title = `${observation === 'run_ipython' ? 'notebook' : words(observation)} result${subject === '' ? '' : `: ${subject}`}`
  return { kind: 'step', id, title, body: text(event.content), pictures }
}

function fromState(id: number, state: AgentState | null): Entry | null {
  if (state?.name === 'error') return { kind: 'error', id, text: state.reason || 'The agent stopped with an error.' }
  if (state?.name === 'stopped') return { kind: 'note', id, text: 'Stopped.' }
  return null
}

/** Only what is in the event itself: an address would tell somebody that it was looked at. */
const isPicture = (url: string): boolean => /^data:image\/(png|jpeg);base64,/.test(url)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text).filter((item) => item !== '') : [])
const words = (name: string): string => name.replaceAll('_', ' ')
const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

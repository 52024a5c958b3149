// Converts the log to entries for users: one entry per thing that happened, a command together with its output. Text
// from events is never treated as markup.

import { say } from '../texts.ts'
import type { StoredEvent } from '../wire.ts'

/** `fault`: why there is no exit code, if there is none. */
export type Output = { text: string; exitCode: number | null; fault: string }

/** The user's answer to an action that required confirmation; `''` if none was required. */
export type Answer = '' | 'awaited' | 'rejected'

/** `at`: the start time, ISO 8601. `from`: the first event of the entry, if it is earlier than `id`. */
export type Entry = { id: number; at: string; from?: number } & (
  | { kind: 'said'; by: 'user' | 'agent'; text: string; files: string[]; pictures: string[] }
  | { kind: 'command'; command: string; thought: string; byUser: boolean; answer: Answer; output: Output | null }
  /**
   * `thought`: the agent's text before it. `result` is null until it exists. `isOpen`: its details are expanded.
   * `more`: further results.
   */
  | {
      kind: 'step'
      thought: string
      title: string
      body: string
      isOpen: boolean
      pictures: string[]
      more: string
      answer: Answer
      hasFailed: boolean
      result: string | null
    }
  | { kind: 'edit'; thought: string; path: string; diff: string; body: string; result: string }
  | { kind: 'error'; text: string }
  | { kind: 'note'; text: string }
  /** Markdown written by the model. */
  | { kind: 'thought'; text: string }
)

/** Whether both are displayed the same. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [ours, theirs] = [Object.entries(a), Object.entries(b)]
  return ours.length === theirs.length && ours.every(([key, value]) => isSame(value, Reflect.get(b, key)))
}

/** The target event of a jump, and the action that it answers. */
export type Focus = { id: number; cause: number | null }

/** The entry that contains an event, or the one before it if there is none, or the first. */
export const entryOf = (entries: readonly Entry[], { id, cause }: Focus): Entry | undefined =>
  entries.find((entry) => (entry.from ?? entry.id) <= id && id <= entry.id) ??
  entries.find((entry) => entry.id === cause) ??
  entries.findLast((entry) => entry.id <= id) ??
  entries[0]

export type AgentState = { name: string; reason: string }

const LABELS = {
  init: 'Setting up',
  loading: 'Setting up',
  running: 'Running',
  awaiting_user_input: 'Waiting for you',
  awaiting_user_confirmation: 'Waiting for a confirmation',
  paused: 'Paused',
  stopped: 'Stopped',
  finished: 'Finished',
  rejected: 'Declined',
  error: 'Error',
  rate_limited: 'Waiting for the model provider',
} as const

export const nameOfState = (name: string): string =>
  name in LABELS ? say(LABELS[name as keyof typeof LABELS]) : name.replaceAll('_', ' ')

/** The service's message if no model is configured. */
const OF_SHELL =
  'This conversation is a shell. Every message is run as a bash script in the workspace at /workspace; the folder and exported variables last from one message to the next. No language model is involved.'

/** Internal events of server and agent, which the status line already shows. */
const SILENT = new Set(['system', 'recall', 'change_agent_state', 'condensation', 'condensation_request', 'null'])

export function toEntries(events: StoredEvent[]): Entry[] {
  const entries: Entry[] = []
  const placeOf = new Map<number, number>()
  for (const event of events) {
    if (event.action === 'run') placeCommand(event, entries, placeOf)
    else if (event.observation === 'run') placeOutput(event, entries, placeOf)
    else if (event.observation === 'user_rejected') placeRejection(event, entries, placeOf)
    else if (event.action === undefined) placeObservation(event, entries, placeOf)
    else placeAction(event, entries, placeOf)
  }
  return entries
}

/** An action that waited for confirmation is repeated in the log with the answer. */
function placeAction(event: StoredEvent, entries: Entry[], placeOf: Map<number, number>): void {
  const entry = fromAction(event)
  if (entry === null) return
  const before = entries.at(-1)
  const isAnswered =
    before?.kind === 'step' && entry.kind === 'step' && before.result === null && before.body === entry.body
  if (isAnswered) entries.pop()
  if (entry.kind === 'step') placeOf.set(event.id, entries.length)
  entries.push(
    isAnswered ? { ...entry, thought: entry.thought || before.thought, from: before.from ?? before.id } : entry,
  )
}

/** The result of an action is shown in the card of the action. */
function placeObservation(event: StoredEvent, entries: Entry[], placeOf: Map<number, number>): void {
  const entry = fromObservation(event)
  // The reason for a stopped agent is in the previous error; its state repeats it as a code for programs.
  const isTold = event.observation === 'agent_state_changed' && entries.at(-1)?.kind === 'error'
  if (entry === null || (isTold && entry.kind === 'error')) return
  const place = placeOf.get(event.cause ?? -1)
  const action = place === undefined ? undefined : entries[place]
  if (place !== undefined && action?.kind === 'command' && entry.kind === 'error') {
    // Its first line is the reason; the rest is the output until then.
    const [fault = '', ...lines] = entry.text.split('\n')
    entries[place] = { ...action, output: { text: lines.join('\n'), exitCode: null, fault } }
    return
  }
  if (place === undefined || action?.kind !== 'step') {
    entries.push(entry)
    return
  }
  const { id, at, from, thought, title, body } = action
  const { result = null, pictures = [], more = '', hasFailed = false } = entry.kind === 'step' ? entry : {}
  if (entry.kind === 'step') entries[place] = { ...action, result, pictures, more, hasFailed }
  else if (entry.kind === 'edit')
    entries[place] = { ...entry, id, at, thought, body, ...(from !== undefined && { from }) }
  else if (entry.kind === 'error') entries[place] = { ...action, title, result: entry.text, hasFailed: true }
  else entries.push(entry)
}

/** A rejection of an action is shown in the action's card. */
function placeRejection(event: StoredEvent, entries: Entry[], placeOf: Map<number, number>): void {
  const place = placeOf.get(event.cause ?? -1)
  const action = place === undefined ? undefined : entries[place]
  if (place !== undefined && (action?.kind === 'command' || action?.kind === 'step'))
    entries[place] = { ...action, answer: 'rejected' }
  else entries.push({ ...placed(event), kind: 'note', text: say('You rejected it.') })
}

function answerTo({ args }: StoredEvent): Answer {
  const state = args?.confirmation_state
  return state === 'awaiting_confirmation' ? 'awaited' : state === 'rejected' ? 'rejected' : ''
}

/** The last state in the events, `null` if they contain none. */
export function lastState(events: StoredEvent[]): AgentState | null {
  const event = events.findLast(({ observation }) => observation === 'agent_state_changed')
  return event ? { name: text(event.extras?.agent_state), reason: text(event.extras?.reason) } : null
}

function placeCommand(event: StoredEvent, entries: Entry[], placeOf: Map<number, number>): void {
  if (event.args?.hidden === true) return
  const command = text(event.args?.command)
  const before = entries.at(-1)
  // An agent that runs the user's text would show it twice: the message is replaced by the command.
  const typed = before?.kind === 'said' && before.by === 'user' && before.text.trim() === command.trim()
  // An action that waited for confirmation is repeated in the log with the answer.
  const answered = before?.kind === 'command' && before.output === null && before.command === command
  if (typed || answered) entries.pop()
  placeOf.set(event.id, entries.length)
  const thought = text(event.args?.thought) || (answered ? before.thought : '')
  const byUser = typed || event.source === 'user'
  const place = { ...placed(event), ...((typed || answered) && { from: before.from ?? before.id }) }
  entries.push({ ...place, kind: 'command', command, thought, byUser, answer: answerTo(event), output: null })
}

function placeOutput(event: StoredEvent, entries: Entry[], placeOf: Map<number, number>): void {
  if (event.extras?.hidden === true) return
  const output = { text: text(event.content), exitCode: exitCodeOf(event), fault: '' }
  const place = placeOf.get(event.cause ?? -1)
  const entry = place === undefined ? undefined : entries[place]
  if (place !== undefined && entry?.kind === 'command') {
    entries[place] = { ...entry, output }
    return
  }
  // Its command is before the loaded part of the log.
  const command = text(event.extras?.command)
  const byUser = event.source === 'user'
  entries.push({ ...placed(event), kind: 'command', command, thought: '', byUser, answer: '', output })
}

function exitCodeOf(event: StoredEvent): number | null {
  const metadata = event.extras?.metadata
  const code = typeof metadata === 'object' && metadata !== null && 'exit_code' in metadata ? metadata.exit_code : null
  return typeof code === 'number' ? code : null
}

const placed = ({ id, timestamp: at }: StoredEvent) => ({ id, at })

function fromAction(event: StoredEvent): Entry | null {
  const { action = '', args = {} } = event
  const place = placed(event)
  // A model's instructions are not shown to the user, but a missing model is.
  if (action === 'system' && args.agent_class === 'ShellAgent') {
    const about = text(args.content).replaceAll('\n', ' ')
    return { ...place, kind: 'note', text: about === OF_SHELL ? say(OF_SHELL) : about }
  }
  if (SILENT.has(action)) return null
  if (action === 'message') return fromMessage(event)
  if (action === 'finish') {
    const said = [text(args.thought), text(args.final_thought) || event.message].filter(isNew).join('\n\n')
    return { ...place, kind: 'said', by: 'agent', text: said, files: [], pictures: [] }
  }
  if (action === 'think') {
    // Texts from the environment are not a model's thoughts.
    if (event.source !== 'agent') return { ...place, kind: 'note', text: text(args.thought) }
    return { ...place, kind: 'thought', text: planned(text(args.thought)) }
  }
  const open = {
    thought: text(args.thought),
    result: null,
    pictures: [],
    more: '',
    hasFailed: false,
    answer: answerTo(event),
  }
  const begun = { ...place, ...open, kind: 'step' as const }
  if (action === 'run_ipython') return { ...begun, title: say('Notebook'), body: text(args.code), isOpen: true }
  if (action === 'browse_interactive')
    return { ...begun, title: say('Browser'), body: text(args.browser_actions), isOpen: true }
  const subject = text(args.path) || text(args.url) || text(args.name)
  const title = subject === '' ? nameOfKind(action) : `${nameOfKind(action)} ${subject}`
  return { ...begun, title, body: detailsOf(args), isOpen: false }
}

/** Fields that the service adds for itself, and fields shown elsewhere in a card. */
const NO_DETAILS = new Set(['thought', 'confirmation_state', 'security_risk', 'security_reasons', 'impl_source'])

/** The arguments for display: a text is shown unchanged under its name. */
function detailsOf(args: Record<string, unknown>): string {
  const told = Object.entries(args).filter(([name, value]) => !NO_DETAILS.has(name) && value !== null && value !== '')
  return told
    .map(([name, value]) => {
      const shown = typeof value === 'string' ? value : pretty(value)
      return `${words(name)}:${shown.includes('\n') ? '\n' : ' '}${shown}`
    })
    .join('\n')
}

/** The complete action to be confirmed: nothing of it may be hidden. */
export function askedOf({ action = '', args = {} }: StoredEvent): string {
  const whole = [args.command, args.code, args.browser_actions]
  const isWhole = action === 'run' || action === 'run_ipython' || action === 'browse_interactive'
  const found = isWhole ? text(whole.find((part) => text(part) !== '')) : ''
  return found !== '' ? found : `${nameOfKind(action)}\n${detailsOf(args)}`.trim()
}

/** Not empty, and not a repetition. */
const isNew = (said: string, at: number, all: readonly string[]): boolean => said !== '' && all.indexOf(said) === at

/** Markdown has no sign for a step of a plan that is in progress. */
const planned = (thought: string): string =>
  thought.replaceAll(/^(\d+\. )\[>\] (.*)$/gm, (_, number, step) => `${number}[ ] **${step}** (${say('under way')})`)

function fromMessage(event: StoredEvent): Entry {
  const { args = {} } = event
  const by = event.source === 'user' ? 'user' : 'agent'
  const said = by === 'user' ? text(args.content) : event.message
  return {
    ...placed(event),
    kind: 'said',
    by,
    text: said || event.message || text(args.content),
    files: texts(args.file_urls),
    pictures: picturesIn(args.image_urls),
  }
}

function fromObservation(event: StoredEvent): Entry | null {
  const { observation = '', extras = {} } = event
  const place = placed(event)
  if (SILENT.has(observation) || observation === 'think') return null
  if (observation === 'error') return { ...place, kind: 'error', text: event.message || text(event.content) }
  if (observation === 'agent_state_changed') return fromState(event)
  const content = text(event.content)
  // Users see the picture of a page; its accessibility tree is collapsed.
  const at = extras.trigger_by_action === 'browse_interactive' ? content.search(/^=+ BEGIN accessibility tree/m) : -1
  const [result, more] = at < 0 ? [content, ''] : [content.slice(0, at).trimEnd(), content.slice(at)]
  if (text(extras.diff) !== '') {
    return { ...place, kind: 'edit', thought: '', path: text(extras.path), diff: text(extras.diff), body: '', result }
  }
  const kind = nameOfKind(observation)
  const subject = text(extras.path) || text(extras.url) || text(extras.name)
  const title = subject === '' ? say('{kind} result', { kind }) : say('{kind} result: {subject}', { kind, subject })
  const pictures = picturesIn([extras.set_of_marks || extras.screenshot, ...listed(extras.image_urls), event.content])
  const shown = pictures.includes(result) ? '' : result.replace(JUPYTER, '')
  const hasFailed = (observation === 'edit' || observation === 'read') && result.startsWith('ERROR:')
  const rest = { thought: '', body: '', isOpen: false, answer: '' as const, hasFailed }
  return { ...place, kind: 'step', title, ...rest, result: shown, pictures, more }
}

function fromState(event: StoredEvent): Entry | null {
  const state = lastState([event])
  if (state?.name === 'error') {
    return { ...placed(event), kind: 'error', text: state.reason || say('The agent stopped with an error.') }
  }
  if (state?.name === 'stopped') return { ...placed(event), kind: 'note', text: say('Stopped.') }
  return null
}

/** Added for the model after every cell. */
const JUPYTER = /(?:\n?\[Jupyter (?:current working directory|Python interpreter): [^\n]*\])+\s*$/
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml);base64,/

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** Only embedded pictures: one from another host would reveal the viewer to that host. */
const picturesIn = (value: unknown): string[] =>
  listed(value)
    .map(text)
    .filter((url) => PICTURE.test(url))
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text).filter((item) => item !== '') : [])
const KINDS = {
  read: 'read',
  edit: 'edit',
  write: 'write',
  browse: 'browse',
  call_tool_mcp: 'tool',
  mcp: 'tool',
} as const
const nameOfKind = (name: string): string =>
  Object.hasOwn(KINDS, name) ? say(KINDS[name as keyof typeof KINDS]) : words(name)
const words = (name: string): string => name.replaceAll('_', ' ')
const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

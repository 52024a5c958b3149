// What must be true of a schedule when everything is over, whatever died on the way.

import type { ActionEvent, ObservationEvent } from '../../src/agent/events.ts'
import type { PromptMessage } from '../../src/llm/model.ts'
import type { Life } from './life.ts'
import type { Schedule } from './schedule.ts'

type Event = (ActionEvent | ObservationEvent) & { id: number }
type Call = {
  key: number
  call_id: string
  arguments: string
  state: string
  observation_id: number | null
  answer: string | null
  first_event: number | null
}

const RESTS: ReadonlySet<string> = new Set(['awaiting_user_input', 'finished', 'rejected', 'stopped', 'error'])
const UNKNOWN = 'outcome is unknown'

export function faultsOf(schedule: Schedule, last: Life): string[] {
  const stored = last.log.since(-1, 10_000)
  const events = stored.map(({ text }) => JSON.parse(text) as Event)
  return [
    ...schedule.faults,
    ...faultsOfLog(
      schedule,
      stored.map(({ text }) => text),
      events,
    ),
    ...faultsOfStates(events, last),
    ...faultsOfCalls({ schedule, events, messages: last.history.messages() }),
    ...faultsOfRequests(schedule, events, last),
    ...faultsOfSpans(schedule, last),
  ]
}

function faultsOfLog({ seen }: Schedule, stored: readonly string[], events: readonly Event[]): string[] {
  const faults: string[] = []
  for (const [at, { id }] of events.entries()) if (id !== at) faults.push(`event ${id} stands at ${at}`)
  if (seen.length !== stored.length) faults.push(`the client has ${seen.length} of ${stored.length} events`)
  for (const [at, { text }] of seen.entries()) if (text !== stored[at]) faults.push(`event ${at} was shown differently`)
  return faults
}

/** A turn ends once: no state is told twice in a row, and one end follows another only where the user asked for it. */
function faultsOfStates(events: readonly Event[], { loop, turn }: Life): string[] {
  const faults: string[] = []
  let before = ''
  let isAsked = false
  for (const [at, event] of events.entries()) {
    if (event.source === 'user' && 'action' in event && event.action === 'change_agent_state') isAsked = true
    const state = stateOf(event)
    if (state === null) continue
    // A session that is closed is stopped, whatever came before.
    if (state === 'stopped' && stateOf(events[at + 1]) === 'loading') isAsked = true
    if (state === before) faults.push(`${state} was told twice in a row, at ${event.id}`)
    if (RESTS.has(state) && RESTS.has(before) && !isAsked) faults.push(`${state} followed ${before} at ${event.id}`)
    before = state
    isAsked = false
  }
  if (!RESTS.has(before) || before !== loop.state) faults.push(`it rests in ${loop.state}, and told ${before}`)
  const thrown = events.filter((event) => /the service failed|a reason of the service/.test(JSON.stringify(event)))
  for (const { id } of thrown) faults.push(`something was thrown, says event ${id}`)
  if (turn.value.step !== null) faults.push('a step is open at the end')
  return faults
}

function stateOf(event: Event | undefined): string | null {
  if (event === undefined || !('observation' in event) || event.observation !== 'agent_state_changed') return null
  return String(event.extras.agent_state)
}

type Books = { schedule: Schedule; events: readonly Event[]; messages: readonly PromptMessage[] }

function faultsOfCalls({ schedule, events, messages }: Books): string[] {
  const faults = faultsOfPrompt(messages)
  const known = schedule.disk.read("SELECT 1 FROM sqlite_master WHERE name = 'tool_calls'").length > 0
  const calls = known
    ? schedule.disk.read<Call>('SELECT * FROM tool_calls JOIN model_steps USING (step) ORDER BY key')
    : []
  for (const call of calls) {
    const say = (text: string) => faults.push(`call ${call.key}, ${call.arguments}: ${text}`)
    if (call.state !== 'settled') say(`it is ${call.state} at the end`)
    if ((call.observation_id === null) === (call.answer === null)) say('it does not have exactly one outcome')
    const told = events.filter(
      (event) => 'observation' in event && event.tool_call_metadata?.tool_call_id === call.call_id,
    ) as ObservationEvent[]
    if (told.length !== (call.observation_id === null ? 0 : 1)) say(`the user was told ${told.length} outcomes`)
    const text = told[0]?.content ?? call.answer ?? ''
    const read = messages.filter((message) => message.role === 'tool' && message.callId === call.call_id)
    // An answer of which nothing was shown, or run, before the user pressed stop is no part of the conversation.
    const isForgotten = call.first_event === null && read.length === 0 && told.length === 0 && !didRun(call, schedule)
    if (isForgotten) continue
    if (read.length !== 1 || !JSON.stringify(read).includes(JSON.stringify(text).slice(1, -1))) {
      say(`the user was told "${text}", the model ${JSON.stringify(read)}`)
    }
    checkDeed({ call, text, schedule, say })
  }
  return faults
}

const tokenOf = (call: Call): string => /"token":"(t\d+)"/.exec(call.arguments)?.[1] ?? ''

const didRun = (call: Call, { deeds }: Schedule): boolean => deeds.has(tokenOf(call))

type Look = { call: Call; text: string; schedule: Schedule; say(text: string): void }

function checkDeed({ call, text, schedule, say }: Look): void {
  const token = tokenOf(call)
  const deed = schedule.deeds.get(token)
  const took = deed?.took ?? 0
  const isKnown = text === `did ${token}`
  if (isKnown && took === 0) say('it is told as done, and was not')
  if (deed !== undefined && !deed.isRepeatable && took > 1) say(`its effect came ${took} times`)
  const isOpen = text.includes(UNKNOWN) || text.includes('Stopped')
  // What may be run again whenever its outcome is lost does no harm when it is not.
  if (took > 0 && !isKnown && !isOpen && deed?.isRepeatable === false)
    say(`its effect is there, and the model was told "${text}"`)
  if (text.includes(UNKNOWN) && deed?.isRepeatable === true)
    say(`it does no harm twice, and was not run again: ${text}`)
}

/** Each call in an answer is followed by what came of it, once. */
function faultsOfPrompt(messages: readonly PromptMessage[]): string[] {
  const faults: string[] = []
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open[0] !== message.callId) faults.push(`the model reads an outcome of ${message.callId} out of turn`)
      open = open.slice(1)
    } else {
      if (open.length > 0) faults.push(`the model reads no outcome of ${open.join(', ')}`)
      open = message.role === 'assistant' ? message.calls.map(({ id }) => id) : []
    }
  }
  return faults
}

function faultsOfRequests({ acknowledged, deeds }: Schedule, events: readonly Event[], { turn }: Life): string[] {
  const faults: string[] = []
  for (const { event, ref } of acknowledged) {
    if (event.action === 'change_agent_state') continue
    const found = events.filter(
      (one) =>
        'action' in one &&
        one.source === 'user' &&
        one.action === event.action &&
        JSON.stringify(one.args) === JSON.stringify(event.args),
    )
    if (found.length !== 1) faults.push(`${ref} was acknowledged and stands in the log ${found.length} times`)
    const id = found[0]?.id ?? 0
    if (id > turn.value.cursor) faults.push(`${ref} was never taken up`)
    if (event.action !== 'run') continue
    const outcomes = events.filter((one) => 'observation' in one && one.cause === id)
    const begun = deeds.get(String(event.args.command))?.begun ?? 0
    if (outcomes.length > 1 || begun > outcomes.length)
      faults.push(`${ref} ran ${begun} times, told ${outcomes.length}`)
  }
  return faults
}

/** What happened, a line an event. */
export function storyOf({ seen }: Schedule): string {
  const lines = seen.map(({ text }) => {
    const { id, source, ...event } = JSON.parse(text) as Event
    if ('action' in event) return `${id} ${source} ${event.action} ${event.args.agent_state ?? event.message}`
    return `${id} =${event.observation} ${event.cause ?? ''} ${event.extras.agent_state ?? event.content}`
  })
  return lines.map((line) => line.slice(0, 120)).join('\n')
}

type StoredSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: Record<string, unknown> }[]
}

/** Each step that ended is told of in one span below that of its turn, and nothing of what was said is in any. */
function faultsOfSpans({ disk }: Schedule, { turn }: Life): string[] {
  const isThere = (table: string) => disk.read('SELECT 1 FROM sqlite_master WHERE name = ?', table).length > 0
  const bodies = isThere('spans') ? disk.read<{ body: string }>('SELECT body FROM spans').map(({ body }) => body) : []
  const faults = bodies.filter((body) => /message \d|did t\d|"t\d+"/.test(body)).map((body) => `a span quotes: ${body}`)
  const spans = bodies.map((body) => JSON.parse(body) as StoredSpan)
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
  const steps = spans.filter(({ parentSpanId }) => parentSpanId !== undefined)
  const number = (span: StoredSpan, name: string) =>
    Number(span.attributes.find(({ key }) => key === name)?.value.intValue ?? 0)
  for (const root of roots) {
    const own = steps.filter(({ traceId, parentSpanId }) => traceId === root.traceId && parentSpanId === root.spanId)
    const told = number(root, 'bellwether.turn.steps')
    if (own.length !== told) faults.push(`a turn of ${told} steps has ${own.length} spans`)
  }
  const orphans = steps.filter(({ traceId }) => !roots.some((root) => root.traceId === traceId))
  if (orphans.length > 0) faults.push(`${orphans.length} spans have no turn`)
  if (turn.value.trace !== null) faults.push('a turn is being traced at the end')
  if (!isThere('model_steps')) return faults
  const answers = disk.read('SELECT 1 FROM model_steps').length
  const asked = steps.filter(({ attributes }) => attributes.some(({ key }) => key === 'gen_ai.response.finish_reasons'))
  if (asked.length !== answers) faults.push(`${answers} answers of the model have ${asked.length} spans`)
  for (const { call_id: id, state } of disk.read<Call>(
    'SELECT * FROM tool_calls WHERE action_id IS NOT NULL AND observation_id IS NOT NULL',
  )) {
    const own = steps.filter(({ attributes }) => attributes.some(({ value }) => value.stringValue === id))
    // A call that was refused, or was dropped while it waited, was never a step.
    if (own.length > 1) faults.push(`call ${id}, which is ${state}, has ${own.length} spans`)
  }
  return faults
}

// The invariants of a conversation at the end of a run with faults.

import type { AgentConversation } from './agent-conversation.ts'
import { PLACES, planned, type Task, type TokenTarget, taskText } from './agent-script.ts'
import type { SeenEvent } from './watcher.ts'

export type Books = {
  events: number
  turns: number
  calls: number
  /** Calls whose outcome was lost by a kill; the model was told of each. */
  unknown: number
  lostEvents: string[]
  doubled: string[]
  stuck: string[]
  /** Calls that ran and left nothing behind, or were never made. */
  missing: string[]
  /** Forks whose workspace differs from the state at their event. */
  differing: string[]
}

export const noBooks = (): Books => ({
  events: 0,
  turns: 0,
  calls: 0,
  unknown: 0,
  lostEvents: [],
  doubled: [],
  stuck: [],
  missing: [],
  differing: [],
})

/** Checks one conversation and adds its results. */
export async function audit(conversation: AgentConversation, books: Books): Promise<void> {
  const { id, given, watcher } = conversation
  const say = (text: string) => `${id}: ${text}`
  const commits = await conversation.run('cd /workspace && git log --format=%s', `${id}-audit`)
  if (commits === null) books.stuck.push(say('it runs no command any more'))
  const stored = await conversation.stored()
  books.events += stored.length
  books.turns += given.length
  books.lostEvents.push(...lost(stored, watcher.events, watcher.faults).map(say))
  for (const { task, end, reason } of given) {
    if (end === null) books.stuck.push(say(`${task.name} never ended`))
    else if (end !== 'awaiting_user_input' && end !== 'finished') {
      books.stuck.push(say(`${task.name} ended as ${end}: ${reason}`))
    }
    const asked = stored.filter(({ action, message }) => action === 'message' && message === taskText(task)).length
    if (asked === 0) books.lostEvents.push(say(`the message of ${task.name} is not in the log`))
    if (asked > 1) books.doubled.push(say(`the message of ${task.name} stands in the log ${asked} times`))
  }
  const found = {
    'tokens.txt': await conversation.lines('tokens.txt'),
    'notes.txt': await conversation.lines('notes.txt'),
    commits: (commits ?? '').split('\n'),
  }
  for (const { task } of given) check({ task, stored, found, say }, books)
  books.differing.push(...inheritedWrongly({ stored, found, forkedAt: conversation.forkedAt }).map(say))
  for (const place of PLACES) {
    const tokens = found[place].filter((line) => TOKEN.test(line))
    const twice = tokens.filter((token, at) => tokens.indexOf(token) !== at)
    books.doubled.push(...twice.map((token) => say(`${token} stands in ${place} more than once`)))
  }
}

function lost(stored: readonly SeenEvent[], seen: readonly SeenEvent[], faults: readonly string[]): string[] {
  const found = [...faults]
  for (const [at, event] of stored.entries()) {
    if (event.id !== at) found.push(`event ${event.id} stands at place ${at}`)
  }
  for (const event of seen) {
    const now = stored[event.id]
    if (now === undefined) found.push(`event ${event.id} was shown and is not stored`)
    else if (JSON.stringify(now) !== JSON.stringify(event)) found.push(`event ${event.id} was shown differently`)
  }
  return found
}

type Inheritance = {
  stored: readonly SeenEvent[]
  found: Readonly<Record<TokenTarget, readonly string[]>>
  forkedAt: number
}

/** Effects that were settled before the event exist; effects of later calls do not. */
function inheritedWrongly({ stored, found, forkedAt }: Inheritance): string[] {
  const wrong: string[] = []
  const until = stored.filter(({ id }) => id <= forkedAt)
  const own = new Set(stored.filter(({ id }) => id > forkedAt).flatMap((event) => tokenOf(event) ?? []))
  const begun = new Map(until.flatMap((event) => (tokenOf(event) === null ? [] : [[tokenOf(event), event.id]])))
  const all = new Set(PLACES.flatMap((place) => found[place]).filter((line) => TOKEN.test(line)))
  for (const token of all) {
    if (!begun.has(token) && !own.has(token)) wrong.push(`${token} came from after event ${forkedAt}`)
  }
  for (const [token, id] of begun) {
    const outcome = until.find(({ cause, observation }) => cause === id && observation !== undefined)
    const isSettled = outcome !== undefined && outcome.observation !== 'error'
    if (token !== null && isSettled && !all.has(token)) wrong.push(`${token} of before event ${forkedAt} is not there`)
  }
  return wrong
}

const TOKEN = /^[\w-]+\.\d+\.\d+$/

/** Of a call of the agent's; null for any other event. */
function tokenOf({ source, action, args }: SeenEvent): string | null {
  if (source !== 'agent' || action === undefined) return null
  const text = `${args?.command ?? ''} ${args?.new_str ?? ''}`
  return text.split(/[\s;]+/).find((word) => TOKEN.test(word)) ?? null
}

type Look = {
  task: Task
  stored: readonly SeenEvent[]
  found: Readonly<Record<TokenTarget, readonly string[]>>
  say(text: string): string
}

function check({ task, stored, found, say }: Look, books: Books): void {
  for (const { token, place, call } of planned(task)) {
    const { command, new_str: inserted } = call.arguments as { command: string; new_str?: string }
    const actions = stored.filter(({ args, action, source }) => {
      if (action === undefined || source !== 'agent') return false
      return inserted === undefined ? args?.command === command : args?.new_str === inserted
    })
    books.calls += actions.length
    if (actions.length > 1) books.doubled.push(say(`the call of ${token} was made ${actions.length} times`))
    const [action] = actions
    if (action === undefined) {
      books.missing.push(say(`the call of ${token} was never made`))
      continue
    }
    const outcomes = stored.filter(({ cause, observation }) => cause === action.id && observation !== undefined)
    if (outcomes.length !== 1) books.lostEvents.push(say(`${token} has ${outcomes.length} outcomes`))
    const times = found[place].filter((line) => line === token).length
    const isUnknown = outcomes[0]?.content?.includes('outcome is unknown') === true
    if (isUnknown) books.unknown += 1
    else if (outcomes[0]?.observation === 'error') books.missing.push(say(`${token}: ${outcomes[0].content}`))
    else if (times === 0)
      books.missing.push(say(`${token} is settled (${outcomes[0]?.content}) and left nothing behind`))
  }
}

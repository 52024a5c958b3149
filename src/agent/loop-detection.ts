// An agent that goes round in circles is stopped. What it did since the user last spoke is looked at in short form: one
// entry an event, with a digest in place of everything that makes two events alike or different.

import { createHash } from 'node:crypto'
import { isHidden, type NewEvent } from './events.ts'

export type LoopEntry =
  /** What the agent did. `cause` of its observation is this id. */
  | { readonly kind: 'action'; readonly id: number; readonly digest: string }
  | { readonly kind: 'observation'; readonly cause: number | null; readonly digest: string; readonly isError: boolean }
  | { readonly kind: 'message'; readonly digest: string }
  | { readonly kind: 'condensation' }

export type LoopPattern = 'repeated-pair' | 'repeated-error' | 'monologue' | 'alternation' | 'condensation'

const REPEATED_PAIRS = 4
const REPEATED_ERRORS = 3
const REPEATED_MESSAGES = 3
const ALTERNATING_PAIRS = 6
const CONDENSATIONS = 10
const MIN_ENTRIES = 3

/** No pattern looks further back than over so many entries, if every action has its observation. */
export const LOOP_WINDOW = 2 * ALTERNATING_PAIRS + CONDENSATIONS

/** The event in short form. Null for one that counts for nothing; `'user'` where counting begins anew. */
export function loopEntry(event: NewEvent, id: number): LoopEntry | 'user' | null {
  if (isHidden(event)) return null
  if ('observation' in event) return observed(event)
  const { action, source, args } = event
  if (action === 'message') return source === 'user' ? 'user' : { kind: 'message', digest: digestOf(args.content) }
  if (action === 'condensation') return { kind: 'condensation' }
  // Told a second time once it is confirmed.
  if (source !== 'agent' || IGNORED_ACTIONS.has(action) || args.confirmation_state === 'awaiting_confirmation')
    return null
  return { kind: 'action', id, digest: digestOf([action, sameArgs(action, args)]) }
}

/** The pattern that the newest entries make. `entries` are those since the user's last message, oldest first. */
export function loopIn(entries: readonly LoopEntry[]): LoopPattern | null {
  if (entries.length < MIN_ENTRIES) return null
  const pairs = pairsOf(entries)
  if (isRepeated(pairs)) return 'repeated-pair'
  if (isRepeatedError(pairs)) return 'repeated-error'
  if (isMonologue(entries)) return 'monologue'
  if (isAlternation(pairs)) return 'alternation'
  return isCondensing(entries) ? 'condensation' : null
}

/** What an error state that comes of it says. */
export const STUCK_REASON = 'AgentStuckInLoopError: Agent got stuck in a loop'

const IGNORED_ACTIONS: ReadonlySet<string> = new Set([
  'system',
  'null',
  'recall',
  'change_agent_state',
  'condensation_request',
])
const IGNORED_OBSERVATIONS: ReadonlySet<string> = new Set([
  'null',
  'recall',
  'agent_state_changed',
  'condense',
  'user_rejected',
])
/** Errors that no action of the agent's brought about. */
const USER_ONLY = 'AGENT_NOTE$USER_ONLY'

function observed(event: Extract<NewEvent, { observation: string }>): LoopEntry | null {
  const { observation, content, extras, cause = null, source } = event
  if (source !== 'agent' || IGNORED_OBSERVATIONS.has(observation) || extras.error_id === USER_ONLY) return null
  // The output of a command may tell the time; that it is the same command with the same end is enough.
  const compared = observation === 'run' ? [extras.command, exitCodeOf(extras)] : content
  return { kind: 'observation', cause, digest: digestOf([observation, compared]), isError: isError(event) }
}

function exitCodeOf(extras: Record<string, unknown>): unknown {
  return (extras.metadata as { exit_code?: unknown } | undefined)?.exit_code
}

const SYNTAX_ERROR = /\bSyntaxError: /

function isError({ observation, content }: Extract<NewEvent, { observation: string }>): boolean {
  return observation === 'error' || (observation === 'run_ipython' && SYNTAX_ERROR.test(content))
}

/** What the model said beside it does not make an action another one; of a thought it is all there is. */
function sameArgs(action: string, args: Record<string, unknown>): unknown {
  if (action === 'think') return args.thought
  const { thought: _thought, security_risk: _risk, confirmation_state: _confirmation, ...same } = args
  return same
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64')
}

type Pair = { action: string; observation: string | null; isError: boolean }

/** Each action with what answered it. A call that could not even be made is an answer alone, and a pair as well. */
function pairsOf(entries: readonly LoopEntry[]): Pair[] {
  const pairs: Pair[] = []
  const open = new Map<number, Pair>()
  for (const entry of entries) {
    if (entry.kind === 'action') {
      const pair = { action: entry.digest, observation: null, isError: false }
      open.set(entry.id, pair)
      pairs.push(pair)
    } else if (entry.kind === 'observation') {
      const pair = entry.cause === null ? undefined : open.get(entry.cause)
      if (pair) Object.assign(pair, { observation: entry.digest, isError: entry.isError })
      else if (entry.cause === null) pairs.push({ action: '', observation: entry.digest, isError: entry.isError })
    }
  }
  return pairs
}

function areEqual(a: Pair | undefined, b: Pair | undefined): boolean {
  return a !== undefined && b !== undefined && a.action === b.action && a.observation === b.observation
}

function isRepeated(pairs: readonly Pair[]): boolean {
  const last = pairs.slice(-REPEATED_PAIRS)
  const isWhole = last.length === REPEATED_PAIRS && last.every(({ observation }) => observation !== null)
  return isWhole && last.every((pair) => areEqual(pair, last[0]))
}

/** The errors themselves may differ. */
function isRepeatedError(pairs: readonly Pair[]): boolean {
  const last = pairs.slice(-REPEATED_ERRORS)
  const [first] = last
  if (last.length < REPEATED_ERRORS || first === undefined || !last.every((pair) => pair.isError)) return false
  // Calls that could not be made have no action to compare; their errors say what was tried.
  return first.action === ''
    ? last.every((pair) => areEqual(pair, first))
    : last.every(({ action }) => action === first.action)
}

function isMonologue(entries: readonly LoopEntry[]): boolean {
  const messages: string[] = []
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'observation') break
    if (entry.kind === 'message') messages.push(entry.digest)
    if (messages.length === REPEATED_MESSAGES) return messages.every((digest) => digest === messages[0])
  }
  return false
}

function isAlternation(pairs: readonly Pair[]): boolean {
  const last = pairs.slice(-ALTERNATING_PAIRS)
  if (last.length < ALTERNATING_PAIRS || last.some(({ observation }) => observation === null)) return false
  return !areEqual(last[0], last[1]) && last.every((pair, i) => areEqual(pair, last[i % 2]))
}

function isCondensing(entries: readonly LoopEntry[]): boolean {
  const last = entries.slice(-CONDENSATIONS)
  return last.length === CONDENSATIONS && last.every(({ kind }) => kind === 'condensation')
}

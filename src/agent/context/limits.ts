// How long the agent may continue without the user. A message after a limit was reached extends it by its original
// size.

import { createHash } from 'node:crypto'
import { isHidden, type NewEvent } from '../events.ts'
import type { StepConfig } from '../step-config.ts'
import { contentOf, withoutRemarks } from '../tools/action-kind.ts'
import { actionKind, observedKind } from '../tools/index.ts'
import type { TurnDeps } from '../turn-deps.ts'

/** Why the agent stops, as a name for programs, and what the user can do about it. */
export type Halt = { readonly reason: string; readonly advice: string }

/** Null while another answer may be requested. Applies limits that were changed in the settings. */
export function limitReached(turn: TurnDeps['turn'], { maxIterations, maxBudget }: StepConfig): Halt | null {
  const { iterations, metrics, limitBase } = turn.value
  if (limitBase.iterations !== maxIterations || limitBase.budget !== maxBudget) {
    turn.change({
      limitBase: { iterations: maxIterations, budget: maxBudget },
      iterationLimit: maxIterations,
      budgetLimit: maxBudget,
    })
  }
  const { iterationLimit, budgetLimit } = turn.value
  if (iterationLimit !== null && iterations >= iterationLimit) {
    turn.change({ limitHit: 'iterations' })
    return {
      reason: `RuntimeError: Agent reached maximum iteration. Current iteration: ${iterations}, max iteration: ${iterationLimit}`,
      advice: `The limit of ${iterationLimit} answers is reached. Send a message to let the agent go on for ${maxIterations} more.`,
    }
  }
  const cost = metrics?.cost ?? 0
  if (budgetLimit !== null && cost >= budgetLimit) {
    turn.change({ limitHit: 'budget' })
    return {
      reason: `RuntimeError: Agent reached maximum budget for conversation. Current budget: ${cost.toFixed(4)}, max budget: ${budgetLimit}`,
      advice: `The budget of ${dollars(budgetLimit)} is spent. Send a message to let the agent spend ${dollars(maxBudget ?? 0)} more.`,
    }
  }
  return null
}

const dollars = (amount: number): string => `$${Number(amount.toFixed(4))}`

export function extendLimits(turn: TurnDeps['turn']): void {
  const { limitHit, limitBase, iterations, metrics } = turn.value
  if (limitHit === 'iterations') turn.change({ iterationLimit: iterations + (limitBase.iterations ?? 0) })
  if (limitHit === 'budget') turn.change({ budgetLimit: (metrics?.cost ?? 0) + (limitBase.budget ?? 0) })
  if (limitHit !== null) turn.change({ limitHit: null })
}

/** Gives a new question as many answers as the first one had. */
export function renewLimit(turn: TurnDeps['turn']): void {
  const { iterations, limitBase } = turn.value
  if (limitBase.iterations !== null) turn.change({ iterationLimit: iterations + limitBase.iterations })
}

// Stops an agent that repeats itself. Its events since the user's last message are compared in short form: one entry
// for each event, with a digest of everything that matters for the comparison.

export type LoopEntry =
  /** An action. `cause` of its observation is this id. */
  | { readonly kind: 'action'; readonly id: number; readonly digest: string }
  | { readonly kind: 'observation'; readonly cause: number | null; readonly digest: string; readonly isError: boolean }
  | { readonly kind: 'message'; readonly digest: string }
  | { readonly kind: 'condensation' }

type LoopPattern = 'repeated-pair' | 'repeated-error' | 'monologue' | 'alternation' | 'condensation'

const REPEATED_PAIRS = 4
const REPEATED_ERRORS = 3
const REPEATED_MESSAGES = 3
const ALTERNATING_PAIRS = 6
const CONDENSATIONS = 10
const MIN_ENTRIES = 3

/** No pattern needs more entries than this, if every action has its observation. */
export const LOOP_WINDOW = 2 * ALTERNATING_PAIRS + CONDENSATIONS

/** The event in short form. Null for an event that is ignored; `'user'` when counting starts again. */
export function loopEntry(event: NewEvent, id: number): LoopEntry | 'user' | null {
  if (isHidden(event)) return null
  if ('observation' in event) return observed(event)
  const { action, source, args } = event
  if (action === 'message') return source === 'user' ? 'user' : { kind: 'message', digest: digestOf(args.content) }
  if (action === 'condensation') return { kind: 'condensation' }
  // The same action is stored a second time when it is confirmed.
  if (source !== 'agent' || IGNORED_ACTIONS.has(action) || args.confirmation_state === 'awaiting_confirmation')
    return null
  return { kind: 'action', id, digest: digestOf([action, (actionKind(action)?.sameAction ?? withoutRemarks)(args)]) }
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

/** The reason in the error state. */
const STUCK_REASON = 'AgentStuckInLoopError: Agent got stuck in a loop'

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
/** The mark of errors that only the user sees. */
const USER_ONLY = 'AGENT_NOTE$USER_ONLY'

function observed(event: Extract<NewEvent, { observation: string }>): LoopEntry | null {
  const { observation, extras, cause = null, source } = event
  if (source !== 'agent' || IGNORED_OBSERVATIONS.has(observation) || extras.error_id === USER_ONLY) return null
  const compared = (observedKind(observation)?.sameOutcome ?? contentOf)(event)
  return { kind: 'observation', cause, digest: digestOf([observation, compared]), isError: isError(event) }
}

const SYNTAX_ERROR = /\bSyntaxError: /

function isError({ observation, content }: Extract<NewEvent, { observation: string }>): boolean {
  return observation === 'error' || (observation === 'run_ipython' && SYNTAX_ERROR.test(content))
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64')
}

type Pair = { action: string; observation: string | null; isError: boolean }

/** Each action with its observation. An invalid call has only an observation, and is a pair, too. */
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

/** The texts of the errors may differ. */
function isRepeatedError(pairs: readonly Pair[]): boolean {
  const last = pairs.slice(-REPEATED_ERRORS)
  const [first] = last
  if (last.length < REPEATED_ERRORS || first === undefined || !last.every((pair) => pair.isError)) return false
  // Invalid calls have no action to compare; their errors name the call.
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

// Whether the agent repeats itself: reads the events since the user's last message, continuing from step to step.

const READ_EVENTS = 500

export const STUCK: Halt = {
  reason: STUCK_REASON,
  advice:
    'The agent did the same again and again without getting any further, so it was stopped. Send a message that tells it what to do differently.',
}

export class LoopDetector {
  readonly #log: TurnDeps['log']
  #entries: LoopEntry[] = []
  #upTo: number

  constructor({ log, turn }: Pick<TurnDeps, 'log' | 'turn'>) {
    this.#log = log
    // Events before the user's last message do not count.
    this.#upTo = turn.value.cursor - 1
  }

  isStuck(): boolean {
    while (this.#upTo < this.#log.last) {
      for (const { id, text } of this.#log.since(this.#upTo, READ_EVENTS)) {
        const entry = loopEntry(JSON.parse(text) as NewEvent, id)
        if (entry === 'user') this.#entries = []
        else if (entry !== null) this.#entries.push(entry)
        this.#upTo = id
      }
    }
    return loopIn(this.#entries) !== null
  }
}

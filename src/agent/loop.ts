// The agent's loop as a state machine on disk. The next step follows from the stored state: a command or a call is a
// row before it starts and an observation after it ends, each stored in one write with its events. After a crash, the
// next instance finds either no open step or one with an unknown outcome, which is recorded as interrupted and never
// run a second time.

import { giveWay } from '../lib/give-way.ts'
import { errorFields, log as logger } from '../lib/log.ts'
import { agentMessage } from './actions.ts'
import type { AgentName } from './agents.ts'
import { commandOf, refusalOf, runCommandStep, stoppedCommand } from './command-step.ts'
import { actionAt } from './confirmation.ts'
import { Knowledge, tellUnseenByShell } from './context/knowledge.ts'
import type { ActionEvent, ObservationEvent } from './events.ts'
import { ModelStep, partialNote } from './model-step.ts'
import { errorObservation } from './observations.ts'
import { agentNow } from './step-config.ts'
import { followCall, openCall } from './tool-step.ts'
import { dropWaiting, enter, messageWaits, nextInput, restIfShellIsDone, takeMessages } from './transitions.ts'
import type { AgentState, OpenStep, QueuedCall, RequestedState, StepOutcome, Turn } from './turn.ts'
import type { TurnDeps, TurnStore } from './turn-deps.ts'
import { receiveMessage, requestState } from './user-input.ts'

export class AgentLoop {
  readonly #deps: TurnDeps
  readonly #knowledge: Knowledge
  readonly #model: ModelStep
  #abort: AbortController | null = null

  constructor(deps: TurnDeps) {
    this.#deps = deps
    this.#knowledge = new Knowledge(deps)
    this.#model = new ModelStep(deps, this.#knowledge)
  }

  get state(): AgentState {
    return this.#turn.state
  }

  /** Whether no step is open that could change the workspace. */
  get isQuiet(): boolean {
    return this.#turn.step === null || this.#turn.step.kind === 'model'
  }

  /**
   * Stores an event of the user and returns its id; the loop processes it later. `isTask`: the message is a task in
   * natural language.
   */
  receive(event: ActionEvent, isTask = false): number {
    if (event.action === 'message') return receiveMessage(this.#deps, event, isTask)
    const id = this.#deps.emit([event])
    const state = event.args.agent_state as RequestedState
    if (event.action === 'run') this.#wake()
    else if (state === 'stopped') this.#stop()
    else requestState(this.#deps, state, event.args.action_id)
    return id
  }

  /** Ends the session: nothing runs any more, and the open step gets its observation now, while clients are connected. */
  close(reason = ''): void {
    const { step } = this.#turn
    this.#abort?.abort()
    if (step !== null) this.#settle(step, { ...cutShort(step, this.#deps), failure: 'stopped' })
    this.#change({ stopping: false })
    dropWaiting(this.#deps)
    enter(this.#deps, 'stopped', [], reason)
  }

  /** After a restart: closes a step with an unknown outcome, and continues with waiting work. */
  recover(): void {
    const { step, interruptions } = this.#turn
    if (step !== null && isFollowed(step, this.#deps)) this.#wake()
    else if (step !== null) {
      const delayMs = delayAfter(interruptions)
      const runsAgain = step.kind === 'model' || (step.kind === 'call' && step.repeatable)
      if (runsAgain && delayMs !== null) this.#deps.witness.carriesOn()
      this.#settle(step, { ...interrupted(step, this.#deps), failure: 'interrupted' })
      this.#change({ interruptions: interruptions + 1 })
      if (delayMs === null) enter(this.#deps, 'error', [], GIVEN_UP)
      else if (delayMs > 0) {
        const retryAt = Date.now() + delayMs
        this.#change({ failures: { ...this.#turn.failures, retryAt } })
        this.#deps.wake(retryAt)
      }
    }
    // The confirmed action was interrupted and is settled: the agent continues.
    const isConfirmedOver = this.#turn.state === 'user_confirmed' && this.#deps.calls.next()?.state !== 'confirmed'
    if (isConfirmedOver) enter(this.#deps, 'running')
    restIfShellIsDone(this.#deps)
    if (this.#next() !== null) this.#wake()
    else if (this.#turn.failures.retryAt > Date.now()) this.#deps.wake(this.#turn.failures.retryAt)
  }

  /** Works until nothing is left to do. Called from the alarm, so never twice at a time. */
  async work(): Promise<void> {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      await this.#guarded(next)
      await (this.#deps.giveWay() ?? giveWay())
    }
    const { retryAt } = this.#turn.failures
    if (this.#turn.state === 'running' && retryAt > Date.now()) this.#deps.wake(retryAt)
  }

  get #turn(): Readonly<Turn> {
    return this.#deps.turn.value
  }

  #change(changes: Partial<Turn>): void {
    this.#deps.turn.change(changes)
  }

  #wake(): void {
    this.#deps.wake(Date.now())
  }

  /** The next step, from the stored state alone; null to wait. */
  #next(): ((signal: AbortSignal) => Promise<void>) | null {
    const { state, step, opened, agent, failures } = this.#turn
    if (step !== null) {
      const isOurs = this.#abort !== null || !isFollowed(step, this.#deps)
      return isOurs ? null : (signal) => this.#follow(step, signal)
    }
    if (state === 'paused' || !opened) return null
    if (state === 'user_confirmed') return this.#nextCall()
    const input = nextInput(this.#deps)
    if (input !== null && (input.kind === 'action:run' || agent === 'ShellAgent')) {
      return (signal) => this.#runCommand(signal)
    }
    if (state !== 'running' || agent === 'ShellAgent' || failures.retryAt > Date.now()) return null
    return this.#nextCall() ?? ((signal) => this.#askModel(signal))
  }

  /** Continues the step as the instance that began it would have done. */
  async #follow(step: OpenStep, signal: AbortSignal): Promise<void> {
    this.#settle(step, await followStep(step, this.#deps, signal))
    restIfShellIsDone(this.#deps)
  }

  #nextCall(): ((signal: AbortSignal) => Promise<void>) | null {
    const call = this.#deps.calls.next()
    return call && ((signal) => this.#runCall(call, signal))
  }

  async #guarded(next: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#abort = new AbortController()
    try {
      await next(this.#abort.signal)
    } catch (error) {
      logger.error('agent.step_failed', errorFields(error))
      const name = error instanceof Error ? error.name : 'Error'
      this.#change({ step: null, stopping: false })
      this.#deps.calls.dropQueued('Not run: the service failed before it.')
      enter(this.#deps, 'error', [], `RuntimeError: the service failed with ${name}; send a message to go on`)
    } finally {
      this.#abort = null
    }
  }

  /** The settings name another agent now, or a model has become available. */
  #handOver(agent: AgentName): void {
    this.#change({ agent })
    this.#deps.emit([this.#deps.introduce(agent)])
  }

  async #runCommand(signal: AbortSignal): Promise<void> {
    const deps = this.#deps
    if (nextInput(deps)?.kind === 'action:message') {
      const agent = await agentNow(deps.configs, this.#turn.agent, signal)
      if (agent !== this.#turn.agent) return this.#handOver(agent)
    }
    if (this.#turn.agent === 'ShellAgent') await this.#knowledge.catchUp()
    const input = nextInput(deps)
    if (input === null || this.#turn.state === 'paused') return
    const refusal = refusalOf(input, this.#turn)
    if (refusal !== null) {
      // An input that is not a script is answered with a sentence.
      this.#change({ cursor: input.id })
      deps.emit([agentMessage(refusal)])
    } else {
      tellUnseenByShell(deps, input)
      const step = commandOf(deps, input)
      this.#change({ step, cursor: input.id })
      this.#settle(step, await runCommandStep(step, deps, signal))
    }
    restIfShellIsDone(deps)
  }

  async #askModel(signal: AbortSignal): Promise<void> {
    const step = { kind: 'model' } as const
    takeMessages(this.#deps)
    this.#change({ step })
    const outcome = await this.#model.run(signal)
    // A message that arrived while the model was writing is the next question.
    const goesOn = outcome.next?.state === 'awaiting_user_input' && messageWaits(this.#deps)
    const { next: _, ...rest } = outcome
    this.#settle(step, goesOn ? rest : outcome)
  }

  async #runCall(call: QueuedCall, signal: AbortSignal): Promise<void> {
    const wanted = this.#turn.state
    const isWanted = () => this.#turn.state === wanted && !signal.aborted
    const run = await openCall(this.#deps, call, { isWanted, signal })
    const { step } = this.#turn
    if (run === null || step === null) {
      if (this.#turn.state === 'user_confirmed') enter(this.#deps, 'running')
      return
    }
    const outcome = await run(signal)
    const next = this.#turn.state === 'user_confirmed' ? { next: { state: 'running' as const } } : {}
    this.#settle(step, { ...outcome, ...next })
  }

  #stop(): void {
    if (this.#turn.step === null) {
      dropWaiting(this.#deps)
      enter(this.#deps, 'stopped')
      return
    }
    this.#change({ stopping: true })
    this.#abort?.abort()
  }

  /** Records the outcome, closes the step and enters the state that follows, all in one write. */
  #settle(step: OpenStep, outcome: StepOutcome): void {
    // The session was closed while the step ran: the step already has its observation.
    if (this.#turn.step !== step) return
    const { events, stored, next } = outcome
    this.#deps.witness.saw(outcome)
    const first = events.length === 0 ? -1 : this.#deps.emit(events)
    stored?.(first)
    const { stopping } = this.#turn
    this.#change({ step: null, stopping: false, interruptions: 0, partial: '' })
    if (stopping) {
      dropWaiting(this.#deps)
      enter(this.#deps, 'stopped')
    } else if (next !== undefined) enter(this.#deps, next.state, [], next.reason)
  }
}

// The events for a step that a restart or the end of the session interrupted. Its effect is unknown, so it does not run
// again by itself, unless a second run does no harm.

const FAILED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'
const STOPPED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED'

const GIVEN_UP =
  'RuntimeError: the service was restarted in the middle of this step again and again; send a message to go on'

/** The wait in ms before a step that was interrupted this many times in a row runs again; null to give up. */
function delayAfter(interruptions: number): number | null {
  if (interruptions < 3) return 0
  return interruptions >= 40 ? null : Math.min(1000 * 2 ** (interruptions - 3), 30_000)
}

/** After a restart. */
function interrupted(step: OpenStep, store: TurnStore): StepOutcome {
  if (step.kind === 'model') {
    // Only text was lost: the stored part is kept, and the model is asked again.
    const { partial } = store.turn.value
    return { events: partial === '' ? [] : [partialNote(partial)] }
  }
  if (step.kind === 'call') {
    const { key, actionId, repeatable } = step
    if (repeatable) return { events: [], stored: () => store.calls.mark(key, 'confirmed', actionId) }
    return unknownOutcome(step, store, {
      text: 'The service restarted while this ran. Its outcome is unknown; it was not run again.',
      errorId: FAILED,
    })
  }
  const text = 'The service restarted while this command ran. Its outcome is unknown; it was not run again.'
  return { events: [errorObservation(step.from, text, { cause: step.actionId, errorId: FAILED })] }
}

/** When the session is closed. */
function cutShort(step: OpenStep, store: TurnStore): StepOutcome {
  if (step.kind === 'command') return { events: [stoppedCommand(step, '')] }
  if (step.kind === 'model') return { events: [] }
  return unknownOutcome(step, store, { text: 'Stopped: the session was closed.', errorId: STOPPED })
}

function unknownOutcome(
  { key, actionId }: Extract<OpenStep, { kind: 'call' }>,
  store: TurnStore,
  { text, errorId }: { text: string; errorId: typeof FAILED | typeof STOPPED },
): StepOutcome {
  const action = actionAt(store, actionId)
  const event: ObservationEvent = errorObservation(action?.source ?? 'agent', text, { cause: actionId, errorId })
  const metadata = action?.tool_call_metadata
  return {
    events: [metadata === undefined ? event : { ...event, tool_call_metadata: metadata }],
    stored: (first) => store.calls.settle(key, { observationId: first }),
  }
}

// A step that an earlier instance gave to a runner. It is not closed as interrupted: it runs again with the same key,
// and what the runner has begun is only followed to its end.

/** Whether the outcome of the step can still be learned. */
function isFollowed(step: OpenStep, { runtimes }: Pick<TurnDeps, 'runtimes'>): boolean {
  return step.kind !== 'model' && runtimes.isOpen(runtimes.keyOf(step.actionId))
}

async function followStep(step: OpenStep, deps: TurnDeps, signal: AbortSignal): Promise<StepOutcome> {
  if (step.kind === 'command') return runCommandStep(step, deps, signal)
  const call = step.kind === 'call' ? deps.calls.get(step.key) : null
  if (step.kind !== 'call' || call === null) return { events: [] }
  const outcome = await followCall(deps, { call, actionId: step.actionId, signal })
  return deps.turn.value.state === 'user_confirmed' ? { ...outcome, next: { state: 'running' } } : outcome
}

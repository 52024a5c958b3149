// The agent's loop as a state machine on disk. The next step follows from the stored state: a command or a call is a row
// before it starts and an observation after it ends, each stored in one write with its events. After a crash, the next
// instance finds either no open step or one with an unknown outcome, which is recorded as interrupted and never run a second
// time.

import { errorFields, log as logger } from '../lib/log.ts'
import { agentMessage } from './actions.ts'
import type { AgentName } from './agents.ts'
import type { QueuedCall } from './calls.ts'
import { commandOf, refusalOf, runCommandStep } from './command-step.ts'
import { Knowledge, tellUnseenByShell } from './context/knowledge.ts'
import type { ActionEvent } from './events.ts'
import { cutShort, delayAfter, followStep, GIVEN_UP, interrupted, isFollowed } from './interrupted.ts'
import { ModelStep } from './model-step.ts'
import { agentNow } from './step-config.ts'
import { openCall } from './tool-step.ts'
import { dropWaiting, enter, messageWaits, nextInput, restIfShellIsDone, takeMessages } from './transitions.ts'
import type { AgentState, OpenStep, RequestedState, StepOutcome, Turn } from './turn.ts'
import type { TurnDeps } from './turn-deps.ts'
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

  /** No step is open that could change the workspace. */
  get isQuiet(): boolean {
    return this.#turn.step === null || this.#turn.step.kind === 'model'
  }

  /**
   * Stores an event of the user and returns its id; the loop acts on it later. `isTask`: the message is a task in natural
   * language.
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

  /** Ends the session: nothing runs any more, and the running step gets its observation now, while clients are connected. */
  close(reason = ''): void {
    const { step } = this.#turn
    this.#abort?.abort()
    if (step !== null) this.#settle(step, cutShort(step, this.#deps))
    this.#change({ stopping: false })
    dropWaiting(this.#deps)
    enter(this.#deps, 'stopped', [], reason)
  }

  /** After a restart: closes a step with an unknown outcome, and goes on with what waits. */
  recover(): void {
    const { step, interruptions } = this.#turn
    if (step !== null && isFollowed(step, this.#deps)) this.#wake()
    else if (step !== null) {
      this.#settle(step, interrupted(step, this.#deps))
      const delayMs = delayAfter(interruptions)
      this.#change({ interruptions: interruptions + 1 })
      if (delayMs === null) enter(this.#deps, 'error', [], GIVEN_UP)
      else if (delayMs > 0) {
        const retryAt = Date.now() + delayMs
        this.#change({ failures: { ...this.#turn.failures, retryAt } })
        this.#deps.wake(retryAt)
      }
    }
    // The action that the user confirmed was interrupted and is settled: the agent goes on.
    const isConfirmedOver = this.#turn.state === 'user_confirmed' && this.#deps.calls.next()?.state !== 'confirmed'
    if (isConfirmedOver) enter(this.#deps, 'running')
    restIfShellIsDone(this.#deps)
    if (this.#next() !== null) this.#wake()
    else if (this.#turn.failures.retryAt > Date.now()) this.#deps.wake(this.#turn.failures.retryAt)
  }

  /** Works until nothing is left to do. Called from the alarm, so never twice at a time. */
  async work(): Promise<void> {
    for (let next = this.#next(); next !== null; next = this.#next()) await this.#guarded(next)
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

  /** As the instance that began it would have gone on. */
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
    // A message that arrived while the model was writing is its next question.
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
  #settle(step: OpenStep, { events, stored, next }: StepOutcome): void {
    // The session was closed while the step ran: the step already has its observation.
    if (this.#turn.step !== step) return
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

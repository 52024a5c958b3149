// The agent's loop as a state machine on disk. What is to be done next follows from what is stored: a command or a call is
// a row before it starts and an observation after it ends, each written in one step with the events that tell of it.
// Whatever kills the isolate, the next instance finds either no open step or one whose outcome is unknown: that one is
// recorded as interrupted and never run a second time. Inputs wait in the log itself; the turn only remembers how far it
// has got.

import { agentMessage, changeAgentState, recallAction } from '../../src/agent/actions.ts'
import type { AgentName } from '../../src/agent/agents.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import { errorObservation, stateChanged } from '../../src/agent/observations.ts'
import type { AgentState, RequestedState } from '../../src/agent/states.ts'
import { errorFields, log as logger } from '../../src/lib/log.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import type { QueuedCall } from './call-queue.ts'
import { commandOf, folderThen, type RunCommand, runCommandStep } from './command-step.ts'
import { answerAwaited, closeForked, isAnswer, refuseAwaited, tellUnanswerable } from './confirmation.ts'
import { cutShort, delayAfter, GIVEN_UP, interrupted } from './interrupted.ts'
import { extendLimits } from './limits.ts'
import { refusalOf } from './shell-refusal.ts'
import type { StepOutcome } from './step-outcome.ts'
import type { Thinker } from './thinker.ts'
import { type Desk, messageWaits, type OpenStep, type Turn, waitingTexts } from './turn.ts'
import { tellUnseenByShell } from './unseen-pictures.ts'

const INPUTS = ['action:message', 'action:run']

/** It is the user's turn: whoever asks the agent to go on has not said with what. */
const AT_REST: ReadonlySet<AgentState> = new Set<AgentState>(['awaiting_user_input', 'finished', 'rejected'])

type Surroundings = {
  desk: Desk
  runCommand: RunCommand
  /** The first words of an agent: what it is and which tools it has. */
  introduce(agent: AgentName): ActionEvent
  thinker: Pick<Thinker, 'agent' | 'ask' | 'catchUp' | 'openCall'>
}

export class AgentLoop {
  readonly #around: Surroundings
  readonly #desk: Desk
  #abort: AbortController | null = null

  constructor(around: Surroundings) {
    this.#around = around
    this.#desk = around.desk
  }

  /** Where the next command begins, and with what variables, if others than before. */
  enterFolder(cwd: string, shell: ShellState | null = null): void {
    this.#change({ shell: { ...(shell ?? this.#turn.shell), cwd } })
  }

  get state(): AgentState {
    return this.#turn.state
  }

  /** No step is open that may be changing the workspace. */
  get isQuiet(): boolean {
    return this.#turn.step === null || this.#turn.step.kind === 'model'
  }

  /** The first event of a conversation. What users say from here on waits until the set-up is over. */
  begin(agent: AgentName): void {
    this.#change({ agent })
    this.#desk.emit([stateChanged('loading')])
  }

  /** The set-up is over: the agent introduces itself and takes what it was given, in that order. */
  open(firstMessage: ActionEvent | null, isTask = false): void {
    // A working copy that was fetched anew in a conversation under way needs no second introduction.
    if (this.#turn.opened) return
    this.#change({ opened: true })
    this.#desk.emit([this.#around.introduce(this.#turn.agent)])
    if (firstMessage !== null) this.receive(firstMessage, isTask)
    else if (this.#waiting() !== null) this.#takeUp()
    else this.#enter('awaiting_user_input', [changeAgentState('environment', 'awaiting_user_input')])
  }

  /** The set-up failed; `reason` is for the user. What waited is not run, for what it was meant for is not there. */
  fail(reason: string, firstMessage: ActionEvent | null): void {
    const events = this.#turn.opened ? [] : [this.#around.introduce(this.#turn.agent)]
    if (firstMessage !== null) events.push(firstMessage)
    this.#change({ opened: true })
    if (events.length > 0) this.#desk.emit(events)
    this.#dropWaiting()
    this.#enter('error', [], reason)
  }

  /** The first events after the loop was closed and started again. */
  resume(): void {
    this.#change({ state: 'loading' })
    this.#desk.emit([stateChanged('loading')])
    if (this.#turn.opened) this.#enter('awaiting_user_input', [changeAgentState('environment', 'awaiting_user_input')])
  }

  /** The first events of a conversation that was forked from another: it waits for the user, whatever that one did. */
  continueFork(agent: AgentName): void {
    closeForked(this.#desk)
    const kinds = (kind: string) => this.#desk.log.newestOf(kind) >= 0
    const { shell } = this.#turn
    this.#change({
      agent,
      cursor: this.#desk.log.last,
      opened: kinds('action:system'),
      introduced: kinds('action:recall'),
      shell: { ...shell, cwd: folderThen(this.#desk) ?? shell.cwd },
    })
    if (this.#turn.opened) this.resume()
    else this.open(null)
  }

  /** Takes an event of the user's; returns its id. What it asks for happens after the answer. `isTask`: it is in words. */
  receive(event: ActionEvent, isTask = false): number {
    if (event.action === 'message') {
      const message = this.#receiveMessage(event)
      if (isTask) this.#change({ task: message })
      return message
    }
    const id = this.#desk.emit([event])
    if (event.action === 'run') this.#wake()
    else this.#requestState(event.args.agent_state as RequestedState, event.args.action_id)
    return id
  }

  /** The session ends: nothing runs any more, and what ran is answered now, while somebody can still hear it. */
  close(reason = ''): void {
    const { step } = this.#turn
    this.#abort?.abort()
    if (step !== null) this.#settle(step, cutShort(step, this.#desk))
    this.#change({ stopping: false })
    this.#dropWaiting()
    this.#enter('stopped', [], reason)
  }

  /** After a restart: closes a step whose outcome nobody knows, and goes on with what waits. */
  recover(): void {
    const { step, interruptions } = this.#turn
    if (step !== null) {
      this.#settle(step, interrupted(step, this.#desk))
      const delayMs = delayAfter(interruptions)
      this.#change({ interruptions: interruptions + 1 })
      if (delayMs === null) this.#enter('error', [], GIVEN_UP)
      else if (delayMs > 0) this.#holdUntil(Date.now() + delayMs)
    }
    // What the user agreed to was cut off and is settled: the agent goes on.
    const isConfirmedOver = this.#turn.state === 'user_confirmed' && this.#desk.calls.next()?.state !== 'confirmed'
    if (isConfirmedOver) this.#enter('running')
    if (this.#isShellDone()) this.#enter('awaiting_user_input')
    if (this.#next() !== null) this.#wake()
    else if (this.#turn.failures.retryAt > Date.now()) this.#desk.wake(this.#turn.failures.retryAt)
  }

  /** Works until nothing is left to do. Called from the alarm, so never twice at a time. */
  async work(): Promise<void> {
    for (let next = this.#next(); next !== null; next = this.#next()) await this.#guarded(next)
    const { retryAt } = this.#turn.failures
    if (this.#turn.state === 'running' && retryAt > Date.now()) this.#desk.wake(retryAt)
  }

  get #turn(): Readonly<Turn> {
    return this.#desk.turn.value
  }

  #change(changes: Partial<Turn>): void {
    this.#desk.turn.change(changes)
  }

  #wake(): void {
    this.#desk.wake(Date.now())
  }

  /** What is to be done now, from what is stored alone; null to wait. */
  #next(): ((signal: AbortSignal) => Promise<void>) | null {
    const { state, step, opened, agent, failures } = this.#turn
    if (state === 'paused' || step !== null || !opened) return null
    if (state === 'user_confirmed') return this.#nextCall()
    const input = this.#waiting()
    if (input !== null && (input.kind === 'action:run' || agent === 'ShellAgent')) {
      return (signal) => this.#runCommand(signal)
    }
    if (state !== 'running' || agent === 'ShellAgent' || failures.retryAt > Date.now()) return null
    return this.#nextCall() ?? ((signal) => this.#askModel(signal))
  }

  #nextCall(): ((signal: AbortSignal) => Promise<void>) | null {
    const call = this.#desk.calls.next()
    return call === null ? null : (signal) => this.#runCall(call, signal)
  }

  async #guarded(next: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#abort = new AbortController()
    try {
      await next(this.#abort.signal)
    } catch (error) {
      logger.error('agent.step_failed', errorFields(error))
      const name = error instanceof Error ? error.name : 'Error'
      this.#change({ step: null, stopping: false })
      this.#desk.calls.dropQueued('Not run: the service failed before it.')
      this.#enter('error', [], `RuntimeError: the service failed with ${name}; send a message to go on`)
    } finally {
      this.#abort = null
    }
  }

  /** The settings name another agent now, or another model made one possible. */
  #handOver(agent: AgentName): void {
    this.#change({ agent })
    this.#desk.emit([this.#around.introduce(agent)])
  }

  async #runCommand(signal: AbortSignal): Promise<void> {
    if (this.#waiting()?.kind === 'action:message') {
      const agent = await this.#around.thinker.agent(signal)
      if (agent !== this.#turn.agent) return this.#handOver(agent)
    }
    if (this.#turn.agent === 'ShellAgent') await this.#around.thinker.catchUp()
    const input = this.#waiting()
    if (input === null || this.#turn.state === 'paused') return
    const refusal = refusalOf(input, this.#turn)
    if (refusal !== null) return this.#refuse(input.id, refusal)
    tellUnseenByShell(this.#desk, input)
    const step = commandOf(this.#desk, input)
    this.#change({ step, cursor: input.id })
    const outcome = await runCommandStep(step, { desk: this.#desk, run: this.#around.runCommand, signal })
    this.#settle(step, outcome)
    if (this.#isShellDone()) this.#enter('awaiting_user_input')
  }

  /** What is no script is answered in words. */
  #refuse(id: number, words: string): void {
    this.#change({ cursor: id })
    this.#desk.emit([agentMessage(words)])
    if (this.#isShellDone()) this.#enter('awaiting_user_input')
  }

  /** Without a model nothing follows the last input: it is the user's turn, whoever asked for that command. */
  #isShellDone(): boolean {
    const { agent, state, step } = this.#turn
    return agent === 'ShellAgent' && state === 'running' && step === null && this.#waiting() === null
  }

  async #askModel(signal: AbortSignal): Promise<void> {
    const step = { kind: 'model' } as const
    this.#takeMessages()
    this.#change({ step })
    const outcome = await this.#around.thinker.ask(signal)
    // A message that came while the model wrote is its next question.
    const goesOn = outcome.next?.state === 'awaiting_user_input' && messageWaits(this.#desk)
    const { next: _, ...rest } = outcome
    this.#settle(step, goesOn ? rest : outcome)
  }

  async #runCall(call: QueuedCall, signal: AbortSignal): Promise<void> {
    const wanted = this.#turn.state
    const isWanted = () => this.#turn.state === wanted && !signal.aborted
    const run = await this.#around.thinker.openCall(call, isWanted, signal)
    const { step } = this.#turn
    if (run === null || step === null) {
      if (this.#turn.state === 'user_confirmed') this.#enter('running')
      return
    }
    const outcome = await run(signal)
    const next = this.#turn.state === 'user_confirmed' ? { next: { state: 'running' as const } } : {}
    this.#settle(step, { ...outcome, ...next })
  }

  #receiveMessage(event: ActionEvent): number {
    if (!this.#turn.opened) return this.#desk.emit([event])
    const text = String(event.args.content)
    const { state, introduced } = this.#turn
    if (state === 'awaiting_user_confirmation')
      refuseAwaited(this.#desk, `The user did not confirm this, and wrote instead: ${text}`)
    const first = this.#desk.log.last + 1
    this.#desk.emit(introduced ? [event] : [event, changeAgentState('environment', 'running')])
    this.#recall(text)
    extendLimits(this.#desk.turn)
    this.#change({ state: 'running', introduced: true, failures: { count: 0, retryAt: 0 }, interruptions: 0 })
    this.#wake()
    return first
  }

  /** Promises the agent what it should know with this message, around the change to running. */
  #recall(query: string): void {
    const { introduced, state, agent, recalls } = this.#turn
    const isFirst = !introduced
    // A shell is told of its surroundings once; what words call for would say nothing to it.
    const isTold = isFirst || agent !== 'ShellAgent'
    const cause = this.#desk.log.last + 1
    const events: NewEvent[] = []
    if (isTold) events.push(recallAction(isFirst ? 'workspace_context' : 'knowledge', query))
    if (isFirst || state !== 'running') events.push(stateChanged('running'))
    if (events.length > 0) this.#desk.emit(events)
    if (isTold) this.#change({ recalls: [...recalls, { cause, query, isFirst }] })
  }

  /** Begins with what came during the set-up. Each message calls for its own notes, as if it came now. */
  #takeUp(): void {
    this.#desk.emit([changeAgentState('environment', 'running')])
    const [first = '', ...others] = waitingTexts(this.#desk)
    this.#recall(first)
    this.#change({ state: 'running', introduced: true })
    for (const text of others) this.#recall(text)
    this.#wake()
  }

  #requestState(state: RequestedState, actionId: unknown): void {
    const current = this.#turn.state
    if (state === 'stopped') {
      this.#stop()
      return
    }
    if (state === 'user_confirmed' || state === 'user_rejected') {
      if (isAnswer(this.#desk, actionId)) answerAwaited(this.#desk, state)
      else {
        if (actionId !== undefined) tellUnanswerable(this.#desk)
        return
      }
      // What was written before the answer is the model's next question.
      if (this.#turn.state === 'user_rejected')
        this.#enter(messageWaits(this.#desk) ? 'running' : 'awaiting_user_input')
      this.#wake()
      return
    }
    if (current === 'awaiting_user_confirmation' && state !== 'paused')
      refuseAwaited(this.#desk, 'The user went on without it.')
    if (state === 'paused' && current !== 'paused') this.#change({ pausedAtRest: AT_REST.has(current) })
    this.#enter(state === 'running' && this.#isIdle() ? 'awaiting_user_input' : state)
    if (state === 'running') this.#wake()
  }

  /** Whether going on would mean nothing: no step, no input, no call, and nothing that a model could be asked for. */
  #isIdle(): boolean {
    const { state, step, agent, introduced, pausedAtRest } = this.#turn
    if (step !== null || this.#waiting() !== null) return false
    if (agent === 'ShellAgent' || !introduced) return true
    return state === 'paused' ? pausedAtRest : AT_REST.has(state)
  }

  #stop(): void {
    if (this.#turn.step === null) {
      this.#dropWaiting()
      this.#enter('stopped')
      return
    }
    this.#change({ stopping: true })
    this.#abort?.abort()
  }

  /** What waited behind a stopped step is not run: whoever stops wants everything to stand still. */
  #dropWaiting(): void {
    refuseAwaited(this.#desk, 'Not run: the user stopped the agent before it was confirmed.')
    this.#desk.calls.dropQueued('Not run: the user stopped the agent before it.')
    let dropped = 0
    for (let input = this.#waiting(); input !== null; input = this.#waiting()) {
      this.#change({ cursor: input.id })
      dropped += 1
    }
    if (dropped > 0) {
      const what = dropped === 1 ? 'One waiting message was' : `${dropped} waiting messages were`
      this.#desk.emit([errorObservation('agent', `Stopped. ${what} not run; send again what is still wanted.`)])
    }
  }

  #enter(state: AgentState, before: NewEvent[] = [], reason = ''): void {
    if (state === this.#turn.state) return
    this.#desk.emit([...before, stateChanged(state, reason)])
    this.#change({ state })
  }

  #waiting() {
    return this.#desk.log.firstAfter(this.#turn.cursor, 'user', INPUTS)
  }

  /** The model sees the whole log: what was said until now counts as taken up. Commands still wait. */
  #takeMessages(): void {
    for (let input = this.#waiting(); input?.kind === 'action:message'; input = this.#waiting()) {
      this.#change({ cursor: input.id })
    }
  }

  #holdUntil(retryAt: number): void {
    this.#change({ failures: { ...this.#turn.failures, retryAt } })
    this.#desk.wake(retryAt)
  }

  /** Records the outcome, closes the step and enters the state that follows, all in one write. */
  #settle(step: OpenStep, { events, stored, next }: StepOutcome): void {
    // The session was closed while the step ran: then it has been answered.
    if (this.#turn.step !== step) return
    const first = events.length === 0 ? -1 : this.#desk.emit(events)
    stored?.(first)
    const { stopping } = this.#turn
    this.#change({ step: null, stopping: false, interruptions: 0, partial: '' })
    if (stopping) {
      this.#dropWaiting()
      this.#enter('stopped')
    } else if (next !== undefined) this.#enter(next.state, [], next.reason)
  }
}

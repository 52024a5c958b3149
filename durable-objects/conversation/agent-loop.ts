// The agent's loop as a state machine on disk. A command is a row before it starts and an observation after it ends,
// each written in one step with the events that tell of it. Whatever kills the isolate, the next instance finds either
// no open step or one whose outcome is unknown: that one is recorded as interrupted and never run a second time.
// Inputs wait in the log itself; the turn only remembers how far it has got.

import { changeAgentState, recallAction } from '../../src/agent/actions.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import {
  errorObservation,
  runObservation,
  stateChanged,
  type WorkspaceContext,
  workspaceContext,
} from '../../src/agent/observations.ts'
import { answerTo, introduction } from '../../src/agent/shell-agent.ts'
import type { AgentState, RequestedState } from '../../src/agent/states.ts'
import { errorFields, log as logger } from '../../src/lib/log.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import type { EventLog } from './event-log.ts'
import type { Meta, OpenStep, Turn } from './meta.ts'

const INPUTS = ['action:message', 'action:run']

export type CommandOutcome = ShellState & { output: string; exitCode: number; aborted: boolean }

type Surroundings = {
  log: EventLog
  turn: Meta<Turn>
  /** Stores events and sends them to the clients; returns the id of the first. */
  emit(events: NewEvent[]): number
  /** Has `work()` called soon, and again after a crash. */
  wake(): void
  runCommand(command: string, shell: Turn['shell'], signal: AbortSignal): Promise<CommandOutcome>
  /** What the user asked the agent to keep in mind, and the repository it works on. */
  context(): Pick<WorkspaceContext, 'conversationInstructions' | 'repository'>
}

export const NEW_TURN: Turn = {
  state: 'loading',
  cursor: -1,
  step: null,
  stopping: false,
  opened: false,
  introduced: false,
  shell: { cwd: '/workspace', env: {}, variables: {} },
}

export class AgentLoop {
  readonly #around: Surroundings
  #abort: AbortController | null = null

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Where the next command begins. */
  enterFolder(cwd: string): void {
    this.#around.turn.change({ shell: { ...this.#turn.shell, cwd } })
  }

  get state(): AgentState {
    return this.#turn.state
  }

  /** The first event of a conversation. What users say from here on waits until the set-up is over. */
  begin(): void {
    this.#around.emit([stateChanged('loading')])
  }

  /** The set-up is over: the agent introduces itself and takes what it was given, in that order. */
  open(firstMessage: ActionEvent | null): void {
    // A working copy that was fetched anew in a conversation under way needs no second introduction.
    if (this.#turn.opened) return
    this.#around.turn.change({ opened: true })
    this.#around.emit([introduction()])
    if (firstMessage !== null) this.receive(firstMessage)
    else if (this.#waiting() !== null) this.#takeUp()
    else this.#enter('awaiting_user_input', [changeAgentState('environment', 'awaiting_user_input')])
  }

  /** The set-up failed; `reason` is for the user. What waited is not run, for what it was meant for is not there. */
  fail(reason: string, firstMessage: ActionEvent | null): void {
    const events = this.#turn.opened ? [] : [introduction()]
    if (firstMessage !== null) events.push(firstMessage)
    this.#around.turn.change({ opened: true })
    if (events.length > 0) this.#around.emit(events)
    this.#dropWaiting()
    this.#enter('error', [], reason)
  }

  /** The first events after the loop was closed and started again. */
  resume(): void {
    this.#around.turn.change({ state: 'loading' })
    this.#around.emit([stateChanged('loading')])
    if (this.#turn.opened) this.#enter('awaiting_user_input', [changeAgentState('environment', 'awaiting_user_input')])
  }

  /** Takes an event of the user's; returns its id. What it asks for happens after the answer. */
  receive(event: ActionEvent): number {
    if (event.action === 'message') return this.#receiveMessage(event)
    const id = this.#around.emit([event])
    if (event.action === 'run') this.#around.wake()
    else this.#requestState(event.args.agent_state as RequestedState)
    return id
  }

  /** The session ends: nothing runs any more, and what ran is answered now, while somebody can still hear it. */
  close(): void {
    const { step } = this.#turn
    this.#abort?.abort()
    if (step !== null) {
      this.#around.emit([stoppedObservation(step, '')])
      this.#around.turn.change({ step: null, stopping: false })
    }
    this.#dropWaiting()
    this.#enter('stopped')
  }

  /** After a restart: closes a step whose outcome nobody knows, and goes on with what waits. */
  recover(): void {
    const { step } = this.#turn
    if (step !== null) {
      this.#settle(step, [
        errorObservation(
          step.from,
          'The service restarted while this command ran. Its outcome is unknown; it was not run again.',
          { cause: step.actionId, errorId: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR' },
        ),
      ])
    }
    if (this.#nextInput() !== null) this.#around.wake()
  }

  /** Works until nothing is left to do. Called from the alarm, so never twice at a time. */
  async work(): Promise<void> {
    for (let input = this.#nextInput(); input !== null; input = this.#nextInput()) {
      const step = this.#open(input)
      this.#settle(step, await this.#run(step))
    }
  }

  get #turn(): Readonly<Turn> {
    return this.#around.turn.value
  }

  #receiveMessage(event: ActionEvent): number {
    if (!this.#turn.opened) return this.#around.emit([event])
    const events: NewEvent[] = [event]
    const first = this.#around.log.last + 1
    if (!this.#turn.introduced) {
      const text = String(event.args.content)
      events.push(changeAgentState('environment', 'running'), recallAction('workspace_context', text))
      events.push(stateChanged('running'), workspaceContext(first + 2, this.#context()))
    } else if (this.#turn.state !== 'running') {
      events.push(stateChanged('running'))
    }
    this.#around.emit(events)
    if (this.#turn.state !== 'running' || !this.#turn.introduced) {
      this.#around.turn.change({ state: 'running', introduced: true })
    }
    this.#around.wake()
    return first
  }

  /** Begins with messages that came during the set-up. */
  #takeUp(): void {
    const first = this.#around.log.last + 1
    this.#around.emit([
      changeAgentState('environment', 'running'),
      recallAction('workspace_context', ''),
      stateChanged('running'),
      workspaceContext(first + 1, this.#context()),
    ])
    this.#around.turn.change({ state: 'running', introduced: true })
    this.#around.wake()
  }

  #context(): WorkspaceContext {
    return {
      date: new Date().toISOString().slice(0, 10),
      workingDir: this.#turn.shell.cwd,
      ...this.#around.context(),
    }
  }

  #requestState(state: RequestedState): void {
    if (state === 'stopped') {
      this.#stop()
      return
    }
    // Nothing waits for a confirmation, so there is nothing to confirm or to refuse.
    if (state === 'user_confirmed' || state === 'user_rejected') return
    const idle = this.#turn.step === null && this.#waiting() === null
    this.#enter(state === 'running' && idle ? 'awaiting_user_input' : state)
    if (state === 'running') this.#around.wake()
  }

  #stop(): void {
    if (this.#turn.step === null) {
      this.#dropWaiting()
      this.#enter('stopped')
      return
    }
    this.#around.turn.change({ stopping: true })
    this.#abort?.abort()
  }

  /** Messages that waited behind a stopped one are not run: whoever stops wants everything to stand still. */
  #dropWaiting(): void {
    let dropped = 0
    for (let input = this.#waiting(); input !== null; input = this.#waiting()) {
      this.#around.turn.change({ cursor: input.id })
      dropped += 1
    }
    if (dropped > 0) {
      const what = dropped === 1 ? 'One waiting message was' : `${dropped} waiting messages were`
      this.#around.emit([errorObservation('agent', `Stopped. ${what} not run; send again what is still wanted.`)])
    }
  }

  #enter(state: AgentState, before: NewEvent[] = [], reason = ''): void {
    if (state === this.#turn.state) return
    this.#around.emit([...before, stateChanged(state, reason)])
    this.#around.turn.change({ state })
  }

  #waiting() {
    return this.#around.log.firstAfter(this.#turn.cursor, 'user', INPUTS)
  }

  #nextInput() {
    const { state, step, opened } = this.#turn
    return state === 'paused' || step !== null || !opened ? null : this.#waiting()
  }

  /** Writes the step down before it starts. */
  #open(input: { id: number; text: string; kind: string }): OpenStep {
    // Our own row: an action that was validated when it came in.
    const { args } = JSON.parse(input.text) as { args: { content: string; command: string; hidden: boolean } }
    const typed = input.kind === 'action:run'
    const step: OpenStep = typed
      ? { actionId: input.id, from: 'user', command: args.command, hidden: args.hidden }
      : { actionId: this.#around.emit([answerTo(args.content)]), from: 'agent', command: args.content, hidden: false }
    this.#around.turn.change({ step, cursor: input.id })
    return step
  }

  async #run(step: OpenStep): Promise<NewEvent[]> {
    this.#abort = new AbortController()
    if (this.#turn.stopping) this.#abort.abort()
    const { from, actionId, command, hidden } = step
    try {
      const outcome = await this.#around.runCommand(command, this.#turn.shell, this.#abort.signal)
      if (outcome.aborted) return [stoppedObservation(step, outcome.output)]
      const { output, exitCode, cwd, env, variables } = outcome
      if (this.#isOpen(step)) this.#around.turn.change({ shell: { cwd, env, variables } })
      // The reference sends what a terminal shows above its next prompt: no final line end.
      const shown = output.replace(/\n$/, '')
      return [runObservation(from, actionId, { command, output: shown, exitCode, workingDir: cwd, hidden })]
    } catch (error) {
      logger.error('agent.command_failed', errorFields(error))
      const text = 'The shell failed on this command. Its outcome is unknown; what it wrote so far is kept.'
      return [errorObservation(from, text, { cause: actionId, errorId: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR' })]
    } finally {
      this.#abort = null
    }
  }

  /** False when the session was closed while the step ran: then it has been answered. */
  #isOpen(step: OpenStep): boolean {
    return this.#turn.step?.actionId === step.actionId
  }

  /** Records the outcome, closes the step and enters the state that follows, all in one write. */
  #settle(step: OpenStep, outcome: NewEvent[]): void {
    if (!this.#isOpen(step)) return
    this.#around.emit(outcome)
    const { stopping } = this.#turn
    this.#around.turn.change({ step: null, stopping: false })
    if (stopping) {
      this.#dropWaiting()
      this.#enter('stopped')
    } else if (step.from === 'agent' && this.#turn.state === 'running' && this.#waiting() === null) {
      this.#enter('awaiting_user_input')
    }
  }
}

function stoppedObservation({ from, actionId }: OpenStep, output: string): NewEvent {
  const soFar = output === '' ? '' : ` Its output until then:\n${output}`
  return errorObservation(from, `The command was stopped.${soFar}`, {
    cause: actionId,
    errorId: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED',
  })
}

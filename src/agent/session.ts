// How an agent's session begins: new, after the set-up of the workspace, after a close, and in a fork.

import type { ShellState } from '../kits/shell/index.ts'
import { changeAgentState } from './actions.ts'
import type { AgentName } from './agents.ts'
import { folderThen } from './command-step.ts'
import { closeForked } from './confirmation.ts'
import type { ActionEvent } from './events.ts'
import { stateChanged } from './observations.ts'
import { dropWaiting, enter, nextInput } from './transitions.ts'
import type { TurnDeps, TurnStore } from './turn-deps.ts'
import { receiveMessage, takeUpWaiting } from './user-input.ts'

type SessionDeps = TurnStore & Pick<TurnDeps, 'wake' | 'introduce'>

/** The first event of a conversation. Messages from here on wait until the set-up is over. */
export function beginSession({ turn, emit }: TurnStore, agent: AgentName): void {
  turn.change({ agent })
  emit([stateChanged('loading')])
}

/** The set-up is complete: emits the agent's system message, then processes the inputs that waited. */
export function openSession(deps: SessionDeps, firstMessage: ActionEvent | null, isTask = false): void {
  const { opened, agent } = deps.turn.value
  // After a new clone in an existing conversation, no second system message is needed.
  if (opened) return
  deps.turn.change({ opened: true })
  deps.emit([deps.introduce(agent)])
  if (firstMessage !== null) receiveMessage(deps, firstMessage, isTask)
  else if (nextInput(deps) !== null) takeUpWaiting(deps)
  else waitForUser(deps)
}

/**
 * The set-up failed; `reason` is for the user. Waiting inputs are not run, because the files that they were meant for
 * are missing.
 */
export function failSession(deps: SessionDeps, reason: string, firstMessage: ActionEvent | null): void {
  const { opened, agent } = deps.turn.value
  const events = opened ? [] : [deps.introduce(agent)]
  if (firstMessage !== null) events.push(firstMessage)
  deps.turn.change({ opened: true })
  if (events.length > 0) deps.emit(events)
  dropWaiting(deps)
  enter(deps, 'error', [], reason)
}

/** The first events after the loop was closed and started again. */
export function resumeSession(store: TurnStore): void {
  store.turn.change({ state: 'loading' })
  store.emit([stateChanged('loading')])
  if (store.turn.value.opened) waitForUser(store)
}

/** The first events of a fork: it waits for the user, whatever the original conversation did. */
export function continueFork(deps: SessionDeps, agent: AgentName): void {
  takeUpPast(deps, agent)
  if (deps.turn.value.opened) resumeSession(deps)
  else openSession(deps, null)
}

/** Closes open work, and takes the agent's state from the log. */
export function takeUpPast(deps: SessionDeps, agent: AgentName): void {
  closeForked(deps)
  const { shell } = deps.turn.value
  const isThere = (kind: string) => deps.log.newestOf(kind) >= 0
  deps.turn.change({
    agent,
    cursor: deps.log.last,
    opened: isThere('action:system'),
    introduced: isThere('action:recall'),
    shell: { ...shell, cwd: folderThen(deps) ?? shell.cwd },
  })
}

function waitForUser(store: TurnStore): void {
  enter(store, 'awaiting_user_input', [changeAgentState('environment', 'awaiting_user_input')])
}

/** The folder and the variables of the next command, if they differ from the last ones. */
export function enterFolder({ turn }: Pick<TurnDeps, 'turn'>, cwd: string, shell: ShellState | null): void {
  turn.change({ shell: { ...(shell ?? turn.value.shell), cwd } })
}

// The agent's side of a step: what it works with, what it is told, what its model answers and how its calls are made. The
// order of things is the loop's; nothing here decides what comes next.

import type { AgentName } from '../../src/agent/agents.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import { type LoopEntry, loopEntry, loopIn, STUCK_REASON } from '../../src/agent/loop-detection.ts'
import { errorObservation } from '../../src/agent/observations.ts'
import { introduction } from '../../src/agent/shell-agent.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { type LanguageModel, ModelError } from '../../src/llm/model.ts'
import type { RetryPlan } from '../../src/llm/retry.ts'
import type { QueuedCall } from './call-queue.ts'
import { type CallContext, CallStep } from './call-step.ts'
import type { Condenser } from './condenser.ts'
import type { StreamFrame } from './delta-stream.ts'
import { type History, USER_ONLY } from './history.ts'
import { type Halt, limitReached } from './limits.ts'
import { askModel, failedToAsk } from './model-step.ts'
import type { Outfit } from './outfit.ts'
import type { Outfitter } from './outfitter.ts'
import type { Recall } from './recall.ts'
import type { ReplayQueue } from './replay-queue.ts'
import type { Announcement } from './socket-protocol.ts'
import type { StepOutcome } from './step-outcome.ts'
import type { Desk } from './turn.ts'
import { tellUnseen } from './unseen-pictures.ts'
import type { Vault } from './vault.ts'

export type ThinkerParts = {
  desk: Desk
  history: History
  outfitter: Pick<Outfitter, 'renew' | 'current' | 'model'>
  vault: Pick<Vault, 'stream'>
  condenser: Condenser
  recall: Recall
  replay: ReplayQueue
  retries: RetryPlan
  /** The first words of an agent. */
  introduce(agent: AgentName): ActionEvent
  /** What the tools work on. */
  workplace(): CallContext
  stream(frame: StreamFrame): void
  announce(frame: Announcement): void
}

export class Thinker {
  readonly #parts: ThinkerParts
  readonly #trail: Trail
  #hasToldUnknown = false

  constructor(parts: ThinkerParts) {
    this.#parts = parts
    this.#trail = new Trail(parts.desk)
  }

  /** The agent that the settings ask for now; the one that works when they cannot be read. */
  async agent(signal: AbortSignal): Promise<AgentName> {
    try {
      return (await this.#parts.outfitter.renew(signal)).agent
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      log.warn('agent.unknown_for_now', errorFields(error))
      return this.#parts.desk.turn.value.agent
    }
  }

  /** Tells what was promised with the messages so far. */
  catchUp(): Promise<void> {
    return this.#parts.recall.catchUp()
  }

  /** The model that would be asked now; null when there is none, or none can be asked. */
  async model(): Promise<LanguageModel | null> {
    try {
      return (await this.#parts.outfitter.model()) ?? null
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      return null
    }
  }

  /** The next answer, of the model or of the recording that is played. */
  async ask(signal: AbortSignal): Promise<StepOutcome> {
    const { outfitter, recall, replay } = this.#parts
    try {
      const outfit = await outfitter.renew(signal)
      signal.throwIfAborted()
      this.#tellUnknown(outfit)
      await recall.catchUp()
      signal.throwIfAborted()
      return replay.next() ?? (await this.#askModel(outfit, signal))
    } catch (error) {
      if (signal.aborted) return { events: [] }
      if (error instanceof ModelError) return failedToAsk({ ...this.#parts, shorten: () => null }, error)
      throw error
    }
  }

  /** Readies the call; null when nothing is left to run. `isWanted` is asked once it could begin. */
  async openCall(call: QueuedCall, isWanted: () => boolean, signal: AbortSignal) {
    const { desk, outfitter, workplace, stream } = this.#parts
    const outfit = await outfitter.current(signal)
    if (!isWanted()) return null
    const onOutput = (actionId: number, text: string) => stream({ type: 'output', action_id: actionId, text })
    const step = new CallStep(call, { desk, outfit, context: workplace(), onOutput })
    const opened = step.open()
    return opened === null ? null : (stop: AbortSignal) => step.run(opened, stop)
  }

  async #askModel(outfit: Outfit, signal: AbortSignal): Promise<StepOutcome> {
    const { desk, condenser, vault, introduce } = this.#parts
    const { model, agent } = outfit
    if (model === null || agent === 'ShellAgent') return withoutModel(desk)
    if (agent !== desk.turn.value.agent) {
      desk.turn.change({ agent })
      desk.emit([introduce(agent)])
    }
    tellUnseen(this.#parts, model)
    const halt = limitReached(desk.turn, outfit) ?? (this.#trail.isStuck() ? STUCK : null)
    if (halt !== null) return halted(halt)
    const condensed = await condenser.condense(outfit, model, signal)
    if (condensed !== null) return condensed
    return askModel(
      { ...this.#parts, outfit, model, shorten: () => condenser.shorten(), mask: () => vault.stream() },
      signal,
    )
  }

  /** Said once: the settings may name any agent. */
  #tellUnknown({ isUnknownAgent, agent }: Outfit): void {
    if (!isUnknownAgent || this.#hasToldUnknown) return
    this.#hasToldUnknown = true
    const text = `The agent that the settings name does not exist here; ${agent} works instead.`
    this.#parts.desk.emit([errorObservation('environment', text, { errorId: USER_ONLY })])
  }
}

/** What the agent did since the user last spoke, read on from step to step. */
class Trail {
  readonly #desk: Desk
  #entries: LoopEntry[] = []
  #upTo: number

  constructor(desk: Desk) {
    this.#desk = desk
    // What came before the user's last words is another story.
    this.#upTo = desk.turn.value.cursor - 1
  }

  isStuck(): boolean {
    const { log } = this.#desk
    while (this.#upTo < log.last) {
      for (const { id, text } of log.since(this.#upTo, READ_EVENTS)) {
        const entry = loopEntry(JSON.parse(text) as NewEvent, id)
        if (entry === 'user') this.#entries = []
        else if (entry !== null) this.#entries.push(entry)
        this.#upTo = id
      }
    }
    return loopIn(this.#entries) !== null
  }
}

const READ_EVENTS = 500

const STUCK: Halt = {
  reason: STUCK_REASON,
  advice:
    'The agent did the same again and again without getting any further, so it was stopped. Send a message that tells it what to do differently.',
}

/** The reason is for programs; what to do about it is said in words. */
function halted({ reason, advice }: Halt): StepOutcome {
  return { events: [errorObservation('agent', advice, { errorId: USER_ONLY })], next: { state: 'error', reason } }
}

function withoutModel({ turn }: Desk): StepOutcome {
  const text =
    'By the settings this conversation is a shell from here on: every message is run as a command. This one was not run; send it again.'
  return {
    events: [introduction(), errorObservation('environment', text, { errorId: USER_ONLY })],
    stored: () => turn.change({ agent: 'ShellAgent' }),
    next: { state: 'awaiting_user_input' },
  }
}

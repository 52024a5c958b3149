// The preparation of the model's next answer: the current settings, what the agent is still to be told, the limits, and a
// history that fits into the model's window.

import { ModelError } from '../llm/model.ts'
import { Condenser } from './context/condenser.ts'
import { History } from './context/history.ts'
import type { Knowledge } from './context/knowledge.ts'
import { type Halt, limitReached } from './context/limits.ts'
import { LoopDetector, STUCK } from './context/loop-detection.ts'
import { tellUnseen } from './context/unseen-pictures.ts'
import { failedToAsk, requestAnswer } from './model-answer.ts'
import { errorObservation, USER_ONLY } from './observations.ts'
import { introduction } from './shell-agent.ts'
import type { StepConfig } from './step-config.ts'
import type { StepOutcome } from './turn.ts'
import type { TurnDeps } from './turn-deps.ts'

export class ModelStep {
  readonly #deps: TurnDeps
  readonly #knowledge: Knowledge
  readonly #history: History
  readonly #condenser: Condenser
  readonly #loops: LoopDetector
  #hasToldUnknown = false

  constructor(deps: TurnDeps, knowledge: Knowledge) {
    this.#deps = deps
    this.#knowledge = knowledge
    this.#history = new History(deps)
    this.#condenser = new Condenser(deps.turn, this.#history)
    this.#loops = new LoopDetector(deps)
  }

  /** The next answer, of the model or of the recording that is played. */
  async run(signal: AbortSignal): Promise<StepOutcome> {
    try {
      const config = await this.#deps.configs.renew(signal)
      signal.throwIfAborted()
      this.#tellUnknown(config)
      await this.#knowledge.catchUp()
      signal.throwIfAborted()
      return this.#deps.replay.next() ?? (await this.#ask(config, signal))
    } catch (error) {
      if (signal.aborted) return { events: [] }
      if (error instanceof ModelError) return failedToAsk({ ...this.#deps, shorten: () => null }, error)
      throw error
    }
  }

  async #ask(config: StepConfig, signal: AbortSignal): Promise<StepOutcome> {
    const { turn, emit, introduce } = this.#deps
    const { model, agent } = config
    if (model === null || agent === 'ShellAgent') return withoutModel(turn)
    if (agent !== turn.value.agent) {
      turn.change({ agent })
      emit([introduce(agent)])
    }
    tellUnseen(this.#deps, this.#history, model)
    const halt = limitReached(turn, config) ?? (this.#loops.isStuck() ? STUCK : null)
    if (halt !== null) return halted(halt)
    const condensed = await this.#condenser.condense(config, model, signal)
    if (condensed !== null) return condensed
    const shorten = () => this.#condenser.shorten()
    return requestAnswer({ ...this.#deps, config, model, history: this.#history, shorten }, signal)
  }

  /** Reported once: the settings may name any agent. */
  #tellUnknown({ isUnknownAgent, agent }: StepConfig): void {
    if (!isUnknownAgent || this.#hasToldUnknown) return
    this.#hasToldUnknown = true
    const text = `The agent that the settings name does not exist here; ${agent} works instead.`
    this.#deps.emit([errorObservation('environment', text, { errorId: USER_ONLY })])
  }
}

/** The reason is for programs; the sentence for the user says what to do. */
function halted({ reason, advice }: Halt): StepOutcome {
  return { events: [errorObservation('agent', advice, { errorId: USER_ONLY })], next: { state: 'error', reason } }
}

function withoutModel(turn: TurnDeps['turn']): StepOutcome {
  const text =
    'By the settings this conversation is a shell from here on: every message is run as a command. This one was not run; send it again.'
  return {
    events: [introduction(), errorObservation('environment', text, { errorId: USER_ONLY })],
    stored: () => turn.change({ agent: 'ShellAgent' }),
    next: { state: 'awaiting_user_input' },
  }
}

// One call of the model: checked, confirmed if the user wants that, run once, and answered.

import { errorFields, log as logger } from '../lib/log.ts'
import { metricsWire } from '../llm/metrics.ts'
import type { ActionEvent, NewEvent, ToolCallMetadata } from './events.ts'
import { visible } from './hidden-characters.ts'
import { errorObservation, stateChanged } from './observations.ts'
import type { Judgement } from './security/judgement.ts'
import type { StepConfig } from './step-config.ts'
import { actionKind } from './tools/index.ts'
import { BadCall, type Outcome, type PreparedCall, parseArguments, type ToolContext } from './tools/tool.ts'
import { messageWaits } from './transitions.ts'
import type { QueuedCall, StepOutcome } from './turn.ts'
import type { TurnDeps, TurnStore } from './turn-deps.ts'

/** How long an aborted tool may take to return its partial result. */
const STOP_GRACE_MS = 150

const STOPPED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED'
const FAILED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'

type CallDeps = TurnStore & Pick<TurnDeps, 'configs' | 'workplace' | 'stream' | 'runtimes'>

/** Prepares the call; null when there is nothing to run. `isWanted` is called just before the start. */
export async function openCall(
  deps: CallDeps,
  call: QueuedCall,
  { isWanted, signal }: { isWanted(): boolean; signal: AbortSignal },
): Promise<((stop: AbortSignal) => Promise<StepOutcome>) | null> {
  const config = await deps.configs.current(signal)
  if (!isWanted()) return null
  const step = new ToolStep(call, deps, config)
  const opened = step.open()
  return opened === null ? null : (stop) => step.run(opened, stop)
}

/** A call that an earlier instance gave to a runner: it is followed to its end. */
export async function followCall(
  deps: CallDeps,
  { call, actionId, signal }: { call: QueuedCall; actionId: number; signal: AbortSignal },
): Promise<StepOutcome> {
  const step = new ToolStep(call, deps, await deps.configs.current(signal))
  return step.follow(actionId, signal)
}

/** The call with everything that is known before it runs. */
class ToolStep {
  readonly #deps: CallDeps
  readonly #config: StepConfig
  readonly #call: QueuedCall
  readonly #metadata: ToolCallMetadata
  /** The text of the answer; only for its first call. */
  readonly #thought: string

  constructor(call: QueuedCall, deps: CallDeps, config: StepConfig) {
    this.#deps = deps
    this.#config = config
    this.#call = call
    const { calls } = deps
    const step = calls.step(call.step)
    const siblings = calls.callsOf(call.step)
    this.#thought = siblings[0]?.key === call.key ? (step?.text ?? '') : ''
    this.#metadata = {
      function_name: call.name,
      tool_call_id: call.call_id,
      model_response: { id: step?.response_id ?? '' },
      total_calls_in_response: siblings.length,
    }
  }

  /** Stores the action and marks the call as started; null when there is nothing to run. */
  open(): { prepared: PreparedCall; actionId: number } | null {
    const prepared = this.#prepare()
    if (prepared === null) return null
    const { action } = prepared
    if (this.#call.state === 'confirmed' && this.#call.action_id !== null) {
      return this.#begin(prepared, this.#call.action_id)
    }
    const { risk, reasons, needsConfirmation } = this.#config.judge(action)
    const told = this.#told(action, { risk, reasons })
    if (needsConfirmation) return this.#await(told)
    const actionId = this.#emit([told])
    const ending = actionKind(action.action)?.ends ?? null
    if (ending !== null) return this.#end(ending)
    return this.#begin(prepared, actionId)
  }

  /** Runs the tool again with the same key: what it gave to a runner is not given a second time. */
  follow(actionId: number, signal: AbortSignal): Promise<StepOutcome> | StepOutcome {
    const prepared = this.#prepare()
    // The arguments were valid before, so the tool was removed from the settings.
    return prepared === null ? { events: [] } : this.run({ prepared, actionId }, signal)
  }

  /** Runs the tool; a tool that does not stop after an abort is abandoned. */
  async run({ prepared, actionId }: { prepared: PreparedCall; actionId: number }, signal: AbortSignal) {
    const onOutput = (text: string) => this.#deps.stream({ type: 'output', action_id: actionId, text })
    const key = this.#deps.runtimes.keyOf(actionId)
    const around: ToolContext = { ...this.#deps.workplace(), key, signal, onOutput }
    const outcome = await this.#attempt(prepared, around, actionId)
    const events: NewEvent[] = [{ ...outcome, cause: actionId, tool_call_metadata: this.#metadata }]
    const stored = (first: number) => this.#deps.calls.settle(this.#call.key, { observationId: first })
    return { events, stored } satisfies StepOutcome
  }

  async #attempt(prepared: PreparedCall, around: ToolContext, actionId: number): Promise<Outcome> {
    const { signal } = around
    try {
      const outcome = await Promise.race([prepared.run(around), stopped(signal)])
      if (outcome !== null && !signal.aborted) return outcome
      const soFar = outcome === null || outcome.content === '' ? '' : ` Its output until then:\n${outcome.content}`
      return errorObservation(prepared.action.source, `Stopped by the user.${soFar}`, { errorId: STOPPED })
    } catch (error) {
      if (signal.aborted) return errorObservation(prepared.action.source, 'Stopped by the user.', { errorId: STOPPED })
      logger.error('agent.tool_failed', { tool: this.#call.name, actionId, ...errorFields(error) })
      const text = `The tool ${this.#call.name} failed for a reason of the service's. Its outcome is unknown.`
      return errorObservation(prepared.action.source, text, { errorId: FAILED })
    }
  }

  /** An invalid call is answered with its error. */
  #prepare(): PreparedCall | null {
    const { name, arguments: text, answer } = this.#call
    try {
      if (answer !== null) throw new BadCall(answer)
      const tool = this.#config.tools.get(name)
      if (tool === undefined) {
        throw new BadCall(`There is no tool "${name}". There are: ${[...this.#config.tools.keys()].join(', ')}.`)
      }
      return tool.prepare(parseArguments(text))
    } catch (error) {
      if (!(error instanceof BadCall)) throw error
      const event = errorObservation('agent', error.message, { errorId: 'AGENT_ERROR$BAD_ACTION' })
      const id = this.#emit([{ ...event, tool_call_metadata: this.#metadata }])
      this.#deps.calls.settle(this.#call.key, { observationId: id })
      return null
    }
  }

  #told(action: ActionEvent, { risk, reasons }: Pick<Judgement, 'risk' | 'reasons'>): ActionEvent {
    const { metrics, budgetLimit } = this.#deps.turn.value
    const thought = typeof action.args.thought === 'string' && action.args.thought !== '' ? action.args.thought : ''
    return {
      ...action,
      message: visible(action.message),
      args: {
        ...action.args,
        ...('thought' in action.args ? { thought: thought === '' ? this.#thought : thought } : {}),
        ...(risk === null ? {} : { security_risk: risk }),
        ...(reasons.length === 0 ? {} : { security_reasons: reasons }),
      },
      tool_call_metadata: this.#metadata,
      ...(metrics === null ? {} : { llm_metrics: metricsWire(metrics, budgetLimit) }),
    }
  }

  #begin(prepared: PreparedCall, actionId: number) {
    const { key, name } = this.#call
    const repeatable = this.#config.tools.get(name)?.repeatable ?? false
    this.#deps.calls.mark(key, 'started', actionId)
    this.#deps.turn.change({ step: { kind: 'call', key, actionId, repeatable }, awaiting: null })
    return { prepared, actionId }
  }

  /** The state event comes before the waiting action, as clients expect it. */
  #await(told: ActionEvent): null {
    const message = told.message === '' ? questionOf(told) : told.message
    const waiting = { ...told, message, args: { ...told.args, confirmation_state: 'awaiting_confirmation' } }
    const first = this.#emit([stateChanged('awaiting_user_confirmation'), waiting])
    this.#deps.calls.mark(this.#call.key, 'awaiting', first + 1)
    this.#deps.turn.change({ state: 'awaiting_user_confirmation', awaiting: this.#call.key })
    return null
  }

  #end(state: 'finished' | 'rejected'): null {
    const { calls, turn, emit } = this.#deps
    // A message that arrived meanwhile is the model's next question.
    const isUnanswered = messageWaits(this.#deps)
    calls.settle(this.#call.key, { answer: isUnanswered ? 'Not finished: the user wrote meanwhile.' : 'Done.' })
    calls.dropQueued('Not run: the task was declared finished before it.')
    if (isUnanswered) return null
    emit([stateChanged(state)])
    turn.change({ state })
    return null
  }

  #emit(events: NewEvent[]): number {
    const first = this.#deps.emit(events)
    this.#deps.calls.shown(this.#call.step, first + events.length - 1)
    return first
  }
}

/** A description of a waiting action that has none itself. */
function questionOf({ action, args }: ActionEvent): string {
  const subject = args.path ?? args.url ?? args.name ?? ''
  return visible(actionKind(action)?.view(args) ?? `${action}: ${String(subject)}`)
}

/** Resolves to null a short time after the signal fired. */
function stopped(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    const later = () => {
      setTimeout(() => resolve(null), STOP_GRACE_MS)
    }
    if (signal.aborted) later()
    else signal.addEventListener('abort', later, { once: true })
  })
}

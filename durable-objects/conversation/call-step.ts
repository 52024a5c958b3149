// One call of the model's: checked, confirmed where the user wants that, run once, and answered.

import type { ActionEvent, NewEvent, ToolCallMetadata } from '../../src/agent/events.ts'
import { errorObservation, stateChanged } from '../../src/agent/observations.ts'
import { parseArguments } from '../../src/agent/tools/define-tool.ts'
import { BadCall, type Outcome, type PreparedCall, type ToolContext } from '../../src/agent/tools/tool.ts'
import { visible } from '../../src/agent/visible-text.ts'
import { errorFields, log as logger } from '../../src/lib/log.ts'
import { metricsWire } from '../../src/llm/metrics.ts'
import type { QueuedCall } from './call-queue.ts'
import type { Judgement } from './judgement.ts'
import type { Outfit } from './outfit.ts'
import type { StepOutcome } from './step-outcome.ts'
import { type Desk, messageWaits } from './turn.ts'

/** How long a tool that was told to stop may take to say how far it got. */
const STOP_GRACE_MS = 150

const STOPPED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED'
const FAILED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'

export type CallContext = Omit<ToolContext, 'signal' | 'onOutput'>

type Parts = {
  desk: Desk
  outfit: Outfit
  context: CallContext
  /** Shows output of a running tool. */
  onOutput(actionId: number, text: string): void
}

/** The call with everything that is known of it before it runs. */
export class CallStep {
  readonly #desk: Desk
  readonly #parts: Parts
  readonly #call: QueuedCall
  readonly #metadata: ToolCallMetadata
  /** The text of the answer, with the first of its calls. */
  readonly #thought: string

  constructor(call: QueuedCall, parts: Parts) {
    this.#desk = parts.desk
    this.#parts = parts
    this.#call = call
    const { calls } = parts.desk
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

  /** Says what is to run and writes down that it begins; null when nothing is left to run. */
  open(): { prepared: PreparedCall; actionId: number } | null {
    const prepared = this.#prepare()
    if (prepared === null) return null
    const { action } = prepared
    if (this.#call.state === 'confirmed' && this.#call.action_id !== null) {
      return this.#begin(prepared, this.#call.action_id)
    }
    const { risk, reasons, needsConfirmation } = this.#parts.outfit.judge(action)
    const told = this.#told(action, { risk, reasons })
    if (needsConfirmation) return this.#await(told)
    const actionId = this.#emit([told])
    if (ENDINGS.has(action.action)) return this.#end(action)
    return this.#begin(prepared, actionId)
  }

  /** Runs the tool; a tool that does not stop when it is told to is left behind. */
  async run({ prepared, actionId }: { prepared: PreparedCall; actionId: number }, signal: AbortSignal) {
    const { context, onOutput } = this.#parts
    const around: ToolContext = { ...context, signal, onOutput: (text) => onOutput(actionId, text) }
    const outcome = await this.#attempt(prepared, around, actionId)
    const events: NewEvent[] = [{ ...outcome, cause: actionId, tool_call_metadata: this.#metadata }]
    const stored = (first: number) => this.#desk.calls.settle(this.#call.key, { observationId: first })
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

  /** A call that cannot be made is answered with what is wrong with it. */
  #prepare(): PreparedCall | null {
    const { name, arguments: text, answer } = this.#call
    try {
      if (answer !== null) throw new BadCall(answer)
      const tool = this.#parts.outfit.tools.get(name)
      if (tool === undefined) {
        throw new BadCall(`There is no tool "${name}". There are: ${[...this.#parts.outfit.tools.keys()].join(', ')}.`)
      }
      return tool.prepare(parseArguments(text))
    } catch (error) {
      if (!(error instanceof BadCall)) throw error
      const event = errorObservation('agent', error.message, { errorId: 'AGENT_ERROR$BAD_ACTION' })
      const id = this.#emit([{ ...event, tool_call_metadata: this.#metadata }])
      this.#desk.calls.settle(this.#call.key, { observationId: id })
      return null
    }
  }

  #told(action: ActionEvent, { risk, reasons }: Pick<Judgement, 'risk' | 'reasons'>): ActionEvent {
    const { metrics, budgetLimit } = this.#desk.turn.value
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
    const repeatable = this.#parts.outfit.tools.get(name)?.repeatable ?? false
    this.#desk.calls.mark(key, 'started', actionId)
    this.#desk.turn.change({ step: { kind: 'call', key, actionId, repeatable }, awaiting: null })
    return { prepared, actionId }
  }

  /** The state comes before the action that waits, as clients expect it. */
  #await(told: ActionEvent): null {
    const message = told.message === '' ? questionOf(told) : told.message
    const waiting = { ...told, message, args: { ...told.args, confirmation_state: 'awaiting_confirmation' } }
    const first = this.#emit([stateChanged('awaiting_user_confirmation'), waiting])
    this.#desk.calls.mark(this.#call.key, 'awaiting', first + 1)
    this.#desk.turn.change({ state: 'awaiting_user_confirmation', awaiting: this.#call.key })
    return null
  }

  #end(action: ActionEvent): null {
    const { calls, turn, emit } = this.#desk
    const state = action.action === 'finish' ? 'finished' : 'rejected'
    // What the user wrote in the meantime is the model's next question.
    const isUnanswered = messageWaits(this.#desk)
    calls.settle(this.#call.key, { answer: isUnanswered ? 'Not finished: the user wrote meanwhile.' : 'Done.' })
    calls.dropQueued('Not run: the task was declared finished before it.')
    if (isUnanswered) return null
    emit([stateChanged(state)])
    turn.change({ state })
    return null
  }

  #emit(events: NewEvent[]): number {
    const first = this.#desk.emit(events)
    this.#desk.calls.shown(this.#call.step, first + events.length - 1)
    return first
  }
}

/** What a waiting action would do, where it says nothing itself. */
function questionOf({ action, args }: ActionEvent): string {
  const subject = args.path ?? args.url ?? args.name ?? ''
  return visible(`${action === 'edit' ? 'Editing file' : action}: ${String(subject)}`)
}

/** Actions that are an end and have nothing to run. */
const ENDINGS: ReadonlySet<string> = new Set(['finish', 'reject'])

/** Resolves to null a little after the signal fired. */
function stopped(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    const later = () => {
      setTimeout(() => resolve(null), STOP_GRACE_MS)
    }
    if (signal.aborted) later()
    else signal.addEventListener('abort', later, { once: true })
  })
}

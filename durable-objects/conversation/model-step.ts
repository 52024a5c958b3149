// One answer of the model: asked for, streamed to whoever watches, written down together with the calls in it.

import { agentMessage, condensationRequest } from '../../src/agent/actions.ts'
import { maskPages } from '../../src/agent/condenser.ts'
import type { NewEvent } from '../../src/agent/events.ts'
import { errorObservation } from '../../src/agent/observations.ts'
import { addUsage, metricsWire, newMetrics } from '../../src/llm/metrics.ts'
import {
  type LanguageModel,
  type ModelDelta,
  ModelError,
  type ModelFailure,
  type ModelReply,
} from '../../src/llm/model.ts'
import { type RetryPlan, retryDelay } from '../../src/llm/retry.ts'
import { CallQueue } from './call-queue.ts'
import { type DeltaParts, DeltaStream } from './delta-stream.ts'
import { type History, USER_ONLY } from './history.ts'
import type { Outfit } from './outfit.ts'
import type { Announcement } from './socket-protocol.ts'
import type { StepOutcome } from './step-outcome.ts'
import type { Desk } from './turn.ts'

/** What clients know a failure of the model by. */
const STATUS: Readonly<Record<ModelFailure, string>> = {
  authentication: 'STATUS$ERROR_LLM_AUTHENTICATION',
  out_of_credits: 'STATUS$ERROR_LLM_OUT_OF_CREDITS',
  rate_limit: 'CHAT_INTERFACE$AGENT_RATE_LIMITED_STOPPED_MESSAGE',
  content_policy: 'STATUS$ERROR_LLM_CONTENT_POLICY_VIOLATION',
  unavailable: 'STATUS$ERROR_LLM_SERVICE_UNAVAILABLE',
  timeout: 'STATUS$ERROR_LLM_SERVICE_UNAVAILABLE',
  broken_stream: 'STATUS$ERROR_LLM_SERVICE_UNAVAILABLE',
  internal: 'STATUS$ERROR_LLM_INTERNAL_SERVER_ERROR',
  context_too_long: 'STATUS$ERROR',
  unusable_reply: 'STATUS$ERROR',
  bad_request: 'STATUS$ERROR',
  address_refused: 'STATUS$ERROR',
}

/** Characters between two writes of the answer under way, and those that are kept at most. */
const PARTIAL_EVERY = 400
const MAX_PARTIAL = 40_000

type FailureParts = {
  desk: Desk
  retries: RetryPlan
  announce(frame: Announcement): void
  /** Leaves the older half out of what the model sees; null when there is nothing left to leave out. */
  shorten(): NewEvent | null
}

type Parts = FailureParts &
  DeltaParts & {
    outfit: Outfit
    model: LanguageModel
    history: History
  }

export async function askModel(parts: Parts, signal: AbortSignal): Promise<StepOutcome> {
  const { desk, outfit, model, history } = parts
  const { iterations, failures } = desk.turn.value
  const deltas = new DeltaStream(parts, { answer: iterations, attempt: failures.count + 1 })
  const prompt = {
    system: outfit.system,
    messages: outfit.condenses ? maskPages(history.messages()) : history.messages(),
    tools: [...outfit.tools.values()].map(({ name, description, parameters }) => ({ name, description, parameters })),
  }
  try {
    const onDelta = (delta: ModelDelta) => {
      deltas.push(delta)
      keepPartial(desk, deltas)
    }
    const reply = await model.ask(prompt, { signal, onDelta })
    return answered(parts, reply)
  } catch (error) {
    if (signal.aborted) return brokenOff(deltas.text)
    if (!(error instanceof ModelError)) throw error
    return failedToAsk(parts, error)
  } finally {
    deltas.end()
  }
}

/** So that a restart loses no more than a moment of what was written. It tells of it before it knows any secret. */
function keepPartial({ turn }: Desk, { shown }: DeltaStream): void {
  if (shown.length - turn.value.partial.length < PARTIAL_EVERY || shown.length > MAX_PARTIAL) return
  turn.change({ partial: shown })
}

function answered({ desk, model }: Parts, reply: ModelReply): StepOutcome {
  const { turn, calls } = desk
  const metrics = addUsage(turn.value.metrics ?? newMetrics(), model, reply)
  const iterations = turn.value.iterations + 1
  const counted = { metrics, iterations, failures: { count: 0, retryAt: 0 }, shortened: false }
  const surplus = CallQueue.surplus(reply.calls)
  const events: NewEvent[] = []
  if (reply.calls.length === 0)
    events.push({ ...agentMessage(reply.text), llm_metrics: metricsWire(metrics, turn.value.budgetLimit) })
  if (surplus > 0) {
    const text = `The answer holds ${reply.calls.length} calls; the last ${surplus} are left out. Ask for them again.`
    events.push(errorObservation('agent', text, { errorId: 'AGENT_ERROR$BAD_ACTION' }))
  }
  return {
    events,
    stored: (first) => {
      turn.change(counted)
      calls.add(reply, reply.calls.length === 0 ? first : null)
    },
    ...(reply.calls.length === 0 ? { next: { state: 'awaiting_user_input' as const } } : {}),
  }
}

/** The user stopped it: what was written until then is kept, and marked. */
function brokenOff(text: string): StepOutcome {
  return { events: text === '' ? [] : [agentMessage(`${text}\n\n[stopped]`)] }
}

/** Tries again later where that may help, and tells the user what to do where it does not. */
export function failedToAsk(parts: FailureParts, error: ModelError): StepOutcome {
  const { turn } = parts.desk
  const kept: NewEvent[] = error.partialText === '' ? [] : [partialNote(error.partialText)]
  const condensed = error.kind === 'context_too_long' && !turn.value.shortened ? parts.shorten() : null
  if (condensed !== null) {
    return { events: [condensationRequest(), condensed], stored: () => turn.change({ shortened: true }) }
  }
  const failedTimes = turn.value.failures.count + 1
  const delayMs = retryDelay({ failed: failedTimes, error, plan: parts.retries })
  if (delayMs !== null) {
    const when = `in ${Math.ceil(delayMs / 1000)} s (attempt ${failedTimes + 1} of ${parts.retries.attempts})`
    const message = `${error.message} Trying again ${when}.`
    parts.announce({ status_update: true, type: 'info', id: 'STATUS$LLM_RETRY', message })
    return { events: kept, stored: () => wait(parts.desk, failedTimes, Date.now() + delayMs) }
  }
  const id = STATUS[error.kind]
  parts.announce({ status_update: true, type: 'error', id, message: error.message })
  const told = errorObservation('agent', error.message, { errorId: USER_ONLY })
  return {
    events: [...kept, told],
    stored: () => turn.change({ failures: { count: 0, retryAt: 0 } }),
    next: { state: 'error', reason: id === 'STATUS$ERROR' ? `RuntimeError: ${error.message}` : id },
  }
}

function wait(desk: Desk, count: number, retryAt: number): void {
  desk.turn.change({ failures: { count, retryAt } })
  desk.wake(retryAt)
}

export function partialNote(text: string): NewEvent {
  const content = `The answer broke off and is asked for again. Until then it read:\n${text}`
  return errorObservation('agent', content, { errorId: USER_ONLY })
}

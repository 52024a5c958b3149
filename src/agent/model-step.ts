// Prepares the model's next answer: the current settings, pending recall observations, the limits, and a history that
// fits into the model's window.

import { addUsage, metricsWire, newMetrics } from '../llm/metrics.ts'
import { type LanguageModel, type ModelDelta, ModelError, type ModelFailure, type ModelReply } from '../llm/model.ts'
import { retryDelay } from '../llm/retry.ts'
import { agentMessage, condensationRequest } from './actions.ts'
import { introduction } from './command-step.ts'
import { Condenser, maskPages } from './context/condenser.ts'
import { History } from './context/history.ts'
import type { Knowledge } from './context/knowledge.ts'
import { tellUnseen } from './context/knowledge.ts'
import { type Halt, LoopDetector, limitReached, STUCK } from './context/limits.ts'
import type { NewEvent, StreamFrame } from './events.ts'
import type { MaskedStream } from './masking.ts'
import { errorObservation, USER_ONLY } from './observations.ts'
import type { StepConfig } from './step-config.ts'
import { type StepOutcome, surplusCalls } from './turn.ts'
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

  /** The next answer, of the model or of the recording that is replayed. */
  async run(signal: AbortSignal): Promise<StepOutcome> {
    try {
      const config = await this.#deps.configs.renew(signal)
      signal.throwIfAborted()
      this.#tellUnknown(config)
      await this.#knowledge.catchUp()
      signal.throwIfAborted()
      return this.#deps.replay.next() ?? (await this.#ask(config, signal))
    } catch (error) {
      if (signal.aborted) return { events: [], failure: 'stopped' }
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

/** The reason is for programs; the advice tells the user what to do. */
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

// One answer of the model: requested, streamed to live clients, and stored together with its calls.

// The model's answer while it is written: frames for live clients. They are not stored; the finished answer is an
// event. `answer` and `attempt` identify the text of a frame, so that a client never joins the text of a failed attempt
// with that of the next one.

/** Small pieces in quick succession share a frame, because a frame costs more than its text. */
const COALESCE_MS = 8

/** `secrets` makes a mask for each text that is streamed. */
type DeltaDeps = { stream(frame: StreamFrame): void; readonly secrets: { stream(): MaskedStream } }

export class DeltaStream {
  readonly #deps: DeltaDeps
  /** One mask for each streamed text: it finds secrets that are split between two pieces. */
  readonly #masked = new Map<string, { stream: MaskedStream; newest: ModelDelta }>()
  readonly #of: { answer: number; attempt: number }
  #held: ModelDelta[] = []
  #timer: ReturnType<typeof setTimeout> | null = null
  #text = ''
  #shown = ''

  constructor(deps: DeltaDeps, of: { answer: number; attempt: number }) {
    this.#deps = deps
    this.#of = of
  }

  /** The text of the answer so far. */
  get text(): string {
    return this.#text
  }

  /** The same text as clients saw it: with secrets masked. */
  get shown(): string {
    return this.#shown
  }

  /** The first piece after a pause is sent at once. */
  push(delta: ModelDelta): void {
    if (delta.kind === 'text') this.#text += delta.text
    this.#held.push(delta)
    if (this.#timer !== null) return
    this.flush()
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.flush()
    }, COALESCE_MS)
  }

  flush(): void {
    const held = this.#held
    this.#held = []
    for (const delta of joined(held)) {
      const masked = this.#maskOf(delta)
      masked.newest = delta
      this.#show(delta, masked.stream.push(delta.text))
    }
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.flush()
    for (const { stream, newest } of this.#masked.values()) {
      const rest = stream.end()
      if (rest !== '') this.#show(newest, rest)
    }
    this.#masked.clear()
  }

  #maskOf(delta: ModelDelta) {
    const key = delta.kind === 'call' ? `call ${delta.index}` : delta.kind
    const known = this.#masked.get(key) ?? { stream: this.#deps.secrets.stream(), newest: delta }
    this.#masked.set(key, known)
    return known
  }

  /** The name of a call is sent before its arguments. */
  #show(delta: ModelDelta, text: string): void {
    if (delta.kind === 'text') this.#shown += text
    if (text !== '' || (delta.kind === 'call' && delta.text === '')) {
      this.#deps.stream({ type: 'delta', ...this.#of, ...delta, text })
    }
  }
}

/** Neighbouring pieces of one kind are joined. */
function joined(deltas: readonly ModelDelta[]): ModelDelta[] {
  const result: ModelDelta[] = []
  for (const delta of deltas) {
    const before = result.at(-1)
    const fits =
      before?.kind === delta.kind && (before.kind !== 'call' || delta.kind !== 'call' || before.index === delta.index)
    if (before !== undefined && fits) result[result.length - 1] = { ...before, text: before.text + delta.text }
    else result.push(delta)
  }
  return result
}

/** The ids by which clients know model failures. */
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
  budget_spent: 'STATUS$ERROR',
  budget_held: 'STATUS$ERROR',
}

/** Characters between two writes of the unfinished answer, and the most characters that are stored. */
const PARTIAL_EVERY = 400
const MAX_PARTIAL = 40_000

type FailureDeps = Pick<TurnDeps, 'turn' | 'wake' | 'retries' | 'announce'> & {
  /** Removes the older half from what the model sees; null when nothing can be removed. */
  shorten(): NewEvent | null
}

type AnswerDeps = FailureDeps &
  Pick<TurnDeps, 'calls' | 'stream' | 'secrets' | 'review'> & {
    config: StepConfig
    model: LanguageModel
    history: History
  }

async function requestAnswer(deps: AnswerDeps, signal: AbortSignal): Promise<StepOutcome> {
  const { turn, config, model, history } = deps
  const { iterations, failures } = turn.value
  const deltas = new DeltaStream(deps, { answer: iterations, attempt: failures.count + 1 })
  const prompt = {
    system: config.system,
    messages: config.condenses ? maskPages(history.messages()) : history.messages(),
    tools: [...config.tools.values()].map(({ name, description, parameters }) => ({ name, description, parameters })),
  }
  try {
    const onDelta = (delta: ModelDelta) => {
      deltas.push(delta)
      keepPartial(turn, deltas)
    }
    const reply = await model.ask(prompt, { signal, onDelta })
    const isFinal = reply.calls.length === 0 && deps.review !== null
    return answered(deps, reply, isFinal ? await deps.review(reply.text) : reply.text)
  } catch (error) {
    if (signal.aborted) return { ...brokenOff(deltas.text), asked: { model: model.id, failure: 'stopped' } }
    if (!(error instanceof ModelError)) throw error
    return { ...failedToAsk(deps, error), asked: { model: model.id, failure: error.kind } }
  } finally {
    deltas.end()
  }
}

/**
 * Stored so that a restart loses only the last moment of the text. Masked, because after a restart it is shown before
 * the secrets are loaded.
 */
function keepPartial(turn: TurnDeps['turn'], { shown }: DeltaStream): void {
  if (shown.length - turn.value.partial.length < PARTIAL_EVERY || shown.length > MAX_PARTIAL) return
  turn.change({ partial: shown })
}

/** `told`: the text as the user sees it. */
function answered({ turn, calls, model }: AnswerDeps, reply: ModelReply, told: string): StepOutcome {
  const metrics = addUsage(turn.value.metrics ?? newMetrics(), model, reply)
  const iterations = turn.value.iterations + 1
  const counted = { metrics, iterations, failures: { count: 0, retryAt: 0 }, shortened: false }
  const surplus = surplusCalls(reply.calls)
  const events: NewEvent[] = []
  if (reply.calls.length === 0)
    events.push({ ...agentMessage(told), llm_metrics: metricsWire(metrics, turn.value.budgetLimit) })
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
    asked: { model: model.id, reply },
  }
}

/** The user stopped the answer: the text so far is stored, with a mark. */
function brokenOff(text: string): StepOutcome {
  return { events: text === '' ? [] : [agentMessage(`${text}\n\n[stopped]`)] }
}

/** Retries later where that may help; otherwise tells the user what to do. */
function failedToAsk(deps: FailureDeps, error: ModelError): StepOutcome {
  const { turn } = deps
  const kept: NewEvent[] = error.partialText === '' ? [] : [partialNote(error.partialText)]
  const condensed = error.kind === 'context_too_long' && !turn.value.shortened ? deps.shorten() : null
  if (condensed !== null) {
    return { events: [condensationRequest(), condensed], stored: () => turn.change({ shortened: true }) }
  }
  const failedTimes = turn.value.failures.count + 1
  const delayMs = retryDelay({ failed: failedTimes, error, plan: deps.retries })
  if (delayMs !== null) {
    const when = `in ${Math.ceil(delayMs / 1000)} s (attempt ${failedTimes + 1} of ${deps.retries.attempts})`
    const message = `${error.message} Trying again ${when}.`
    deps.announce({ status_update: true, type: 'info', id: 'STATUS$LLM_RETRY', message })
    return { events: kept, stored: () => wait(deps, failedTimes, Date.now() + delayMs) }
  }
  const id = STATUS[error.kind]
  deps.announce({ status_update: true, type: 'error', id, message: error.message })
  const told = errorObservation('agent', error.message, { errorId: USER_ONLY })
  return {
    events: [...kept, told],
    stored: () => turn.change({ failures: { count: 0, retryAt: 0 } }),
    next: { state: 'error', reason: id === 'STATUS$ERROR' ? `RuntimeError: ${error.message}` : id },
  }
}

function wait({ turn, wake }: FailureDeps, count: number, retryAt: number): void {
  turn.change({ failures: { count, retryAt } })
  wake(retryAt)
}

export function partialNote(text: string): NewEvent {
  const content = `The answer broke off and is asked for again. Until then it read:\n${text}`
  return errorObservation('agent', content, { errorId: USER_ONLY })
}

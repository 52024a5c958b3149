// The telemetry of a turn: a span for each step and one around them, following the OpenTelemetry conventions for
// generative AI, and counters. A span is made from the stored turn in the write that ends its step, so it exists once
// or not at all. A step that a crash interrupted and that runs again has not ended: it keeps its number, from which its
// id is derived. Spans contain names, numbers and times only: nothing that a user, a model or a tool wrote.

import { count } from '../lib/metrics.ts'
import { type Attributes, type Span, spanIdOf } from '../lib/otlp.ts'
import { modelNames } from '../llm/span-names.ts'
import { TOOLS } from './tools/index.ts'
import type { AgentState, AskedModel, LoggedCalls, OpenStep, StepOutcome, Turn, TurnTrace } from './turn.ts'
import type { StepWitness, TurnDeps } from './turn-deps.ts'

type Deps = {
  turn: TurnDeps['turn']
  calls: LoggedCalls
  log: Pick<TurnDeps['log'], 'last'>
  conversation: string
  /** Null without tracing: then no trace data is stored, either. */
  spans: {
    /** The id of a new trace; null for one that is not sampled. */
    begin(firstEvent: number): string | null
    put(span: Span): void
  } | null
}

/** States in which a turn is over. */
const ENDS: ReadonlySet<AgentState> = new Set<AgentState>([
  'awaiting_user_input',
  'finished',
  'rejected',
  'stopped',
  'error',
])

/** States in which a turn continues by itself. */
const UNDER_WAY: ReadonlySet<AgentState> = new Set<AgentState>(['running', 'user_confirmed'])

/** The stored turn, observed: every change of it goes through here. */
export class WatchedTurn implements StepWitness {
  readonly #deps: Deps
  #seen: StepOutcome | null = null
  #isCarriedOn = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get value(): Readonly<Turn> {
    return this.#deps.turn.value
  }

  saw(outcome: StepOutcome): void {
    this.#seen = outcome
  }

  carriesOn(): void {
    this.#isCarriedOn = true
  }

  change(changes: Partial<Turn>): void {
    const { turn } = this.#deps
    const before = turn.value
    const step = changes.step === undefined ? before.step : changes.step
    const after = this.#after(before, step)
    const isOver = step === null && (before.step !== null || changes.state !== undefined)
    const state = changes.state ?? before.state
    if (UNDER_WAY.has(before.state) && ENDS.has(state)) count('bellwether_agent_turns_total', { outcome: state })
    const trace = isOver && after !== null && ENDS.has(state) ? this.#end(after, { ...before, state }) : after
    turn.change(trace === before.trace ? changes : { ...changes, trace })
  }

  #after(before: Readonly<Turn>, step: OpenStep | null): TurnTrace | null {
    if (before.step === null) return step === null ? before.trace : this.#begun(before)
    if (step !== null) return before.trace
    const outcome = this.#seen ?? { events: [], failure: 'internal' }
    const isCarriedOn = this.#isCarriedOn
    this.#seen = null
    this.#isCarriedOn = false
    if (isCarriedOn) return before.trace
    const told = toldOf(before.step, outcome, this.#deps.calls)
    noteStep(before.step, told)
    return before.trace && this.#stepEnded(before.trace, { told, outcome })
  }

  #begun({ trace }: Readonly<Turn>): TurnTrace | null {
    const { spans, log } = this.#deps
    if (spans === null) return trace
    const now = Date.now()
    if (trace !== null) return { ...trace, stepFrom: now }
    const id = spans.begin(log.last)
    return { id, from: now, steps: 0, stepFrom: now, model: null, inputTokens: 0, outputTokens: 0 }
  }

  #stepEnded(trace: TurnTrace, { told, outcome }: { told: SpanFields; outcome: StepOutcome }): TurnTrace {
    const { conversation, spans } = this.#deps
    const { name, kind, attributes, error } = told
    if (trace.id !== null) {
      spans?.put({
        traceId: trace.id,
        spanId: spanIdOf(trace.id, 'step', trace.steps),
        parent: rootOf(trace.id),
        name,
        kind,
        from: trace.stepFrom,
        until: Date.now(),
        attributes: { ...attributes, 'gen_ai.conversation.id': conversation },
        error,
      })
    }
    const { model = null, reply } = outcome.asked ?? {}
    return {
      ...trace,
      steps: trace.steps + 1,
      model: model ?? trace.model,
      inputTokens: trace.inputTokens + (reply?.usage.promptTokens ?? 0),
      outputTokens: trace.outputTokens + (reply?.usage.completionTokens ?? 0),
    }
  }

  /** Records the span around the steps. */
  #end({ id, from, steps, model, inputTokens, outputTokens }: TurnTrace, { agent, state }: Readonly<Turn>): null {
    const { conversation, spans } = this.#deps
    if (id === null) return null
    spans?.put({
      traceId: id,
      spanId: rootOf(id),
      parent: null,
      name: `invoke_agent ${agent}`,
      kind: 'internal',
      from,
      until: Date.now(),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent,
        'gen_ai.conversation.id': conversation,
        ...(model === null ? {} : modelNames(model)),
        ...(model === null ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
        ...(model === null ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
        'bellwether.turn.steps': steps,
        'bellwether.turn.end': state,
      },
      error: state === 'error' ? 'agent_error' : null,
    })
    return null
  }
}

/** Known before the turn ends, so that its steps can refer to it. */
const rootOf = (traceId: string): string => spanIdOf(traceId, 'turn')

type SpanFields = Pick<Span, 'name' | 'kind' | 'error'> & { attributes: Attributes; tool: string | null }

function toldOf(step: OpenStep, outcome: StepOutcome, calls: LoggedCalls): SpanFields {
  if (step.kind === 'model') return outcome.asked === undefined ? notAsked(outcome) : modelTold(outcome.asked)
  const call = step.kind === 'call' ? calls.get(step.key) : null
  const tool = step.kind === 'command' ? 'execute_bash' : (call?.name ?? 'unknown')
  return {
    name: `execute_tool ${tool}`,
    kind: 'internal',
    tool,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': call === null ? null : harmless(call.call_id),
      'bellwether.exit_code': exitCodeOf(outcome),
    },
    error: outcome.failure ?? failureOf(outcome),
  }
}

/** A step without a request to a model: a limit was reached, or a recording is replayed. */
function notAsked({ failure, next }: StepOutcome): SpanFields {
  const error = failure ?? (next?.state === 'error' ? 'agent_error' : null)
  return { name: 'step', kind: 'internal', tool: null, attributes: { 'bellwether.step.kind': 'model' }, error }
}

function modelTold({ model, reply, failure }: AskedModel): SpanFields {
  const names = modelNames(model)
  return {
    name: `chat ${names['gen_ai.request.model']}`,
    kind: 'client',
    tool: null,
    attributes: {
      'gen_ai.operation.name': 'chat',
      ...names,
      ...(reply === undefined ? {} : replyAttributes(reply)),
    },
    error: failure ?? null,
  }
}

function replyAttributes({ usage, finish, responseId, answeredBy }: NonNullable<AskedModel['reply']>): Attributes {
  return {
    'gen_ai.response.model': answeredBy === undefined ? null : modelNames(answeredBy)['gen_ai.request.model'],
    'gen_ai.response.id': harmless(responseId),
    'gen_ai.response.finish_reasons': [FINISH[finish]],
    'gen_ai.usage.input_tokens': usage.promptTokens,
    'gen_ai.usage.output_tokens': usage.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens || null,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens || null,
  }
}

const FINISH = { stop: 'stop', calls: 'tool_calls', length: 'length', other: 'other' } as const

/** An id from another service; one that could contain text is left out. */
const harmless = (id: string): string | null => (/^[\w.:-]{1,100}$/.test(id) ? id : null)

const FAILURES: Readonly<Record<string, string>> = {
  AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED: 'stopped',
  AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR: 'not_executed',
  AGENT_ERROR$BAD_ACTION: 'bad_action',
}

/** The error class of an outcome; null when it is not an error. */
function failureOf({ events }: StepOutcome): string | null {
  const last = events.at(-1)
  if (last === undefined) return 'stopped'
  if (!('observation' in last) || last.observation !== 'error') return null
  return FAILURES[String(last.extras.error_id)] ?? 'tool_error'
}

function exitCodeOf({ events }: StepOutcome): number | null {
  const last = events.at(-1)
  if (last === undefined || !('observation' in last) || last.observation !== 'run') return null
  const code = (last.extras.metadata as { exit_code?: unknown } | undefined)?.exit_code
  return typeof code === 'number' ? code : null
}

/** Remote tools can have any name, and every name would be a metric series of its own. */
const OWN_TOOLS: ReadonlySet<string> = new Set(TOOLS.map(({ name }) => name))

function noteStep(step: OpenStep, { tool, error }: SpanFields): void {
  const outcome = error === null ? 'ok' : 'error'
  count('bellwether_agent_steps_total', { kind: step.kind, outcome })
  if (tool !== null) count('bellwether_tool_calls_total', { tool: OWN_TOOLS.has(tool) ? tool : 'other', outcome })
}

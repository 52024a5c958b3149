// A task as OpenTelemetry spans: one for the run, one for each attempt at a source and one for each model call, from
// the data that the queue stored. They contain no listing, no owner and no text of a report.

import { type Span, spanIdOf } from '../../lib/otlp.ts'
import { modelNames } from '../../llm/span-names.ts'
import type { Task } from '../task.ts'
import { type FlowEvent, FlowNode } from './run-flow.ts'

/** For a finished task. Its id is the trace's id, as in its flow. */
export function taskSpans(task: Task, events: readonly FlowEvent[], attempts: number): Span[] {
  const { id, request, status, createdAt, startedAt, completedAt } = task
  const until = completedAt ?? createdAt
  const parent = spanIdOf(id, 'task')
  const root: Span = {
    traceId: id,
    spanId: parent,
    parent: null,
    name: `invoke_workflow ${request.kind}`,
    kind: 'internal',
    from: startedAt ?? createdAt,
    until,
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': request.kind,
      'bellwether.task.end': status,
      'bellwether.task.attempts': attempts,
      'bellwether.task.waited_ms': (startedAt ?? until) - createdAt,
    },
    error: status === 'failed' ? 'task_failed' : null,
  }
  return [...events.flatMap((event) => stepSpan(event, { traceId: id, parent })), root]
}

/** Empty for an event that is not a step with a duration. */
function stepSpan({ id, metadata }: FlowEvent, of: Pick<Span, 'traceId' | 'parent'>): Span[] {
  const parsed = FlowNode.safeParse(metadata.node)
  if (!parsed.success || parsed.data.status === 'running') return []
  const { kind, status, started_at: startedAt, duration_ms: tookMs } = parsed.data
  const from = Date.parse(startedAt ?? '')
  if ((kind !== 'data_source' && kind !== 'model') || Number.isNaN(from)) return []
  const error = status === 'failed' || status === 'timeout' ? status : null
  const times = { from, until: from + (tookMs ?? 0) }
  const what = kind === 'model' ? modelStep(parsed.data) : sourceStep(parsed.data)
  return [{ ...of, ...times, ...what, spanId: spanIdOf(of.traceId, 'step', id), kind: 'client', error }]
}

function sourceStep({ label, status, record_count: records, metadata }: FlowNode): Pick<Span, 'name' | 'attributes'> {
  const data = String(metadata.data_type)
  return {
    name: `gather ${data}`,
    attributes: {
      'bellwether.source': label,
      'bellwether.data_type': data,
      'bellwether.records': records,
      'bellwether.source.status': status,
    },
  }
}

function modelStep({ label, metadata }: FlowNode): Pick<Span, 'name' | 'attributes'> {
  const names = isModelId(label) ? modelNames(label) : null
  return {
    name: names === null ? 'chat' : `chat ${names['gen_ai.request.model']}`,
    attributes: {
      'gen_ai.operation.name': 'chat',
      ...names,
      'gen_ai.usage.input_tokens': countOf(metadata.input_tokens),
      'gen_ai.usage.output_tokens': countOf(metadata.output_tokens),
      'bellwether.call_type': String(metadata.call_type),
    },
  }
}

/** Without a known model the label is a word in the report's language. */
const isModelId = (label: string): boolean => /^[!-~]+$/.test(label)

const countOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

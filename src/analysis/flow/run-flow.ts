// A run as a graph: the sources of its data, the processing, the destinations of the result. The console draws it.
// Every part is in its wire form, because it is stored and streamed unchanged.

import { z } from 'zod'
import { isoMicros } from '../../lib/clock.ts'
import { type StoredProviderRun, sanitize } from '../diagnostics.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'

export const FlowStatus = z.enum([
  'pending',
  'running',
  'success',
  'failed',
  'degraded',
  'fallback',
  'timeout',
  'cancel_requested',
  'cancelled',
  'skipped',
  'unknown',
])
export type FlowStatus = z.infer<typeof FlowStatus>

const Metadata = z.record(z.string(), z.unknown())

export const FlowLane = z.object({
  id: z.enum(['entry', 'data_source', 'analysis', 'artifact']),
  label: z.string(),
  order: z.int(),
})

export const FlowNode = z.object({
  id: z.string(),
  lane: FlowLane.shape.id,
  kind: z.enum(['entry', 'queue', 'data_source', 'analysis', 'model', 'artifact', 'notification']),
  label: z.string(),
  status: FlowStatus,
  provider: z.string().nullable(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  attempts: z.int().nullable(),
  record_count: z.number().nullable(),
  message: z.string().nullable(),
  metadata: Metadata,
})
export type FlowNode = z.infer<typeof FlowNode>

export const FlowEdge = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  kind: z.enum(['data', 'control', 'fallback', 'retry']),
  status: FlowStatus,
  label: z.string().nullable(),
  message: z.string().nullable(),
  metadata: Metadata,
})
export type FlowEdge = z.infer<typeof FlowEdge>

export const FlowEvent = z.object({
  id: z.string(),
  timestamp: z.string(),
  severity: z.enum(['info', 'success', 'warning', 'danger']),
  type: z.string(),
  node_id: z.string(),
  title: z.string(),
  message: z.string().nullable(),
  metadata: Metadata,
})
export type FlowEvent = z.infer<typeof FlowEvent>

export const FlowSummary = z.object({
  elapsed_ms: z.number().nullable(),
  bottleneck_node_id: z.string().nullable(),
  failed_attempts: z.int(),
  fallback_count: z.int(),
  model: z.string().nullable(),
  data_source_count: z.int(),
  event_count: z.int(),
})
export type FlowSummary = z.infer<typeof FlowSummary>

export const RunFlowSnapshot = z.object({
  task_id: z.string(),
  trace_id: z.string(),
  stock_code: z.string(),
  stock_name: z.string().nullable(),
  status: FlowStatus,
  summary: FlowSummary,
  lanes: z.array(FlowLane),
  nodes: z.array(FlowNode),
  edges: z.array(FlowEdge),
  events: z.array(FlowEvent),
  generated_at: z.string(),
})
export type RunFlowSnapshot = z.infer<typeof RunFlowSnapshot>

const MAX_LABEL = 80
const MAX_TITLE = 100

type NodeFields = Pick<FlowNode, 'id' | 'lane' | 'kind' | 'label' | 'status'> & Partial<FlowNode>

export function flowNode({ label, message, ...fields }: NodeFields): FlowNode {
  return {
    provider: null,
    started_at: null,
    ended_at: null,
    duration_ms: null,
    attempts: null,
    record_count: null,
    metadata: {},
    ...fields,
    label: sanitize(label).slice(0, MAX_LABEL),
    message: message ? sanitize(message) : null,
  }
}

export function flowEdge(from: string, to: string, { kind, status }: Pick<FlowEdge, 'kind' | 'status'>): FlowEdge {
  return { id: `${from}_to_${to}_${kind}`, from, to, kind, status, label: null, message: null, metadata: {} }
}

type EventFields = Pick<FlowEvent, 'id' | 'timestamp' | 'type'> & { node: FlowNode; metadata?: Record<string, unknown> }

/** An event of a node, as one line. */
export function flowEvent({ id, timestamp, type, node, metadata = {} }: EventFields): FlowEvent {
  const dataType = node.metadata.data_type
  const title = typeof dataType === 'string' ? `${node.label}: ${dataType}` : node.label
  return {
    id,
    timestamp,
    severity: severityOf(node),
    type,
    node_id: node.id,
    title: title.slice(0, MAX_TITLE),
    message: node.message,
    metadata,
  }
}

type Drawing = Pick<
  RunFlowSnapshot,
  'task_id' | 'stock_code' | 'stock_name' | 'status' | 'nodes' | 'edges' | 'events'
> & {
  language: ReportLanguage
  elapsedMs: number | null
  model: string | null
}

export function flowSnapshot({ language, elapsedMs, model, ...drawing }: Drawing): RunFlowSnapshot {
  const { nodes, edges, events, task_id } = drawing
  const slowest = nodes.reduce<FlowNode | null>((best, node) => {
    return (node.duration_ms ?? 0) > (best?.duration_ms ?? 0) ? node : best
  }, null)
  const tried = nodes.filter(({ kind }) => ATTEMPT_KINDS.includes(kind))
  return {
    ...drawing,
    trace_id: task_id,
    summary: {
      elapsed_ms: elapsedMs,
      bottleneck_node_id: slowest?.id ?? null,
      failed_attempts: tried.filter(({ status }) => status === 'failed' || status === 'timeout').length,
      fallback_count: edges.filter(({ kind }) => kind === 'fallback').length,
      model,
      data_source_count: nodes.filter(({ kind }) => kind === 'data_source').length,
      event_count: events.length,
    },
    lanes: LANES.map((id, i) => ({ id, label: textsOf(language).flow[id], order: i + 1 })),
    generated_at: isoMicros(Date.now()),
  }
}

const LANES = FlowLane.shape.id.options
const ATTEMPT_KINDS: readonly FlowNode['kind'][] = ['data_source', 'model', 'artifact', 'notification']

/** If a source fails, others remain; if a model or a report fails, there is no replacement. */
function severityOf({ status, kind }: FlowNode): FlowEvent['severity'] {
  if (status === 'success') return 'success'
  if (status !== 'failed' && status !== 'timeout') return 'info'
  return kind === 'model' || kind === 'artifact' ? 'danger' : 'warning'
}

// Parts that the live and the stored run flow share.

/** One node for each attempt, numbered within its kind of data. */
export function providerNodes(runs: readonly StoredProviderRun[]): FlowNode[] {
  const counts = new Map<string, number>()
  return runs.map((run) => {
    const n = (counts.get(run.data_type) ?? 0) + 1
    counts.set(run.data_type, n)
    const startedAt = Date.parse(run.created_at)
    return flowNode({
      id: `provider_${run.data_type}_${run.provider}_${n}`,
      lane: 'data_source',
      kind: 'data_source',
      label: run.provider,
      status: statusOf(run),
      provider: run.provider,
      started_at: run.created_at,
      ended_at: Number.isNaN(startedAt) ? null : isoMicros(startedAt + run.latency_ms),
      duration_ms: run.latency_ms,
      attempts: 1,
      record_count: run.record_count,
      message: run.error_message_sanitized,
      metadata: { data_type: run.data_type },
    })
  })
}

function statusOf({ success, error_type }: StoredProviderRun): FlowStatus {
  if (success) return 'success'
  if (error_type === 'unsupported') return 'skipped'
  return error_type === 'timeout' ? 'timeout' : 'failed'
}

/**
 * Connects the attempts of each kind of data: the queue starts the first, each failure leads to the next, and the data
 * of an attempt goes to `sinkOf` its kind.
 */
export function providerEdges(nodes: readonly FlowNode[], sinkOf: (dataType: string) => string | null): FlowEdge[] {
  const last = new Map<string, FlowNode>()
  return nodes.flatMap((node) => {
    const dataType = String(node.metadata.data_type)
    const before = last.get(dataType)
    last.set(dataType, node)
    const into = before
      ? flowEdge(before.id, node.id, againOf(before, node))
      : flowEdge('task_queue', node.id, { kind: 'control', status: 'success' })
    const sink = node.status === 'success' ? sinkOf(dataType) : null
    return sink === null ? [into] : [into, flowEdge(node.id, sink, { kind: 'data', status: 'success' })]
  })
}

function againOf(before: FlowNode, node: FlowNode): Pick<FlowEdge, 'kind' | 'status'> {
  // A source's label is its name.
  return before.label === node.label ? { kind: 'retry', status: node.status } : { kind: 'fallback', status: 'fallback' }
}

/** Where every flow begins. */
export function entryNodes(queue: Partial<FlowNode> & { status: FlowStatus }, language: ReportLanguage): FlowNode[] {
  return [
    flowNode({
      id: 'request',
      lane: 'entry',
      kind: 'entry',
      label: textsOf(language).flow.request,
      status: 'success',
      started_at: queue.started_at ?? null,
    }),
    flowNode({ id: 'task_queue', lane: 'entry', kind: 'queue', label: textsOf(language).flow.task_queue, ...queue }),
  ]
}

export const ENTRY_EDGE: FlowEdge = flowEdge('request', 'task_queue', { kind: 'control', status: 'success' })

/** Connects each node to the next; repeated attempts of a model as a retry, another model as a fallback. */
export function chain(nodes: readonly FlowNode[], from: string): FlowEdge[] {
  return nodes.map((node, i) => {
    const before = nodes[i - 1]
    const again = before?.kind === 'model' && node.kind === 'model' ? againOf(before, node) : null
    return flowEdge(before?.id ?? from, node.id, again ?? { kind: 'control', status: node.status })
  })
}

// The parts of a run flow that both the live and the stored form are made of.

import { isoMicros } from '../../lib/clock.ts'
import type { StoredProviderRun } from '../diagnostics.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { type FlowEdge, type FlowNode, type FlowStatus, flowEdge, flowNode } from './run-flow.ts'

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
 * Joins the attempts of each kind of data: the queue asks the first, each failure leads to the next, and what an attempt
 * brought goes to `sinkOf` its kind.
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
  return before.provider === node.provider
    ? { kind: 'retry', status: node.status }
    : { kind: 'fallback', status: 'fallback' }
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

/** Each node to the one after it; from one try of a model to the next as a retry. */
export function chain(nodes: readonly FlowNode[], from: string): FlowEdge[] {
  return nodes.map((node, i) => {
    const before = nodes[i - 1]
    const kind = before?.kind === 'model' && node.kind === 'model' ? 'retry' : 'control'
    return flowEdge(before?.id ?? from, node.id, { kind, status: node.status })
  })
}

// The flow of a task that is still in the queue: a skeleton by its state, filled with the steps its runs reported.

import { isoMicros } from '../../lib/clock.ts'
import type { FlowWord } from '../codes.ts'
import { isOpen, type Task, type TaskState } from '../task.ts'
import { textsOf } from '../texts/book.ts'
import { chain, ENTRY_EDGE, entryNodes, providerEdges } from './nodes.ts'
import { FlowEvent, FlowNode, type FlowStatus, flowNode, flowSnapshot, type RunFlowSnapshot } from './run-flow.ts'

const STATUS: Record<TaskState, FlowStatus> = {
  pending: 'pending',
  processing: 'running',
  completed: 'success',
  failed: 'failed',
  cancel_requested: 'cancel_requested',
  cancelled: 'cancelled',
}

export function liveFlow(task: Task, events: readonly FlowEvent[]): RunFlowSnapshot {
  const { language } = task.request
  const status = STATUS[task.status]
  const reported = reportedNodes(events)
  const providers = reported.filter(({ kind }) => kind === 'data_source')
  const entry = entryNodes({ status, started_at: isoMicros(task.createdAt), duration_ms: queuedMs(task) }, language)
  const rest = isOpen(task.status) ? openTail(task, reported) : finishedTail(task, reported)
  const sink = rest[0]?.id ?? null
  const begun = task.startedAt ?? task.createdAt
  return flowSnapshot({
    task_id: task.id,
    stock_code: task.request.stockCode,
    stock_name: task.stockName,
    status,
    language,
    nodes: [...entry, ...providers, ...rest],
    edges: [ENTRY_EDGE, ...providerEdges(providers, () => sink), ...chain(rest, 'task_queue')],
    events: [...events],
    elapsedMs: (task.completedAt ?? Date.now()) - begun,
    model: reported.findLast(({ kind }) => kind === 'model')?.label ?? null,
  })
}

/** A node that was reported again stands as it was reported last. */
function reportedNodes(events: readonly FlowEvent[]): FlowNode[] {
  const nodes = new Map<string, FlowNode>()
  for (const event of events) {
    const parsed = FlowNode.safeParse(event.metadata.node)
    if (parsed.success) nodes.set(parsed.data.id, parsed.data)
  }
  return [...nodes.values()]
}

function openTail({ status, request }: Task, reported: FlowNode[]): FlowNode[] {
  const pipeline = flowNode({
    id: 'analysis_pipeline',
    lane: 'analysis',
    kind: 'analysis',
    label: textsOf(request.language).flow.pipeline,
    status: STATUS[status],
  })
  return [pipeline, ...reported.filter(({ kind }) => kind !== 'data_source')]
}

/** What must have followed, known only where a run told of it. */
function finishedTail({ status, request }: Task, reported: FlowNode[]): FlowNode[] {
  const { language } = request
  const otherwise: FlowStatus = status === 'completed' ? 'unknown' : 'skipped'
  const generic = (id: string, kind: FlowNode['kind'], word: FlowWord) =>
    flowNode({ id, lane: LANE[kind] ?? 'analysis', kind, label: textsOf(language).flow[word], status: otherwise })
  const told = (kind: FlowNode['kind'], fallback: FlowNode) => {
    const nodes = reported.filter((node) => node.kind === kind)
    return nodes.length > 0 ? nodes : [fallback]
  }
  return [
    generic('context_pack', 'analysis', 'context_pack'),
    ...told('model', generic('llm', 'model', 'llm')),
    ...told('artifact', generic('history_save', 'artifact', 'history')),
    ...told('notification', generic('notification', 'notification', 'notification')),
  ]
}

const LANE: Partial<Record<FlowNode['kind'], FlowNode['lane']>> = { artifact: 'artifact', notification: 'artifact' }

function queuedMs({ createdAt, startedAt }: Task): number | null {
  return startedAt === null ? null : startedAt - createdAt
}

/** The steps as the queue keeps them; one that is not readable is left out. */
export function readFlowEvents(texts: readonly string[]): FlowEvent[] {
  return texts.flatMap((text) => {
    const parsed = FlowEvent.safeParse(JSON.parse(text))
    return parsed.success ? [parsed.data] : []
  })
}

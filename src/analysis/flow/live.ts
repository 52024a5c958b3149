// The flow of a task that is still in the queue: a skeleton for its state, filled with the steps that its runs
// reported.

import { isoMicros } from '../../lib/clock.ts'
import type { ProviderRun } from '../../market/bars.ts'
import type { FlowWord } from '../codes.ts'
import { type ModelRun, storedDiagnostics } from '../diagnostics.ts'
import { isOpen, type RunJob, type Task, type TaskState } from '../task.ts'
import { textsOf } from '../texts/book.ts'
import {
  chain,
  ENTRY_EDGE,
  entryNodes,
  FlowEvent,
  FlowNode,
  type FlowStatus,
  flowEvent,
  flowNode,
  flowSnapshot,
  providerEdges,
  providerNodes,
  type RunFlowSnapshot,
} from './run-flow.ts'

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

/** If a node was reported several times, the last report counts. */
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

/** The steps that must have followed, shown as known only if a run reported them. */
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

/** The steps as the queue stores them; unreadable ones are left out. */
export function readFlowEvents(texts: readonly string[]): FlowEvent[] {
  return texts.flatMap((text) => {
    const parsed = FlowEvent.safeParse(JSON.parse(text))
    return parsed.success ? [parsed.data] : []
  })
}

// The steps of a run while it goes on: attempts at sources, the model, saving.

/** What a run reports while it goes on, and the signal that stops it. */
export type RunHooks = {
  onStage: (progress: number, message: string, stage: string) => Promise<void>
  /** Steps of its flow. */
  onSteps: (steps: readonly FlowEvent[]) => Promise<void>
  signal: AbortSignal
}

export type StepTeller = {
  providers: (runs: readonly ProviderRun[]) => Promise<void>
  /** Null when the model is asked, then each of its calls. */
  model: (run: ModelRun | null) => Promise<void>
}

/** Number ranges that keep the steps of different runs of one task apart. */
const PER_ATTEMPT = 1_000

export function stepTeller(job: RunJob, { onSteps }: RunHooks): StepTeller {
  let count = 0
  const nextId = () => {
    count += 1
    return stepId(job, count)
  }
  let calls = 0
  return {
    async providers(runs) {
      if (runs.length > 0) await onSteps(providerSteps(job, runs, nextId))
    },
    async model(run) {
      if (run !== null) calls += 1
      await onSteps([modelStep(job, { run, number: Math.max(1, calls), id: nextId() })])
    },
  }
}

export const stepId = ({ attempt }: RunJob, n: number) =>
  `flow_${String((attempt - 1) * PER_ATTEMPT + n).padStart(4, '0')}`

function providerSteps(job: RunJob, runs: readonly ProviderRun[], nextId: () => string): FlowEvent[] {
  const nodes = providerNodes(storedDiagnostics({ ...job, stockCode: job.request.stockCode }, runs).provider_runs)
  return nodes.map((node) => providerStep(nextId(), node))
}

/** One attempt at a source. */
export function providerStep(id: string, node: FlowNode): FlowEvent {
  return flowEvent({
    id,
    timestamp: node.ended_at ?? isoMicros(Date.now()),
    type: 'provider_run',
    node,
    metadata: { data_type: node.metadata.data_type, provider: node.provider, node },
  })
}

type ModelStep = { run: ModelRun | null; number: number; id: string }

function modelStep({ request }: RunJob, { run, number, id }: ModelStep): FlowEvent {
  const now = isoMicros(Date.now())
  const node = flowNode({
    id: `llm_${run?.call_type ?? 'analysis'}_${number}`,
    lane: 'analysis',
    kind: 'model',
    label: run?.model ?? textsOf(request.language).flow.llm,
    status: run === null ? 'running' : run.success ? 'success' : run.error_type === 'timeout' ? 'timeout' : 'failed',
    provider: run?.provider ?? null,
    started_at: run?.created_at ?? now,
    ended_at: run === null ? null : endOf(run, now),
    duration_ms: run?.duration_ms ?? null,
    message: run?.error_type ?? null,
    metadata: { call_type: run?.call_type ?? 'analysis', ...tokensOf(run) },
  })
  const [type, timestamp] = run === null ? ['llm_run_started', now] : ['llm_run', node.ended_at ?? now]
  return flowEvent({ id, timestamp, type, node, metadata: { node } })
}

const tokensOf = (run: ModelRun | null) =>
  run === null || run.input_tokens === null ? {} : { input_tokens: run.input_tokens, output_tokens: run.output_tokens }

/** The end of an attempt; attempts are reported when all of them are over. */
function endOf({ created_at, duration_ms }: ModelRun, now: string): string {
  const start = Date.parse(created_at)
  return Number.isNaN(start) ? now : isoMicros(start + duration_ms)
}

/** The last step of a run: its number is higher than that of any other step. */
export function savedStep(job: RunJob, now: number): FlowEvent {
  const node = flowNode({
    id: 'history_save',
    lane: 'artifact',
    kind: 'artifact',
    label: textsOf(job.request.language).flow.history,
    status: 'success',
    ended_at: isoMicros(now),
    record_count: 1,
  })
  return flowEvent({
    id: stepId(job, PER_ATTEMPT - 1),
    timestamp: isoMicros(now),
    type: 'history_run',
    node,
    metadata: { node },
  })
}

// The flow of a finished run, from its stored diagnostics and the overview of its evidence.

import { isoMicros } from '../../lib/clock.ts'
import { type StoredDiagnostics, type StoredProviderRun, sanitize } from '../diagnostics.ts'
import type { ContextBlock, ContextPackOverview, ReportLanguage } from '../schemas.ts'
import { REVIEW_CODE } from '../task.ts'
import { textsOf } from '../texts/book.ts'
import {
  chain,
  ENTRY_EDGE,
  entryNodes,
  type FlowEdge,
  type FlowEvent,
  type FlowNode,
  type FlowStatus,
  flowEdge,
  flowEvent,
  flowNode,
  flowSnapshot,
  providerEdges,
  providerNodes,
  type RunFlowSnapshot,
} from './run-flow.ts'

export type FinishedRun = {
  queryId: string
  stockCode: string
  stockName: string | null
  language: ReportLanguage
  isReview: boolean
  /** ISO 8601. */
  createdAt: string
  diagnostics: StoredDiagnostics | null
  overview: ContextPackOverview | null
}

export function historyFlow(run: FinishedRun): RunFlowSnapshot {
  const { language, diagnostics, overview } = run
  const runs = run.isReview ? [] : (diagnostics?.provider_runs ?? [])
  const providers = providerNodes(runs)
  const blocks = (overview?.blocks ?? []).map(blockNode)
  const spine = [packNode(run), ...modelNodes(diagnostics), savedNode(run), ...notificationNodes(diagnostics)]
  const nodes = [
    ...entryNodes({ status: 'success', started_at: startOf(run) }, language),
    ...providers,
    ...blocks,
    ...spine,
  ]
  const known = new Set(blocks.map(({ id }) => id))
  const edges = [
    ENTRY_EDGE,
    ...providerEdges(providers, (dataType) => sinkOf(dataType, known)),
    ...blocks.map(({ id, status }): FlowEdge => flowEdge(id, 'context_pack', { kind: 'data', status })),
    ...(providers.length + blocks.length === 0 ? chain(spine.slice(0, 1), 'task_queue') : []),
    ...chain(spine.slice(1), 'context_pack'),
  ]
  return flowSnapshot({
    task_id: run.queryId,
    stock_code: run.isReview ? REVIEW_CODE : run.stockCode,
    stock_name: run.stockName,
    status: overallOf(run, nodes),
    language,
    nodes,
    edges,
    events: eventsOf([...providers, ...spine.slice(1)], run.createdAt),
    elapsedMs: elapsedOf(nodes),
    model: nodes.findLast(({ kind }) => kind === 'model')?.label ?? null,
  })
}

const BLOCK_OF: Record<string, ContextBlock['key']> = {
  intraday_volume: 'technical',
  realtime_quote: 'quote',
  daily_data: 'daily_bars',
  technical: 'technical',
  chip: 'chip',
  fundamental: 'fundamentals',
  fundamentals: 'fundamentals',
  news_search: 'news',
}

function sinkOf(dataType: string, known: ReadonlySet<string>): string {
  const block = `context_block_${BLOCK_OF[dataType] ?? dataType}`
  return known.has(block) ? block : 'context_pack'
}

const BLOCK_STATUS: Record<ContextBlock['status'], FlowStatus> = {
  available: 'success',
  fallback: 'fallback',
  partial: 'degraded',
  stale: 'degraded',
  estimated: 'degraded',
  missing: 'skipped',
  not_supported: 'skipped',
  fetch_failed: 'failed',
}

function blockNode({ key, label, status, source, missing_reasons }: ContextBlock): FlowNode {
  return flowNode({
    id: `context_block_${key}`,
    lane: 'analysis',
    kind: 'analysis',
    label,
    status: BLOCK_STATUS[status],
    provider: source,
    message: missing_reasons.join('; '),
  })
}

function packNode({ overview, language }: FinishedRun): FlowNode {
  return flowNode({
    id: 'context_pack',
    lane: 'analysis',
    kind: 'analysis',
    label: textsOf(language).flow.context_pack,
    status: overview === null ? 'unknown' : 'success',
    ...(overview === null ? {} : { metadata: { overall_score: overview.data_quality.overall_score } }),
  })
}

/** One node for each attempt, with its own times. */
function modelNodes(diagnostics: StoredDiagnostics | null): FlowNode[] {
  return (diagnostics?.llm_runs ?? []).map((run, i) => {
    const [startedAt, durationMs] = [text(run.created_at), number(run.duration_ms)]
    const start = Date.parse(startedAt ?? '')
    const fault = text(run.error_type)
    return flowNode({
      id: `llm_${text(run.call_type) ?? 'analysis'}_${i + 1}`,
      lane: 'analysis',
      kind: 'model',
      label: text(run.model) ?? 'llm',
      status: run.success === true ? 'success' : fault === 'timeout' ? 'timeout' : 'failed',
      provider: text(run.provider),
      started_at: startedAt,
      ended_at: Number.isNaN(start) || durationMs === null ? null : isoMicros(start + durationMs),
      duration_ms: durationMs,
      attempts: 1,
      message: fault,
      metadata: { call_type: text(run.call_type) ?? 'analysis' },
    })
  })
}

function savedNode({ language, createdAt }: FinishedRun): FlowNode {
  return flowNode({
    id: 'history_save',
    lane: 'artifact',
    kind: 'artifact',
    label: textsOf(language).flow.history,
    status: 'success',
    ended_at: createdAt,
    record_count: 1,
  })
}

function notificationNodes(diagnostics: StoredDiagnostics | null): FlowNode[] {
  return (diagnostics?.notification_runs ?? []).map((run, i) =>
    flowNode({
      id: `notification_${text(run.channel) ?? 'channel'}_${i + 1}`,
      lane: 'artifact',
      kind: 'notification',
      label: text(run.channel) ?? 'channel',
      status: run.success === true ? 'success' : 'failed',
    }),
  )
}

const EVENT_TYPE: Partial<Record<FlowNode['kind'], string>> = {
  data_source: 'provider_run',
  model: 'llm_run',
  artifact: 'history_run',
  notification: 'notification_run',
}

function eventsOf(nodes: readonly FlowNode[], createdAt: string): FlowEvent[] {
  return nodes.map((node, i) =>
    flowEvent({
      id: `evt_${String(i + 1).padStart(4, '0')}`,
      timestamp: node.ended_at ?? node.started_at ?? createdAt,
      type: EVENT_TYPE[node.kind] ?? node.kind,
      node,
    }),
  )
}

const TROUBLED: readonly FlowStatus[] = ['failed', 'timeout', 'degraded', 'fallback']

function overallOf({ diagnostics, overview }: FinishedRun, nodes: readonly FlowNode[]): FlowStatus {
  if (diagnostics === null && overview === null) return 'unknown'
  // A failed attempt of the model that a later one replaced is only a warning; the last attempt decides.
  const decisive = [...nodes.filter(({ kind }) => kind === 'artifact'), nodes.findLast(({ kind }) => kind === 'model')]
  if (decisive.some((node) => node !== undefined && isLost(node))) return 'failed'
  return nodes.some(({ status }) => TROUBLED.includes(status)) ? 'degraded' : 'success'
}

const isLost = ({ status }: FlowNode): boolean => status === 'failed' || status === 'timeout'

function startOf({ diagnostics, createdAt }: FinishedRun): string {
  const starts = (diagnostics?.provider_runs ?? []).map((run: StoredProviderRun) => run.created_at)
  return [...starts, createdAt].sort()[0] ?? createdAt
}

function elapsedOf(nodes: readonly FlowNode[]): number | null {
  const times = nodes.flatMap(({ started_at, ended_at }) => [started_at, ended_at]).filter((time) => time !== null)
  const instants = times.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time))
  return instants.length === 0 ? null : Math.max(...instants) - Math.min(...instants)
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? sanitize(value) : null)
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)

// The steps of a run as its flow shows them while it goes on: attempts at sources, the model, the saving.

import { isoMicros } from '../../lib/clock.ts'
import type { ProviderRun } from '../../market/provider-run.ts'
import { type ModelRun, storedDiagnostics } from '../diagnostics.ts'
import type { RunJob } from '../task.ts'
import { textsOf } from '../texts/book.ts'
import { providerNodes } from './nodes.ts'
import { type FlowEvent, flowEvent, flowNode } from './run-flow.ts'

/** What a run tells while it goes on, and by what it can be stopped. */
export type RunHooks = {
  onStage: (progress: number, message: string, stage: string) => Promise<void>
  /** Steps of its flow. */
  onSteps: (steps: readonly FlowEvent[]) => Promise<void>
  signal: AbortSignal
}

export type StepTeller = {
  providers: (runs: readonly ProviderRun[]) => Promise<void>
  /** Null while the model is being asked, then each of its calls. */
  model: (run: ModelRun | null) => Promise<void>
}

/** Steps of different runs of one task keep apart by their numbers. */
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

const stepId = ({ attempt }: RunJob, n: number) => `flow_${String((attempt - 1) * PER_ATTEMPT + n).padStart(4, '0')}`

function providerSteps(job: RunJob, runs: readonly ProviderRun[], nextId: () => string): FlowEvent[] {
  const nodes = providerNodes(storedDiagnostics({ ...job, stockCode: job.request.stockCode }, runs).provider_runs)
  return nodes.map((node) =>
    flowEvent({
      id: nextId(),
      timestamp: node.ended_at ?? isoMicros(Date.now()),
      type: 'provider_run',
      node,
      metadata: { data_type: node.metadata.data_type, provider: node.provider, node },
    }),
  )
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
    ended_at: run === null ? null : now,
    duration_ms: run?.duration_ms ?? null,
    message: run?.error_type ?? null,
    metadata: { call_type: run?.call_type ?? 'analysis' },
  })
  return flowEvent({ id, timestamp: now, type: run === null ? 'llm_run_started' : 'llm_run', node, metadata: { node } })
}

/** The last step of a run: its number leaves room for every other one. */
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

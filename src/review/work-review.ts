// A market review as a queued task: run, told while it goes on, saved.

import type { RunHooks } from '../analysis/run-analysis.ts'
import { flowEvent } from '../analysis/run-flow.ts'
import { providerNodes } from '../analysis/run-flow-nodes.ts'
import { STAGE_PROGRESS } from '../analysis/stages.ts'
import type { Outcome } from '../analysis/task.ts'
import { taskMessages } from '../analysis/task-messages.ts'
import type { NewAnalysis } from '../db/analyses.ts'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import type { ProviderRun } from '../market/provider-run.ts'
import { storedDiagnostics } from '../reports/diagnostics.ts'
import { lenientRegions } from './regions.ts'
import { type ReviewJob, reviewRecord } from './review-record.ts'
import { REVIEW_CODE } from './review-request.ts'
import { type ReviewWorld, runReview } from './run-review.ts'
import { reviewWords } from './words.ts'

export type ReviewTask = Omit<ReviewJob, 'now'> & { attempt: number; colorScheme: 'green_up' | 'red_up' }

type Save = (record: NewAnalysis) => Promise<unknown>

const SAVE_DELAYS_MS = [200, 1_000]
/** Steps of different runs of one task keep apart by their numbers. */
const PER_ATTEMPT = 1_000

export async function workReview(
  task: ReviewTask,
  world: ReviewWorld & { save: Save },
  hooks: RunHooks,
): Promise<Outcome> {
  const { request, colorScheme } = task
  const { language } = request
  const words = reviewWords(language)
  await hooks.onStage(STAGE_PROGRESS.preparing, `${words.title}：${words.stage.preparing}`, words.stage.preparing)
  const plan = { regions: lenientRegions(request.region ?? ''), language, colorScheme }
  const onRuns = stepTeller(task, hooks)
  const result = await runReview(plan, world, { ...hooks, onRuns })
  if (!result.ok) return { ok: false, error: result.reason }
  await hooks.onStage(STAGE_PROGRESS.saving, `${words.title}：${words.stage.saving}`, words.stage.saving)
  // Whoever was stopped must not leave a report behind that nobody waits for.
  if (hooks.signal.aborted) return { ok: false, error: taskMessages(language).notSaved }
  const record = reviewRecord(result.review, { ...task, now: world.sources.clock() })
  const saved = await savePatiently(world.save, record)
  return { ok: true, stockName: words.title, ...(saved ? {} : { unsaved: JSON.stringify(record) }) }
}

async function savePatiently(save: Save, record: NewAnalysis): Promise<boolean> {
  for (const delayMs of [...SAVE_DELAYS_MS, null]) {
    try {
      await save(record)
      return true
    } catch (error) {
      log.warn('review.save_failed', { queryId: record.queryId, ...errorFields(error) })
      if (delayMs !== null) await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
  return false
}

function stepTeller({ queryId, taskId, attempt }: ReviewTask, { onSteps }: RunHooks) {
  const identity = { traceId: queryId, queryId, taskId, stockCode: REVIEW_CODE, triggerSource: 'api' }
  const told: ProviderRun[] = []
  return async (runs: readonly ProviderRun[]) => {
    const before = told.length
    told.push(...runs)
    // All of them are numbered together: the same source asked for another region is another step.
    const nodes = providerNodes(storedDiagnostics(identity, told).provider_runs).slice(before)
    const steps = nodes.map((node, i) =>
      flowEvent({
        id: `flow_${String((attempt - 1) * PER_ATTEMPT + before + i + 1).padStart(4, '0')}`,
        timestamp: node.ended_at ?? isoMicros(Date.now()),
        type: 'provider_run',
        node,
        metadata: { data_type: node.metadata.data_type, provider: node.provider, node },
      }),
    )
    if (steps.length > 0) await onSteps(steps)
  }
}

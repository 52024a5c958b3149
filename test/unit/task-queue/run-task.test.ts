import { expect, onTestFinished, test, vi } from 'vitest'
import type { RunHooks } from '../../../src/analysis/flow/live.ts'
import { type RunDeps, runTask } from '../../../src/analysis/run/run-task.ts'
import type { Finish, Outcome, Progress, RunOrder } from '../../../src/analysis/task.ts'
import { giveWay } from '../../../src/lib/give-way.ts'
import { taskRequest } from './queue.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function rig(work: (hooks: RunHooks) => Promise<Outcome>, change: Partial<RunDeps> = {}) {
  const reports: Progress[] = []
  const finishes: Finish[] = []
  const deps: RunDeps = {
    report: async (report) => {
      reports.push(report)
      return { ok: true }
    },
    finish: async (finish) => {
      finishes.push(finish)
      return { ok: true, status: 'completed' }
    },
    saved: async () => null,
    withdraw: async () => {},
    giveWay,
    work,
    ...change,
  }
  return { reports, finishes, deps }
}

const order = (change: Partial<RunOrder> = {}): RunOrder => ({
  queueId: 'q',
  taskId: 't',
  owner: 'ann',
  token: 'k',
  attempt: 1,
  request: taskRequest(),
  timeoutMs: 60_000,
  stageTimeoutMs: 60_000,
  renewEveryMs: 60_000,
  ...change,
})

const DONE: Outcome = { ok: true, stockName: 'Moutai' }

test('every stage is reported before the next begins, and the outcome goes back under the order’s token', async () => {
  const { reports, finishes, deps } = rig(async ({ onStage }) => {
    await onStage(12, 'a', 'A')
    expect(reports.length).toBe(1)
    await onStage(58, 'b', 'B')
    return DONE
  })
  await runTask(order(), deps)
  expect(reports.map(({ progress, stage, token }) => [progress, stage, token])).toEqual([
    [12, 'A', 'k'],
    [58, 'B', 'k'],
  ])
  expect(finishes).toEqual([{ taskId: 't', token: 'k', outcome: DONE }])
})

test('a run that hangs is stopped at its deadline with the stage it was in, and its analysis is told', async () => {
  let told = false
  const { finishes, deps } = rig(async ({ onStage, signal }) => {
    signal.addEventListener('abort', () => {
      told = true
    })
    await onStage(46, 'm', 'news')
    return new Promise<Outcome>(() => {})
  })
  await runTask(order({ timeoutMs: 100 }), deps)
  expect(told).toBe(true)
  expect(finishes[0]?.outcome).toEqual({ ok: false, error: expect.stringMatching(/stage "news"/) })
})

test('a run keeps its lease by reporting while a stage lasts, and stops for good once the lease is lost', async () => {
  let signal: AbortSignal | undefined
  let answers = 0
  const { reports, finishes, deps } = rig(
    async (hooks) => {
      signal = hooks.signal
      await hooks.onStage(58, 'm', 'model')
      return new Promise<Outcome>(() => {})
    },
    {
      report: async (report) => {
        reports.push(report)
        answers += 1
        return answers < 4 ? { ok: true } : { ok: false, reason: 'lease_lost' }
      },
    },
  )
  await runTask(order({ renewEveryMs: 20 }), deps)
  expect(reports.length).toBe(4)
  expect(new Set(reports.map(({ message }) => message))).toEqual(new Set(['m']))
  expect(signal?.aborted).toBe(true)
  expect(finishes).toEqual([])
  await pause(60)
  expect(reports.length).toBe(4)
})

test('a queue that cannot be reached for a while stops nothing: steps are told later, the end is told again', async () => {
  let down = true
  const tries: number[] = []
  const { reports, finishes, deps } = rig(
    async ({ onStage, onSteps }) => {
      await onStage(12, 'a', 'A')
      const step = { id: 'flow_0001', timestamp: '', severity: 'info' as const, type: 'provider_run' }
      await onSteps([{ ...step, node_id: 'n', title: 't', message: null, metadata: {} }])
      down = false
      await onStage(58, 'b', 'B')
      return DONE
    },
    {
      report: async (report) => {
        if (down) throw new Error('unreachable')
        reports.push(report)
        return { ok: true }
      },
      finish: async (finish) => {
        tries.push(1)
        if (tries.length < 3) throw new Error('unreachable')
        finishes.push(finish)
        return { ok: true, status: 'completed' }
      },
    },
  )
  await runTask(order({ renewEveryMs: 60_000 }), deps)
  expect(reports.map(({ progress, flowEvents }) => [progress, flowEvents.length])).toEqual([[58, 1]])
  expect(finishes.length).toBe(1)
})

test('a further run of a task whose report is saved already only says so', async () => {
  const { finishes, deps } = rig(
    async () => {
      throw new Error('must not analyse')
    },
    { saved: async () => ({ stockName: 'Moutai' }) },
  )
  await runTask(order({ attempt: 2 }), deps)
  expect(finishes.map(({ outcome }) => outcome)).toEqual([DONE])
})

test('what nobody planned is thrown on to the queue, which takes the run for lost', async () => {
  const { finishes, deps } = rig(async () => {
    throw new Error('a bug')
  })
  await expect(runTask(order(), deps)).rejects.toThrow('a bug')
  expect(finishes).toEqual([])
})

test('a cancelled run stops what it does, takes back what it saved meanwhile, and says that it was cancelled', async () => {
  let told: AbortSignal | undefined
  const withdrawn: number[] = []
  const { finishes, deps } = rig(
    async ({ onStage, signal }) => {
      told = signal
      await onStage(46, 'm', 'news')
      await pause(30)
      return DONE
    },
    {
      report: async () => ({ ok: false, reason: 'cancel_requested' }),
      withdraw: async () => {
        withdrawn.push(1)
        if (withdrawn.length === 1) throw new Error('unreachable')
      },
    },
  )
  await runTask(order(), deps)
  expect(told?.aborted).toBe(true)
  expect(withdrawn.length).toBe(2)
  expect(finishes).toEqual([{ taskId: 't', token: 'k', outcome: { ok: false, cancelled: true } }])
})

test('a report whose task was cancelled in the last moment is taken back before the task ends as cancelled', async () => {
  const story: string[] = []
  const { deps } = rig(async () => DONE, {
    withdraw: async () => {
      story.push('withdraw')
    },
    finish: async ({ outcome }) => {
      story.push(outcome.ok ? 'result' : 'cancelled' in outcome ? 'cancelled' : 'failed')
      return { ok: true, status: outcome.ok ? 'cancel_requested' : 'cancelled' }
    },
  })
  await runTask(order(), deps)
  expect(story).toEqual(['result', 'withdraw', 'cancelled'])
})

test('a stage without progress ends the run and is named, though the run as a whole has time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { finishes, deps } = rig(async ({ onStage }) => {
    await onStage(32, 'a', 'trend')
    await pause(600)
    await onStage(46, 'b', 'news')
    return new Promise<Outcome>(() => {})
  })
  const running = runTask(order({ timeoutMs: 60_000, stageTimeoutMs: 1_000 }), deps)
  await vi.advanceTimersByTimeAsync(1_599)
  expect(finishes).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  await running
  expect(finishes[0]?.outcome).toEqual({ ok: false, error: expect.stringMatching(/stage "news" got no further/) })
})

test('between two reports of a run others have their turn', async () => {
  let turns = 0
  const others = setInterval(() => {
    turns += 1
  }, 0)
  const { deps } = rig(async ({ onStage }) => {
    for (let stage = 1; stage <= 50; stage++) await onStage(stage, 'm', `stage ${stage}`)
    return DONE
  })
  await runTask(order(), deps)
  clearInterval(others)
  expect(turns).toBeGreaterThanOrEqual(25)
})

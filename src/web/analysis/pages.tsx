import { useCallback, useEffect, useState } from 'preact/hooks'
import { messageOf, taskStatus } from '../api.ts'
import { Link, usePageTitle } from '../router.tsx'
import { Notice } from '../ui.tsx'
import type { TaskStatus } from '../wire.ts'
import { ReportView } from './report.tsx'
import { ReviewText } from './review-text.tsx'
import { SubmitForm } from './submit-form.tsx'
import { TaskList, TaskProgress } from './task-list.tsx'
import { isFinished, useTasks } from './tasks.ts'

export function AnalysisPage() {
  usePageTitle('Analysis')
  const live = useTasks()
  const [followed, setFollowed] = useState<ReadonlySet<string>>(new Set())
  const follow = (taskIds: string[]) => setFollowed((before) => new Set([...before, ...taskIds]))
  return (
    <main class="page">
      <h1>Analysis</h1>
      <SubmitForm onSubmitted={follow} />
      <TaskList live={live} followed={followed} />
    </main>
  )
}

export function ReportPage({ taskId }: { taskId: string }) {
  usePageTitle('Report')
  const [status, setStatus] = useState<TaskStatus | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const load = useCallback(() => {
    setProblem(null)
    taskStatus(taskId).then(setStatus, (error: unknown) => setProblem(messageOf(error)))
  }, [taskId])
  useEffect(load, [load])
  return (
    <main class="page report-page">
      <p class="crumb">
        <Link to="/analysis">← All tasks</Link>
      </p>
      {problem !== null && (
        <Notice kind="error" action={{ label: 'Try again', run: load }}>
          {problem}
        </Notice>
      )}
      {status === null && problem === null && <p class="opening">Opening…</p>}
      {status !== null && <Outcome status={status} onFinished={load} />}
    </main>
  )
}

function Outcome({ status, onFinished }: { status: TaskStatus; onFinished: () => void }) {
  if (status.result) return <ReportView report={status.result.report} taskId={status.task_id} />
  if (status.market_review_report !== null) {
    return (
      <>
        <h1>Market review</h1>
        <ReviewText markdown={status.market_review_report} />
      </>
    )
  }
  if (!isFinished(status.status)) return <Unfinished status={status} onFinished={onFinished} />
  return (
    <>
      <h1>{status.stock_name ?? 'No report'}</h1>
      <Notice kind="error">{status.error ?? `This task ended without a report (${status.status}).`}</Notice>
    </>
  )
}

function Unfinished({ status, onFinished }: { status: TaskStatus; onFinished: () => void }) {
  const { tasks } = useTasks()
  const task = tasks.get(status.task_id)
  const finished = task !== undefined && isFinished(task.status)
  useEffect(() => {
    if (finished) onFinished()
  }, [finished, onFinished])
  return (
    <>
      <h1>{status.stock_name ?? task?.stock_code ?? 'Analysis'}</h1>
      <TaskProgress task={task ?? { ...status, message: null, stock_code: status.stock_name ?? 'the task' }} />
    </>
  )
}

import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError, messageOf, taskStatus } from '../api.ts'
import { lazy } from '../lazy.tsx'
import { Link, usePageTitle } from '../router.tsx'
import { language, say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { Report, TaskStatus } from '../wire.ts'
import { getRecord } from './record-api.ts'
import { SubNav } from './sub-nav.tsx'
import { SubmitForm } from './submit-form.tsx'
import { TASK_STATES, TaskList, TaskProgress } from './task-list.tsx'
import { isFinished, useTasks } from './tasks.ts'

const ReportView = lazy<{ report: Report; taskId: string }>(async () => (await import('./report.tsx')).ReportView)
type ReviewProps = { markdown: string; details: Report['details']; language: string }
const ReviewView = lazy<ReviewProps>(async () => (await import('./review.tsx')).ReviewView)

export function AnalysisPage() {
  usePageTitle(say('Analysis'))
  const live = useTasks()
  const [followed, setFollowed] = useState<ReadonlySet<string>>(new Set())
  const follow = (taskIds: string[]) => setFollowed((before) => new Set([...before, ...taskIds]))
  return (
    <main class="page">
      <h1>{say('Analysis')}</h1>
      <SubNav current="tasks" />
      <SubmitForm onSubmitted={follow} />
      <TaskList live={live} followed={followed} />
    </main>
  )
}

export function ReportPage({ taskId }: { taskId: string }) {
  usePageTitle(say('Report'))
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
        <Link to="/analysis">← {say('All tasks')}</Link>
      </p>
      {problem !== null && (
        <Notice kind="error" action={{ label: say('Try again'), run: load }}>
          {problem}
        </Notice>
      )}
      {status === null && problem === null && <p class="opening">{say('Opening…')}</p>}
      {status !== null && <Outcome status={status} onFinished={load} />}
    </main>
  )
}

function Outcome({ status, onFinished }: { status: TaskStatus; onFinished: () => void }) {
  if (status.result) return <ReportView report={status.result.report} taskId={status.task_id} />
  if (status.market_review_report !== null) {
    return <StoredReview id={status.task_id} markdown={status.market_review_report} />
  }
  if (!isFinished(status.status)) return <Unfinished status={status} onFinished={onFinished} />
  return (
    <>
      <h1>{status.stock_name ?? say('No report')}</h1>
      <Notice kind="error">
        {status.error ??
          say('This task ended without a report ({status}).', { status: say(TASK_STATES[status.status]) })}
      </Notice>
    </>
  )
}

/** The text is part of the task; the data of the cards is stored with its record. */
function StoredReview({ id, markdown }: { id: string; markdown: string }) {
  const [record, setRecord] = useState<Report | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    getRecord(id).then(setRecord, (error: unknown) => {
      // A review with a deleted record still has its text.
      if (!(error instanceof ApiError && error.status === 404)) setProblem(messageOf(error))
    })
  }, [id])
  return (
    <>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <ReviewView
        markdown={markdown}
        details={record?.details ?? null}
        language={record?.meta.report_language ?? language}
      />
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
      <h1>{status.stock_name ?? task?.stock_code ?? say('Analysis')}</h1>
      <TaskProgress task={task ?? { ...status, message: null, stock_code: status.stock_name ?? say('the task') }} />
    </>
  )
}

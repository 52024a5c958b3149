import { useCallback, useEffect, useState } from 'preact/hooks'
import { messageOf, taskStatus } from '../api.ts'
import { Markdown } from '../markdown.tsx'
import { Link, usePageTitle } from '../router.tsx'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { TaskStatus } from '../wire.ts'
import { ReportView } from './report.tsx'
import { SubmitForm } from './submit-form.tsx'
import { TASK_STATES, TaskList, TaskProgress } from './task-list.tsx'
import { isFinished, useTasks } from './tasks.ts'

export function AnalysisPage() {
  usePageTitle(say('Analysis'))
  const live = useTasks()
  const [followed, setFollowed] = useState<ReadonlySet<string>>(new Set())
  const follow = (taskIds: string[]) => setFollowed((before) => new Set([...before, ...taskIds]))
  return (
    <main class="page">
      <h1>{say('Analysis')}</h1>
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
    return (
      <>
        <h1>{say('Market review')}</h1>
        <Markdown text={status.market_review_report} />
      </>
    )
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

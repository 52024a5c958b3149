import { useState } from 'preact/hooks'
import { analyze, cancelTask, messageOf } from '../api.ts'
import { progressText } from '../format.ts'
import { Link } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice, RelativeTime } from '../ui.tsx'
import type { TaskInfo, TaskState } from '../wire.ts'
import { isFinished, type LiveTasks, newestFirst } from './tasks.ts'

export const TASK_STATES = {
  pending: 'Queued',
  processing: 'Running',
  cancel_requested: 'Cancelling',
  cancelled: 'Cancelled',
  completed: 'Done',
  failed: 'Failed',
} as const satisfies Record<TaskState, Text>

export function TaskList({ live, followed }: { live: LiveTasks; followed: ReadonlySet<string> }) {
  const tasks = newestFirst(live.tasks)
  return (
    <section aria-label={say('Tasks')}>
      {live.problem !== null && <Notice kind="error">{live.problem}</Notice>}
      {!live.live && <Notice kind="warning">{say('Live updates are interrupted. Reconnecting…')}</Notice>}
      {live.loaded && tasks.length === 0 && <p class="empty">{say('No tasks yet. Submit a code above.')}</p>}
      <ul class="rows">
        {tasks.map((task) => (
          <TaskRow key={task.task_id} task={task} followed={followed.has(task.task_id)} />
        ))}
      </ul>
    </section>
  )
}

function TaskRow({ task, followed }: { task: TaskInfo; followed: boolean }) {
  const [problem, setProblem] = useState<string | null>(null)
  return (
    <li class={followed ? 'task followed' : 'task'} data-task={task.task_id}>
      <div class="task-head">
        <TaskName task={task} />
        <span class={`badge ${task.status}`}>{say(TASK_STATES[task.status])}</span>
        <span class="row-time">
          <RelativeTime time={task.created_at} />
        </span>
        {task.status === 'completed' && (
          <Link to={`/analysis/${encodeURIComponent(task.task_id)}`} class="button open-report">
            {say('Open report')}
          </Link>
        )}
        {task.status === 'failed' && task.region === null && <RetryButton task={task} onProblem={setProblem} />}
        {(task.status === 'pending' || task.status === 'processing') && <Cancel task={task} onProblem={setProblem} />}
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <TaskProgress task={task} />
    </li>
  )
}

/** Analyzes the same stock again; the new task arrives in the stream. */
function RetryButton({ task, onProblem }: { task: TaskInfo; onProblem: (problem: string | null) => void }) {
  const again = async () => {
    onProblem(null)
    try {
      const { stock_code, report_type, report_language: language } = task
      const request = { stock_code, report_type, ...(language !== null && { report_language: language }) }
      await analyze({ ...request, selection_source: 'manual', async_mode: true })
    } catch (error) {
      onProblem(messageOf(error))
    }
  }
  return (
    <button type="button" class="cancel-task" onClick={() => void again()}>
      {say('Try again')}
    </button>
  )
}

/** The result arrives in the stream. */
function Cancel({ task, onProblem }: { task: TaskInfo; onProblem: (problem: string | null) => void }) {
  const [busy, setBusy] = useState(false)
  const cancel = async () => {
    setBusy(true)
    onProblem(null)
    try {
      await cancelTask(task.task_id)
    } catch (error) {
      onProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <button
      type="button"
      class="cancel-task"
      disabled={busy}
      aria-label={say('Cancel {name}', { name: task.stock_name ?? task.stock_code })}
      onClick={() => void cancel()}
    >
      {say('Cancel')}
    </button>
  )
}

function TaskName({ task: { stock_code: code, stock_name, region } }: { task: TaskInfo }) {
  // A review is about regions, not about a stock.
  const stock_code = region === null ? code : region.toUpperCase().replaceAll(',', ' · ')
  const named = stock_name !== null && stock_name !== '' && stock_name !== stock_code
  return (
    <span class="row-title">
      {named && <>{stock_name} </>}
      <span class={named ? 'code' : 'code alone'}>{stock_code}</span>
    </span>
  )
}

/** The progress of a task, or how it ended if it did not succeed. */
export function TaskProgress({
  task,
}: {
  task: Pick<TaskInfo, 'status' | 'progress' | 'message' | 'error' | 'stock_code'>
}) {
  if (task.status === 'failed')
    return <p class="task-error">{progressText(task.error ?? task.message ?? say('The task failed.'))}</p>
  if (isFinished(task.status)) return null
  return (
    <>
      <progress max={100} value={task.progress} aria-label={say('Progress of {name}', { name: task.stock_code })} />
      <p class="task-message">
        <span class="percent">{task.progress} %</span> {progressText(task.message ?? '')}
      </p>
    </>
  )
}

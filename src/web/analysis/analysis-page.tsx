import { useState } from 'preact/hooks'
import { usePageTitle } from '../router.tsx'
import { SubmitForm } from './submit-form.tsx'
import { TaskList } from './task-list.tsx'
import { useTasks } from './tasks.ts'

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

import type { TaskPriority, TaskRequest } from '../analysis/task.ts'
import type { ReportLanguage } from '../reports/report.ts'
import type { Region } from './regions.ts'
import { reviewWords } from './words.ts'

/** What the history files reviews under. */
export const REVIEW_CODE = 'MARKET'
/** What the queue calls them. */
const TASK_CODE = 'market_review'

export type ReviewWish = {
  regions: readonly Region[]
  /** What was asked for; null leaves it to the configuration. */
  reportLanguage: ReportLanguage | null
  configuredLanguage: ReportLanguage
  notify: boolean
  channels: string[] | null
  priority: TaskPriority
}

export function reviewRequest(wish: ReviewWish): TaskRequest {
  const language = wish.reportLanguage ?? wish.configuredLanguage
  return {
    kind: 'market_review',
    key: null,
    stockCode: TASK_CODE,
    stockName: reviewWords(language).title,
    reportType: 'detailed',
    analysisPhase: 'auto',
    language,
    reportLanguage: wish.reportLanguage,
    skills: null,
    originalQuery: null,
    selectionSource: null,
    forceRefresh: false,
    notify: wish.notify,
    region: wish.regions.join(','),
    priority: wish.priority,
    batch: null,
    channels: wish.channels,
  }
}

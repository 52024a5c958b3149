// What is asked for: one analysis of one listing, or one review of some markets.

import { z } from 'zod'
import { ReportLanguage } from './schemas.ts'
import { textsOf } from './texts/book.ts'

/** The order in which tasks are handed out, the first first. */
export const TaskPriority = z.enum(['interactive', 'batch', 'scheduled'])
export type TaskPriority = z.infer<typeof TaskPriority>

/** What was asked for; it does not change after the submission. */
export const TaskRequest = z.object({
  kind: z.enum(['analysis', 'market_review']),
  /** What makes two open tasks of one owner the same; null when the kind allows duplicates. */
  key: z.string().nullable(),
  stockCode: z.string(),
  stockName: z.string().nullable(),
  reportType: z.enum(['simple', 'detailed', 'full', 'brief']),
  analysisPhase: z.enum(['auto', 'premarket', 'intraday', 'postmarket']),
  /** The language of everything that is said about the task. */
  language: ReportLanguage,
  /** The language that was asked for; null leaves it to the configuration. */
  reportLanguage: ReportLanguage.nullable(),
  skills: z.array(z.string()).nullable(),
  originalQuery: z.string().nullable(),
  /** How what was typed was read, in words, where it is not what the listing is called and somebody confirmed it. */
  reading: z.string().nullable().default(null),
  selectionSource: z.string().nullable(),
  forceRefresh: z.boolean(),
  notify: z.boolean(),
  region: z.string().nullable(),
  /** Who waits for it: a person, a list of a person's, or nobody. */
  priority: TaskPriority.default('interactive'),
  /** What was asked for together carries one id. */
  batch: z.string().nullable().default(null),
  /** The channels that its report goes to; null is every channel of the owner. */
  channels: z.array(z.string()).nullable().default(null),
})
export type TaskRequest = z.infer<typeof TaskRequest>

/** What the history files reviews under. */
export const REVIEW_CODE = 'MARKET'
/** What the queue calls them. */
const TASK_CODE = 'market_review'

type Review = Pick<TaskRequest, 'reportLanguage' | 'notify' | 'channels' | 'priority'> & {
  regions: readonly string[]
  configuredLanguage: ReportLanguage
}

export function reviewRequest({
  regions,
  configuredLanguage,
  reportLanguage,
  notify,
  channels,
  priority,
}: Review): TaskRequest {
  const language = reportLanguage ?? configuredLanguage
  return {
    kind: 'market_review',
    key: null,
    stockCode: TASK_CODE,
    stockName: textsOf(language).review.title,
    reportType: 'detailed',
    analysisPhase: 'auto',
    language,
    reportLanguage,
    skills: null,
    originalQuery: null,
    reading: null,
    selectionSource: null,
    forceRefresh: false,
    notify,
    region: regions.join(','),
    priority,
    batch: null,
    channels,
  }
}

// The variables of the task queue that go beyond how many tasks run and for how long.

import { z } from 'zod'

export const TASK_SCHEMAS = {
  MAX_RUNNING_TASKS_PER_OWNER: z.coerce.number().int().min(1).max(100).optional(),
  STAGE_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(3600).default(180),
  MAX_QUEUE_AGE_SECONDS: z.coerce.number().int().min(1).max(86_400).default(600),
  MARKET_REVIEW_REGION: z.string().default('cn'),
  COLOR_SCHEME: z.enum(['red_up', 'green_up']).default('green_up'),
} as const

export const TASK_ALLOWED: { [Name in keyof typeof TASK_SCHEMAS]: string } = {
  MAX_RUNNING_TASKS_PER_OWNER: 'a whole number from 1 to 100',
  STAGE_TIMEOUT_SECONDS: 'a whole number from 1 to 3600',
  MAX_QUEUE_AGE_SECONDS: 'a whole number from 1 to 86400',
  MARKET_REVIEW_REGION: 'a comma-separated list of cn, hk, us, jp, kr, tw, or "both"',
  COLOR_SCHEME: '"red_up" or "green_up"',
}

type Parsed = { [Name in keyof typeof TASK_SCHEMAS]: z.output<(typeof TASK_SCHEMAS)[Name]> }

export type TaskConfig = {
  /** Of one owner at a time. */
  maxRunningPerOwner: number
  /** How long a stage may go without getting further. */
  stageTimeoutMs: number
  /** Above it, the oldest waiting task makes the service call itself degraded. */
  maxQueueAgeMs: number
  /** The regions of a review that names none; read leniently. */
  reviewRegion: string
  colorScheme: 'red_up' | 'green_up'
}

export function taskConfig(values: Parsed, maxRunningTasks: number): TaskConfig {
  return {
    maxRunningPerOwner: Math.min(maxRunningTasks, values.MAX_RUNNING_TASKS_PER_OWNER ?? maxRunningTasks),
    stageTimeoutMs: values.STAGE_TIMEOUT_SECONDS * 1000,
    maxQueueAgeMs: values.MAX_QUEUE_AGE_SECONDS * 1000,
    reviewRegion: values.MARKET_REVIEW_REGION,
    colorScheme: values.COLOR_SCHEME,
  }
}

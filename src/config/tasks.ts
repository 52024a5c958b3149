// The variables of the task queue, and of what it hands out.

import { z } from 'zod'
import { choice, optionalWholeNumber, type ValuesOf, variable, wholeNumber } from '../lib/variables.ts'

export const TASK_VARIABLES = {
  MAX_RUNNING_TASKS: wholeNumber(1, 100, 3),
  MAX_ATTEMPTS: wholeNumber(1, 10, 3),
  TASK_TIMEOUT_SECONDS: wholeNumber(5, 3600, 300),
  MAX_RUNNING_TASKS_PER_OWNER: optionalWholeNumber(1, 100),
  STAGE_TIMEOUT_SECONDS: wholeNumber(1, 3600, 180),
  MAX_QUEUE_AGE_SECONDS: wholeNumber(1, 86_400, 600),
  MARKET_REVIEW_REGION: variable(
    z.string().default('cn'),
    'a comma-separated list of cn, hk, us, jp, kr, tw, or "both"',
  ),
  COLOR_SCHEME: choice(['red_up', 'green_up'], 'green_up'),
} as const

type Values = ValuesOf<typeof TASK_VARIABLES>

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

export function taskConfig(values: Values): TaskConfig {
  return {
    maxRunningPerOwner: Math.min(
      values.MAX_RUNNING_TASKS,
      values.MAX_RUNNING_TASKS_PER_OWNER ?? values.MAX_RUNNING_TASKS,
    ),
    stageTimeoutMs: values.STAGE_TIMEOUT_SECONDS * 1000,
    maxQueueAgeMs: values.MAX_QUEUE_AGE_SECONDS * 1000,
    reviewRegion: values.MARKET_REVIEW_REGION,
    colorScheme: values.COLOR_SCHEME,
  }
}

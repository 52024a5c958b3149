import { z } from '@hono/zod-openapi'
import { laxBool } from '../../http/validation.ts'
import { SchedulePlan } from '../../schedule/plan.ts'

export const MAX_SCHEDULES = 50

export const ScheduleInput = SchedulePlan.extend({ enabled: laxBool().default(true) }).openapi('ScheduleInput')
export type ScheduleInput = z.infer<typeof ScheduleInput>

const ListedInput = ScheduleInput.extend({
  schedule_id: z.string().max(64).optional().describe('Keeps this schedule and its runs; a new one without it'),
}).openapi('ScheduleListItem')

export const ScheduleListInput = z
  .object({ schedules: z.array(ListedInput).max(MAX_SCHEDULES) })
  .openapi('ScheduleListInput')

export const Schedule = SchedulePlan.extend({
  schedule_id: z.string(),
  enabled: z.boolean(),
  next_run_at: z.string().nullable().describe('The first slot that is not settled; null when none comes'),
  created_at: z.string(),
  updated_at: z.string(),
}).openapi('Schedule')
export type Schedule = z.infer<typeof Schedule>

export const ScheduleList = z.object({ schedules: z.array(Schedule) }).openapi('ScheduleList')

export const ScheduleRunItem = z
  .object({
    schedule_id: z.string(),
    name: z.string(),
    slot: z.string().describe('The time by the clock of its zone, or the market and day whose close it follows'),
    due_at: z.string(),
    claimed_at: z.string(),
    status: z.enum(['claimed', 'waiting', 'started', 'skipped', 'missed', 'failed']),
    detail: z.string().nullable(),
    task_ids: z.array(z.string()),
    left_out: z.array(z.string()).describe('Regions and stocks whose market was closed that day'),
  })
  .openapi('ScheduleRun')

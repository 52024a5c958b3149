import { Conversation } from '../durable-objects/conversation/conversation.ts'
import { Limiter } from '../durable-objects/limiter/limiter.ts'
import { Owner } from '../durable-objects/owner/owner.ts'
import { TaskQueue } from '../durable-objects/task-queue/task-queue.ts'
import { AnalysisRunner } from './analysis/run.ts'
import { answer } from './app.ts'
import { onCron } from './schedule/cron.ts'

export { AnalysisRunner, Conversation, Limiter, Owner, TaskQueue }

export default {
  fetch: answer,
  // The actual time of the call, not the scheduled one: a late call must be treated as late.
  scheduled: (_controller, env) => onCron(env, Date.now()),
} satisfies ExportedHandler<Env>

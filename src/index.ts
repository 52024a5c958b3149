import { Conversation } from '../durable-objects/conversation/conversation.ts'
import { Limiter } from '../durable-objects/limiter/limiter.ts'
import { TaskQueue } from '../durable-objects/task-queue/task-queue.ts'
import { AnalysisRunner } from './analysis/runner.ts'
import { app } from './app.ts'

export { AnalysisRunner, Conversation, Limiter, TaskQueue }

export default { fetch: app.fetch } satisfies ExportedHandler<Env>

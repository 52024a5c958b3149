// Names to stubs and keys: how an object or a stored file is addressed is written here and nowhere else.

import type { Conversation } from '../durable-objects/conversation/conversation.ts'
import type { TaskQueue } from '../durable-objects/task-queue/task-queue.ts'

/** A conversation id is unique per owner: the object is addressed by both, so no owner can meet another's. */
export function conversation(env: Env, owner: string, id: string): DurableObjectStub<Conversation> {
  return env.CONVERSATION.get(env.CONVERSATION.idFromName(JSON.stringify([owner, id])))
}

/** The one queue of the service. */
export function taskQueue(env: Env): DurableObjectStub<TaskQueue> {
  return env.TASK_QUEUE.get(env.TASK_QUEUE.idFromName('singleton'))
}

/** Where the large files of a conversation's workspace lie in R2. */
export function workspacePrefix(owner: string, id: string): string {
  return `conversations/${encodeURIComponent(owner)}/${id}/files/`
}

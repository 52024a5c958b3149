// Names to stubs and keys: how an object or a stored file is addressed is written here and nowhere else.

import { proxyDurable } from 'itty-durable'
import type { Conversation } from '../durable-objects/conversation/conversation.ts'
import type { Limiter } from '../durable-objects/limiter/limiter.ts'
import type { Owner } from '../durable-objects/owner/owner.ts'
import type { TaskQueue } from '../durable-objects/task-queue/task-queue.ts'

/** A conversation id is unique per owner: the object is addressed by both, so no owner can meet another's. */
export function conversation(env: Env, owner: string, id: string): DurableObjectStub<Conversation> {
  return env.CONVERSATION.get(conversationObject(env, owner, id))
}

function conversationObject(env: Env, owner: string, id: string): DurableObjectId {
  return env.CONVERSATION.idFromName(JSON.stringify([owner, id]))
}

/** How the keeper of a local state knows the object of a conversation. */
export function conversationPlace(env: Env, owner: string, id: string): string {
  return `Conversation/${conversationObject(env, owner, id)}`
}

/** The object of no conversation: it answers in the place of every id that was never used. */
export function noConversation(env: Env): DurableObjectStub<Conversation> {
  return env.CONVERSATION.get(env.CONVERSATION.idFromName('nobody'))
}

/** The books of one owner: what there is of everything, and where the sockets of each key are. */
export function owner(env: Env, name: string): DurableObjectStub<Owner> {
  return env.OWNER.get(env.OWNER.idFromName(name))
}

/** A conversation as its owner's object knows it, which was told the id by the conversation itself. */
export function conversationOf(env: Env, objectId: string): DurableObjectStub<Conversation> {
  return env.CONVERSATION.get(env.CONVERSATION.idFromString(objectId))
}

/** The id under which the owner's object is told of a conversation. */
export function conversationId(env: Env, owner: string, id: string): string {
  return conversationObject(env, owner, id).toString()
}

/** The one queue of the service. */
export function taskQueue(env: Env): DurableObjectStub<TaskQueue> {
  return env.TASK_QUEUE.get(env.TASK_QUEUE.idFromName('singleton'))
}

/** What can be asked of a limiter. Every other property of the stub is a call as well, `then` included: never await it. */
export type LimiterStub = { take(what: Take): Promise<ReturnType<Limiter['take']>> }
export type Take = Parameters<Limiter['take']>[0]

/** The rate limits of one key or address, by its name. */
export function limiter(env: Env, who: string): LimiterStub {
  return proxyDurable(env.LIMITER, { parse: true }).get(who) as LimiterStub
}

/** Where programs run in processes of their own. Only `npm start` has one: a deployed Worker has the platform's limits instead. */
export function programHost(env: Env): Fetcher | null {
  return 'PROGRAMS' in env && isFetcher(env.PROGRAMS) ? env.PROGRAMS : null
}

function isFetcher(binding: unknown): binding is Fetcher {
  return typeof binding === 'object' && binding !== null && 'fetch' in binding
}

/** Where the large files of a conversation's workspace lie in R2. An id that is used again gets another place. */
export function workspacePrefix(of: { owner: string; id: string; incarnation: string }): string {
  return `${conversationPrefix(of.owner, of.id)}${of.incarnation}/files/`
}

/** Where those of every conversation lie that ever had this id. */
export function conversationPrefix(owner: string, id: string): string {
  return `conversations/${encodeURIComponent(owner)}/${id}/`
}

/** Where what an owner said about a conversation lies in R2. */
export function feedbackKey(owner: string, id: string): string {
  return `feedback/${encodeURIComponent(owner)}/${id}.json`
}

/** On what a socket's being there rests: the key behind it, null in local mode, and when that ends, null for never. */
export type SocketCredential = { key: string | null; until: number | null }

/** The credential as part of the address under which an object is asked for a socket. */
export function credentialQuery({ key, until }: SocketCredential): Record<string, string> {
  return { ...(key === null ? {} : { key }), ...(until === null ? {} : { until: String(until) }) }
}

export function credentialOf(query: URLSearchParams): SocketCredential {
  const until = query.get('until')
  return { key: query.get('key'), until: until === null ? null : Number(until) }
}

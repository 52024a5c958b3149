// Names of objects and storage keys: the address of each object and each stored file is defined here and nowhere else.

import { proxyDurable } from 'itty-durable'
import type { Limiter } from '../durable-objects/limiter/limiter.ts'
import { sha256Hex } from './lib/crypto.ts'

/** The stub of an object. */
type Stub<Binding extends 'CONVERSATION' | 'OWNER' | 'TASK_QUEUE'> = ReturnType<Env[Binding]['get']>

/** A conversation id is unique per owner: the object is addressed by both, so no owner can reach another's. */
export function conversation(env: Env, owner: string, id: string): Stub<'CONVERSATION'> {
  return env.CONVERSATION.get(conversationObject(env, owner, id))
}

function conversationObject(env: Env, owner: string, id: string): DurableObjectId {
  return env.CONVERSATION.idFromName(JSON.stringify([owner, id]))
}

/** The conversation id of a talk about reports. Clients cannot give such an id to a conversation. */
export async function talkId(owner: string, session: string): Promise<string> {
  return `talk-${(await sha256Hex(JSON.stringify([owner, session]))).slice(0, 48)}`
}

/** The name under which the state keeper of a local service knows a conversation's object. */
export function conversationPlace(env: Env, owner: string, id: string): string {
  return `Conversation/${conversationObject(env, owner, id)}`
}

/** An object without a conversation: it answers for every unused id. */
export function noConversation(env: Env): Stub<'CONVERSATION'> {
  return env.CONVERSATION.get(env.CONVERSATION.idFromName('nobody'))
}

/** The owner's object: quotas, and which objects hold sockets of each key. */
export function owner(env: Env, name: string): Stub<'OWNER'> {
  return env.OWNER.get(env.OWNER.idFromName(name))
}

/** A conversation as its owner's object calls it, by the id that the conversation itself reported. */
export function conversationOf(env: Env, objectId: string): Stub<'CONVERSATION'> {
  return env.CONVERSATION.get(env.CONVERSATION.idFromString(objectId))
}

/** Like `conversationOf`, for an untrusted id: null when it is not the id of one of our objects. */
export function conversationShown(env: Env, objectId: string): Stub<'CONVERSATION'> | null {
  try {
    return conversationOf(env, objectId)
  } catch {
    // The runtime signs its ids, so it rejects others.
    return null
  }
}

/** The id that the conversation reports to the owner's object. */
export function conversationId(env: Env, owner: string, id: string): string {
  return conversationObject(env, owner, id).toString()
}

/** The one queue of the service. */
export function taskQueue(env: Env): Stub<'TASK_QUEUE'> {
  return env.TASK_QUEUE.get(env.TASK_QUEUE.idFromName('singleton'))
}

/** The calls of a limiter. Every other property of the stub is a call as well, `then` included: never await the stub. */
export type LimiterStub = { take(what: Take): Promise<TakeResult> }
export type Take = Parameters<Limiter['take']>[0]
export type TakeResult = ReturnType<Limiter['take']>

/** The rate limits of one key or address, by its name. */
export function limiter(env: Env, who: string): LimiterStub {
  return proxyDurable(env.LIMITER, { parse: true }).get(who) as LimiterStub
}

/**
 * The program host, which runs programs in their own processes. Only `npm start` has one: a deployed Worker has the
 * platform's limits instead.
 */
export function programHost(env: Env): Fetcher | null {
  return 'PROGRAMS' in env && isFetcher(env.PROGRAMS) ? env.PROGRAMS : null
}

function isFetcher(binding: unknown): binding is Fetcher {
  return typeof binding === 'object' && binding !== null && 'fetch' in binding
}

/** The R2 prefix of the large files of a conversation's workspace. An id that is used again gets another prefix. */
export function workspacePrefix(of: { owner: string; id: string; incarnation: string }): string {
  return `${conversationPrefix(of.owner, of.id)}${of.incarnation}/files/`
}

/** The R2 prefix of all conversations that ever had this id. */
export function conversationPrefix(owner: string, id: string): string {
  return `${conversationsPrefix(owner)}${id}/`
}

/** The R2 prefix of all conversations of an owner. */
export function conversationsPrefix(owner: string): string {
  return `conversations/${encodeURIComponent(owner)}/`
}

/** The ids of an owner's conversations that have files, taken from the keys of the files. */
export async function conversationsWithFiles({ FILES }: Env, owner: string): Promise<string[]> {
  const prefix = conversationsPrefix(owner)
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await FILES.list({ prefix, delimiter: '/', ...(cursor === undefined ? {} : { cursor }) })
    ids.push(...page.delimitedPrefixes.map((one) => one.slice(prefix.length, -1)))
    if (!page.truncated) return ids
    cursor = page.cursor
  }
}

/** R2 lists and deletes this many keys in one call. */
const DELETE_BATCH = 1000

/** Deletes every file whose key begins with the prefix; returns how many. */
export async function deleteFiles({ FILES }: Env, prefix: string): Promise<number> {
  for (let deleted = 0; ; ) {
    const { objects, truncated } = await FILES.list({ prefix, limit: DELETE_BATCH })
    if (objects.length > 0) await FILES.delete(objects.map(({ key }) => key))
    deleted += objects.length
    if (!truncated) return deleted
  }
}

/** The R2 key of feedback about a conversation. */
export function feedbackKey(owner: string, id: string): string {
  return `${feedbackPrefix(owner)}${id}.json`
}

/** The R2 prefix of all feedback of an owner. */
export function feedbackPrefix(owner: string): string {
  return `feedback/${encodeURIComponent(owner)}/`
}

/** The R2 prefix of an owner's export. */
export function exportPrefix(owner: string): string {
  return `exports/${encodeURIComponent(owner)}/`
}

/** The R2 prefix of one export. */
export function exportPiecesPrefix(owner: string, id: string): string {
  return `${exportPrefix(owner)}${id}/`
}

/** The R2 key of one piece of an export. */
export function exportPieceKey(owner: string, id: string, piece: number): string {
  return `${exportPiecesPrefix(owner, id)}${piece}`
}

/** The R2 prefix of the files that an owner's imports are read from. */
export function importPrefix(owner: string): string {
  return `imports/${encodeURIComponent(owner)}/`
}

/** The R2 prefix of the files that one import is read from. */
export function importPartsPrefix(owner: string, id: string): string {
  return `${importPrefix(owner)}${id}/`
}

/** The credential behind a socket: the key (null in local mode), and its expiry in epoch ms (null for never). */
export type SocketCredential = { key: string | null; until: number | null }

/** The credential as query parameters of the request that opens a socket at an object. */
export function credentialQuery({ key, until }: SocketCredential): Record<string, string> {
  return { ...(key === null ? {} : { key }), ...(until === null ? {} : { until: String(until) }) }
}

export function credentialOf(query: URLSearchParams): SocketCredential {
  const until = query.get('until')
  return { key: query.get('key'), until: until === null ? null : Number(until) }
}

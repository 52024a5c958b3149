// The calls of the security dialog. Their paths exist with and without a conversation; the setting always belongs to
// the owner.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { DEFAULT_RISK_SEVERITY, RISK } from '../../agent/security/bench.ts'
import { builtinPolicy } from '../../agent/security/policy.ts'
import { judgedAction } from '../../agent/trajectory.ts'
import { conversation } from '../../bindings.ts'
import { findSecurityPreference, savePolicy, saveRiskSeverity } from '../../db/agent-config.ts'
import { recentConversations } from '../../db/conversations.ts'
import { type AppEnv, actorOf } from '../../http/app-env.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { laxInt } from '../../lib/lax.ts'
import { foundOr404, ownConversation } from './access.ts'
import { jsonArray, streamOf } from './event-walk.ts'
import { ConversationPath } from './schemas.ts'

// The actions with a risk rating from all of an owner's conversations: the newest ones, ordered by time. Conversations
// are read in the order of their last activity, until no other one can have a newer action.

const MAX_TRACE = 1_000
const MAX_TRACE_CONVERSATIONS = 50
const MAX_TRACE_LENGTH = 8 * 1024 * 1024
const PAGE = 100

const Event = z.looseObject({ id: z.int(), timestamp: z.string() })
const Page = z.object({ events: z.array(Event), has_more: z.boolean() })

type Judged = { conversation: string; id: number; timestamp: string; text: string }

/** The text of the JSON array. Every action contains its conversation, because its id is unique only there. */
async function ownerTrace(env: Env, owner: string): Promise<string> {
  let newest: Judged[] = []
  for (const { id, lastAt } of await recentConversations(env.DB, owner, MAX_TRACE_CONVERSATIONS)) {
    const oldest = newest.at(-1)
    if (newest.length === MAX_TRACE && oldest !== undefined && lastAt <= oldest.timestamp) break
    newest = bounded([...newest, ...(await newestJudged(env, owner, id))])
  }
  return `[${newest
    .reverse()
    .map(({ text }) => text)
    .join(',')}]`
}

/** The newest actions of one conversation; empty if it was deleted meanwhile. */
async function newestJudged(env: Env, owner: string, id: string): Promise<Judged[]> {
  const judged: Judged[] = []
  let length = 0
  for (let endId: number | null = null; judged.length < MAX_TRACE && length < MAX_TRACE_LENGTH; ) {
    const page = await pageUpTo(env, { owner, id, endId })
    for (const event of page.events) {
      const item = judgedOf(id, event)
      if (item === null) continue
      judged.push(item)
      length += item.text.length
    }
    const last = page.events.at(-1)
    if (!page.has_more || last === undefined || last.id === 0) break
    endId = last.id - 1
  }
  return judged
}

/** Events that contain the argument's name anywhere, so that not every event must be read from its object. */
async function pageUpTo(
  env: Env,
  { owner, id, endId }: { owner: string; id: string; endId: number | null },
): Promise<z.infer<typeof Page>> {
  const all = {
    excludeHidden: false,
    includeTypes: null,
    excludeTypes: null,
    source: null,
    startDate: null,
    endDate: null,
  }
  const filter = { ...all, query: '"security_risk":' }
  const answer = await conversation(env, owner, id).searchEvents({
    startId: 0,
    endId,
    reverse: true,
    limit: PAGE,
    filter,
  })
  return answer === null ? { events: [], has_more: false } : Page.parse(JSON.parse(answer))
}

function judgedOf(conversationId: string, event: z.infer<typeof Event>): Judged | null {
  const text = JSON.stringify({ conversation_id: conversationId, ...event })
  if (judgedAction(text) === null) return null
  return { conversation: conversationId, id: event.id, timestamp: event.timestamp, text }
}

/** The newest first, as many as an answer contains. */
function bounded(all: Judged[]): Judged[] {
  const sorted = all.sort(
    (a, b) => order(b.timestamp, a.timestamp) || order(b.conversation, a.conversation) || b.id - a.id,
  )
  let length = 0
  const fitting = sorted.findIndex(({ text }, i) => {
    length += text.length
    return i === MAX_TRACE || (i > 0 && length > MAX_TRACE_LENGTH)
  })
  return fitting === -1 ? sorted : sorted.slice(0, fitting)
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const MAX_POLICY_BYTES = 64 * 1024

const SecurityPolicy = z.object({ policy: z.string() }).openapi('SecurityPolicy')
const SecuritySettings = z
  .object({ RISK_SEVERITY: laxInt({ min: RISK.unknown, max: RISK.high }) })
  .openapi('SecuritySettings')

const TRACE_EXAMPLE = [{ id: 3, action: 'run', args: { command: 'rm -rf build', security_risk: 2 } }]
const Trace = z.array(z.looseObject({ conversation_id: z.string().optional(), id: z.int(), action: z.string() }))

const app = router(errorEnvelope)
const tag = 'Security'
const forbidden = { 403: { description: 'The key is for this conversation alone; the choice holds for all' } }
const notFound = { 404: { description: 'No such conversation' } }

type PolicyRoute = { base: string; params: typeof ConversationPath | undefined }

function servePolicyRead({ base, params: path }: PolicyRoute): void {
  const replies = { 200: { description: 'The policy in force', schema: SecurityPolicy }, ...(path && notFound) }
  endpoint(
    app,
    {
      method: 'get',
      path: `${base}/policy`,
      scope: 'conversations',
      limit: 'reads',
      bodyLimit: 'standard',
      tag,
      summary: 'The policy text',
      params: path,
      replies,
    },
    async (c, { params }) => {
      const owner = await ownerAsking(c, params)
      const { policy } = await findSecurityPreference(c.env.DB, owner)
      return c.json({ policy: policy ?? builtinPolicy() })
    },
  )
}

function servePolicyChange({ base, params: path }: PolicyRoute): void {
  const replies = { 200: { description: 'The policy in force', schema: SecurityPolicy }, ...(path && notFound) }
  const body = { schema: SecurityPolicy, required: true }
  const summary = 'Keep another policy text; a blank one brings back the built-in one'
  endpoint(
    app,
    {
      method: 'post',
      path: `${base}/policy`,
      scope: 'conversations',
      limit: 'writes',
      bodyLimit: 'standard',
      tag,
      summary,
      params: path,
      body,
      replies: { ...replies, ...(path && forbidden) },
    },
    async (c, { params, body: { policy } }) => {
      const problem = problemOf(policy)
      if (problem !== null) throw valueError(['body', 'policy'], problem, policy.slice(0, 100))
      const owner = await ownerChanging(c, params)
      const kept = policy.trim() === '' ? null : policy
      await savePolicy(c.env.DB, { owner, actor: actorOf(c.get('principal')), policy: kept })
      return c.json({ policy: kept ?? builtinPolicy() })
    },
  )
}

function serveSettingsRead({ base, params: path }: PolicyRoute): void {
  const replies = { 200: { description: 'The level in force', schema: SecuritySettings }, ...(path && notFound) }
  endpoint(
    app,
    {
      method: 'get',
      path: `${base}/settings`,
      scope: 'conversations',
      limit: 'reads',
      bodyLimit: 'standard',
      tag,
      summary: 'The level that asks',
      params: path,
      replies,
    },
    async (c, { params }) => {
      const owner = await ownerAsking(c, params)
      const { riskSeverity } = await findSecurityPreference(c.env.DB, owner)
      return c.json({ RISK_SEVERITY: riskSeverity ?? DEFAULT_RISK_SEVERITY })
    },
  )
}

function serveSettingsChange({ base, params: path }: PolicyRoute): void {
  const replies = { 200: { description: 'The level in force', schema: SecuritySettings }, ...(path && notFound) }
  const body = { schema: SecuritySettings, required: true }
  const summary = 'Set the risk from which an action waits for confirmation'
  endpoint(
    app,
    {
      method: 'post',
      path: `${base}/settings`,
      scope: 'conversations',
      limit: 'writes',
      bodyLimit: 'standard',
      tag,
      summary,
      params: path,
      body,
      replies: { ...replies, ...(path && forbidden) },
    },
    async (c, { params, body: { RISK_SEVERITY } }) => {
      const owner = await ownerChanging(c, params)
      await saveRiskSeverity(c.env.DB, { owner, actor: actorOf(c.get('principal')), riskSeverity: RISK_SEVERITY })
      return c.json({ RISK_SEVERITY })
    },
  )
}

function serveTrace({ base, params: path }: PolicyRoute): void {
  const description = path
    ? 'The actions of the conversation whose risk was judged'
    : `The newest ${MAX_TRACE} actions whose risk was judged, of the ${MAX_TRACE_CONVERSATIONS} conversations used last, oldest first`
  const replies = { 200: { description, schema: Trace }, ...(path && notFound) }
  endpoint(
    app,
    {
      method: 'get',
      path: `${base}/export-trace`,
      scope: 'conversations',
      limit: 'reads',
      bodyLimit: 'standard',
      tag,
      summary: 'What was judged',
      example: {
        reply: path ? TRACE_EXAMPLE : TRACE_EXAMPLE.map((item) => ({ conversation_id: '9123651c', ...item })),
      },
      params: path,
      replies,
    },
    async (c, { params }) => {
      if (params === undefined) return c.get('jsonText')(await ownerTrace(c.env, c.get('principal').owner))
      const stub = ownConversation(c, params.conversation_id)
      const first = foundOr404(await stub.readEvents(-1), params.conversation_id)
      const body = streamOf(jsonArray({ stub, first, pick: judgedAction }, ['', '']))
      return c.body(body, 200, { 'content-type': 'application/json' })
    },
  )
}

for (const place of [
  { base: '/api/security', params: undefined },
  { base: '/api/conversations/{conversation_id}/security', params: ConversationPath },
]) {
  servePolicyRead(place)
  servePolicyChange(place)
  serveSettingsRead(place)
  serveSettingsChange(place)
  serveTrace(place)
}

/** The owner of the setting. For a conversation that does not belong to the caller there is none. */
async function ownerAsking(c: Context<AppEnv>, params: { conversation_id: string } | undefined): Promise<string> {
  if (params !== undefined)
    foundOr404(await ownConversation(c, params.conversation_id).summary(), params.conversation_id)
  return c.get('principal').owner
}

/** The setting applies to all of the owner's conversations, so the key of a single one may not change it. */
function ownerChanging(c: Context<AppEnv>, params: { conversation_id: string } | undefined): Promise<string> {
  if (c.get('principal').via === 'token') {
    throw new AppError('forbidden', 'A key for one conversation cannot change what holds for all')
  }
  return ownerAsking(c, params)
}

/** Why a text cannot be stored unchanged, or null. */
function problemOf(policy: string): string | null {
  if (policy.includes('\0') || !policy.isWellFormed()) return 'has characters that no text can have'
  return new TextEncoder().encode(policy).byteLength > MAX_POLICY_BYTES
    ? `is longer than ${MAX_POLICY_BYTES} bytes`
    : null
}

export { app as security }

// The calls of the security dialog. A client makes them without naming a conversation, or below one; the choice is the
// owner's either way.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { builtinPolicy } from '../../agent/security/policy.ts'
import { DEFAULT_RISK_SEVERITY, RISK } from '../../agent/security/risk.ts'
import { judgedAction } from '../../agent/trajectory.ts'
import { findSecurityPreference, savePolicy, saveRiskSeverity } from '../../db/security.ts'
import { actorOf } from '../../http/actor.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt, valueError } from '../../http/validation.ts'
import { found, ownConversation } from './access.ts'
import { jsonArray, streamOf } from './event-walk.ts'
import { MAX_TRACE, MAX_TRACE_CONVERSATIONS, ownerTrace } from './owner-trace.ts'
import { ConversationPath } from './schemas.ts'

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

type Place = { base: string; params: typeof ConversationPath | undefined }

function servePolicy({ base, params: path }: Place): void {
  const replies = { 200: { description: 'The policy in force', schema: SecurityPolicy }, ...(path && notFound) }
  endpoint(
    app,
    { method: 'get', path: `${base}/policy`, tag, summary: 'The policy text', params: path, replies },
    async (c, { params }) => {
      const owner = await ownerAsking(c, params)
      const { policy } = await findSecurityPreference(c.env.DB, owner)
      return c.json({ policy: policy ?? builtinPolicy() })
    },
  )
  const body = { schema: SecurityPolicy, required: true }
  const summary = 'Keep another policy text; a blank one brings back the built-in one'
  endpoint(
    app,
    {
      method: 'post',
      path: `${base}/policy`,
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

function serveSettings({ base, params: path }: Place): void {
  const replies = { 200: { description: 'The level in force', schema: SecuritySettings }, ...(path && notFound) }
  endpoint(
    app,
    { method: 'get', path: `${base}/settings`, tag, summary: 'The level that asks', params: path, replies },
    async (c, { params }) => {
      const owner = await ownerAsking(c, params)
      const { riskSeverity } = await findSecurityPreference(c.env.DB, owner)
      return c.json({ RISK_SEVERITY: riskSeverity ?? DEFAULT_RISK_SEVERITY })
    },
  )
  const body = { schema: SecuritySettings, required: true }
  const summary = 'Set the risk from which an action waits for confirmation'
  endpoint(
    app,
    {
      method: 'post',
      path: `${base}/settings`,
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

function serveTrace({ base, params: path }: Place): void {
  const description = path
    ? 'The actions of the conversation whose risk was judged'
    : `The newest ${MAX_TRACE} actions whose risk was judged, of the ${MAX_TRACE_CONVERSATIONS} conversations used last, oldest first`
  const replies = { 200: { description, schema: Trace }, ...(path && notFound) }
  endpoint(
    app,
    {
      method: 'get',
      path: `${base}/export-trace`,
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
      const first = found(await stub.readEvents(-1), params.conversation_id)
      const body = streamOf(jsonArray({ stub, first, pick: judgedAction }, ['', '']))
      return c.body(body, 200, { 'content-type': 'application/json' })
    },
  )
}

for (const place of [
  { base: '/api/security', params: undefined },
  { base: '/api/conversations/{conversation_id}/security', params: ConversationPath },
]) {
  servePolicy(place)
  serveSettings(place)
  serveTrace(place)
}

/** Whose choice it is. Below a conversation that the asker does not have there is nothing. */
async function ownerAsking(c: Context<AppEnv>, params: { conversation_id: string } | undefined): Promise<string> {
  if (params !== undefined) found(await ownConversation(c, params.conversation_id).summary(), params.conversation_id)
  return c.get('principal').owner
}

/** The choice holds for all of the owner's conversations, which is more than the key of a single one may change. */
function ownerChanging(c: Context<AppEnv>, params: { conversation_id: string } | undefined): Promise<string> {
  if (c.get('principal').via === 'token') {
    throw new AppError('forbidden', 'A key for one conversation cannot change what holds for all')
  }
  return ownerAsking(c, params)
}

/** What keeps a text from being stored as it is, or null. */
function problemOf(policy: string): string | null {
  if (policy.includes('\0') || !policy.isWellFormed()) return 'has characters that no text can have'
  return new TextEncoder().encode(policy).byteLength > MAX_POLICY_BYTES
    ? `is longer than ${MAX_POLICY_BYTES} bytes`
    : null
}

export { app as security }

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { AGENTS } from '../../agent/agents.ts'
import { RUNTIME_KINDS } from '../../agent/runtime.ts'
import { conversation } from '../../bindings.ts'
import { config } from '../../config.ts'
import { type ConversationSummary, listConversations } from '../../db/conversations.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { presentedKey } from '../../http/auth.ts'
import { detailEnvelope, statusEnvelope } from '../../http/errors.ts'
import { signToken } from '../../http/keys.ts'
import { endpoint } from '../../http/openapi.ts'
import { encodeCursor, pageOf, positionOf } from '../../http/paging.ts'
import { router } from '../../http/router.ts'
import { line } from '../../http/validation.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { laxInt } from '../../lib/lax.ts'
import { Label } from '../../runners/wire.ts'
import { objectOf } from './access.ts'
import { beginningOf, checkedRepository } from './beginning.ts'
import { masking } from './errors.ts'
import { keepToLimit, withRoom } from './room-for.ts'
import {
  CONVERSATION_ID,
  ConversationInfo,
  ConversationInfoResultSet,
  ConversationPath,
  ConversationResponse,
  ConversationTrigger,
  InitSessionRequest,
} from './schemas.ts'

const TOKEN_LIFETIME_MS = 24 * 3600 * 1000
/** How long the same token is returned again. */
const TOKEN_AGAIN_MS = 300_000
const MAX_SIGNED = 10_000
/** The reference's name for the trigger of API callers; older clients filter by it. */
const TRIGGER_ALIAS = 'openhands_api'

const making = router(masking(statusEnvelope))
const reading = router(detailEnvelope)
const tag = 'Conversations'

endpoint(
  making,
  {
    method: 'post',
    path: '/api/conversations',
    scope: 'conversations',
    limit: 'starts',
    bodyLimit: 'standard',
    tag,
    summary: 'Start a conversation, or join the one that has the given id',
    query: z.object({
      agent: z.enum(AGENTS).optional().describe('The agent of this conversation alone; by default as the settings say'),
      model: line({ min: 1, max: 4_096 }).optional().describe('The model of this conversation alone, `provider/model`'),
      runtime: z.enum(RUNTIME_KINDS).optional().describe('Where its commands run; by default as the settings say'),
      labels: z
        .string()
        .transform((text) => text.split(',').filter((label) => label !== ''))
        .pipe(z.array(Label).max(32))
        .optional(),
    }),
    body: { schema: InitSessionRequest, required: true },
    replies: {
      200: { description: 'Started or joined', schema: ConversationResponse },
      400: { description: 'The conversation cannot be started as asked' },
      429: { description: 'The owner has as many conversations, or stored bytes, as there may be' },
    },
  },
  async (c, { body: given, query: asked }) => {
    const body = withTaskRepository(given)
    const { owner } = c.get('principal')
    const id = body.conversation_id ?? hexId()
    c.set('conversationId', id)
    const created = await withRoom(c, id, {
      prepare: async () => {
        const beginning = await beginningOf(c, body, { id, asked })
        const repository = await checkedRepository(c, body)
        return { ...beginning, repository }
      },
      make: async (prepared) =>
        await conversation(c.env, owner, id).create({
          id,
          owner,
          trigger: triggerOf(c, body),
          createdAt: isoMicros(Date.now()),
          instructions: body.conversation_instructions ?? '',
          ...prepared,
        }),
      isMade: () => true,
    })
    if (created.started) await keepToLimit(c, owner, id)
    const message = created.messageDropped
      ? 'Joined a running conversation; the initial message was not delivered. Send it as an event.'
      : null
    return c.json({ status: 'ok', conversation_id: id, message, conversation_status: created.status })
  },
)

endpoint(
  reading,
  {
    method: 'get',
    path: '/api/conversations',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'List the own conversations, newest first',
    query: z.object({
      page_id: z.string().nullable().optional(),
      limit: laxInt().default(20),
      selected_repository: z.string().nullable().optional(),
      conversation_trigger: z
        .preprocess((value) => (value === TRIGGER_ALIAS ? 'service_api' : value), ConversationTrigger)
        .nullable()
        .optional(),
    }),
    replies: {
      200: { description: 'One page', schema: ConversationInfoResultSet },
      400: { description: 'A page_id that is not one of ours' },
    },
  },
  async (c, { query }) => {
    const limit = Math.min(Math.max(query.limit, 1), 1000)
    const found = await listConversations(c.env.DB, {
      owner: c.get('principal').owner,
      limit: limit + 1,
      after: positionOf(query.page_id),
      repository: query.selected_repository ?? null,
      triggers: query.conversation_trigger ? [query.conversation_trigger] : null,
    })
    const { page, next_page_id } = pageOf(found, limit, encodeCursor)
    return c.json({ results: page.map((summary) => conversationInfo(c, summary)), next_page_id })
  },
)

endpoint(
  reading,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'One conversation; null when there is none of this id',
    params: ConversationPath,
    replies: { 200: { description: 'The conversation, or null', schema: ConversationInfo.nullable() } },
  },
  async (c, { params }) => {
    const id = params.conversation_id
    const summary = CONVERSATION_ID.test(id) ? await objectOf(c, id).summary() : null
    return c.json(summary === null ? null : conversationInfo(c, summary))
  },
)

/** The repository of a task takes precedence over a selected one. */
function withTaskRepository(body: InitSessionRequest): InitSessionRequest {
  const task = body.create_microagent
  if (task == null || body.repository) return body
  return { ...body, repository: task.repo, git_provider: body.git_provider ?? task.git_provider ?? null }
}

function triggerOf(c: Context<AppEnv>, body: InitSessionRequest): string {
  if (body.suggested_task) return 'suggested_task'
  if (body.create_microagent) return 'microagent_management'
  const { via } = c.get('principal')
  return via === 'header' || via === 'token' ? 'service_api' : 'gui'
}

function conversationInfo(c: Context<AppEnv>, summary: ConversationSummary) {
  return {
    conversation_id: summary.id,
    title: summary.title,
    last_updated_at: summary.lastUpdatedAt,
    status: summary.status,
    runtime_status: summary.runtimeStatus,
    agent_state: summary.agentState,
    selected_repository: summary.selectedRepository,
    selected_branch: summary.selectedBranch,
    git_provider: summary.gitProvider,
    trigger: summary.trigger,
    num_connections: summary.numConnections,
    url: summary.status === 'STOPPED' ? null : `/api/conversations/${summary.id}`,
    session_api_key: sessionKey(c, summary),
    created_at: summary.createdAt,
    pr_number: summary.prNumber,
  }
}

/**
 * A token for this conversation only. A client that used such a token gets the same one back, so it cannot extend the
 * validity.
 */
function sessionKey(c: Context<AppEnv>, { owner, id }: ConversationSummary): string | null {
  const { keyId, via } = c.get('principal')
  const { secretsKey } = config(c.env)
  if (via === 'token') return presentedKey(c.req.raw)
  if (keyId === null || secretsKey === null) return null
  return recentToken(secretsKey, { owner, conversation: id, key: keyId })
}

type TokenScope = { owner: string; conversation: string; key: string }

/** Recently signed tokens, by conversation, because clients request the same conversations repeatedly. */
const signed = new Map<string, { token: string; until: number }>()

function recentToken(secretsKey: string, scope: TokenScope): string {
  const now = Date.now()
  const name = JSON.stringify([secretsKey, scope.owner, scope.conversation, scope.key])
  const known = signed.get(name)
  if (known !== undefined && known.until - now > TOKEN_LIFETIME_MS - TOKEN_AGAIN_MS) return known.token
  const until = now + TOKEN_LIFETIME_MS
  const token = signToken(secretsKey, 'bwc', { ...scope, until })
  if (signed.size >= MAX_SIGNED) signed.clear()
  signed.set(name, { token, until })
  return token
}

export { making, reading }

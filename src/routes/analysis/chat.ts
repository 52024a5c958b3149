// Talks about reports, in the form of the existing page. A talk is a conversation of the owner, stored in the object of
// a conversation; these paths are a view of it.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { codesIn, contextCode, contextNote, type PageContext, systemText } from '../../analysis/chat/question.ts'
import { CHAT_TEXTS } from '../../analysis/chat/texts.ts'
import { offeredTools } from '../../analysis/chat/tools.ts'
import { conversation, conversationPlace, talkId, taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { notifyTargets } from '../../db/channels.ts'
import { chatSessions } from '../../db/conversations.ts'
import { ownerSettings } from '../../db/settings.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { characters, line } from '../../http/validation.ts'
import { currentNames } from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { laxInt } from '../../lib/lax.ts'
import { errorFields, log } from '../../lib/log.ts'
import { isObjectStored } from '../../lib/state-keeper.ts'
import { chooseModel, isChoice } from '../../llm/choose.ts'
import { chatStream } from './chat-stream.ts'

const app = router(analysisEnvelope)
const tag = 'Chat'
const common = { scope: 'analysis', bodyLimit: 'standard', tag } as const

/** Made by clients; usually a UUID. */
const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/
const SessionPath = z.object({ session_id: z.string().describe('As the client made it') })

const MAX_SESSIONS = 500
const MAX_CONTEXT_BYTES = 32_768
const MAX_SKILLS = 3
/** A turn ends in less than five minutes, including the check of its answer. */
const TURN_MS = 285_000

const skills = z.array(z.string().max(64)).max(MAX_SKILLS).nullish()

const ChatRequest = z
  .object({
    message: characters({ min: 1, max: 8_000 }).describe('The question'),
    session_id: z.string().regex(SESSION_ID).describe('Made by the client; an unknown one begins a talk'),
    skills: skills.describe('Ids of /api/v1/agent/skills, three at most'),
    strategies: skills.describe('Another name of `skills`'),
    context: z
      .looseObject({ stock_code: z.string().max(32).nullish(), stock_name: z.string().max(100).nullish() })
      .nullish()
      .describe('The stock that the page shows, and what it shows of it; 32 KB at most'),
  })
  .openapi('ChatRequest')
type ChatRequest = z.infer<typeof ChatRequest>

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: '/api/v1/agent/chat/stream',
    limit: 'chats',
    summary: 'Ask about a report or a stock; the same message again while it is answered joins its stream',
    headers: z.object({
      'last-event-id': z.string().optional().describe('Resume behind this event of the turn that runs'),
    }),
    body: { schema: ChatRequest, required: true },
    example: {
      reply: 'data: {"type":"stage_start","stage":"answer","message":"Looking up the data to answer"}\n\n',
    },
    replies: {
      200: {
        description: 'Server-sent events, `data:` lines alone; `done` or `error` is always the last',
        schema: z.string(),
        contentType: 'text/event-stream',
      },
      400: { description: 'No model is set' },
      409: { description: '`chat_busy`: another message is being answered; `chat_full`: the talk is too long' },
    },
  },
  async (c, { body }) => {
    const language = callerLanguage(c)
    const texts = CHAT_TEXTS[language]
    const { owner } = c.get('principal')
    const context: PageContext = body.context ?? {}
    if (new TextEncoder().encode(JSON.stringify(context)).length > MAX_CONTEXT_BYTES) {
      throw new AppError('bad_request', texts.longContext, { word: 'validation_error' })
    }
    await demandModel(c)
    const id = await talkId(owner, body.session_id)
    const talk = conversation(c.env, owner, id)
    const place = { id, owner, session: body.session_id, createdAt: isoMicros(Date.now()) }
    const asked = await talk.ask(place, { ...(await questionOf(c, body)), patienceMs: TURN_MS })
    if (!asked.ok) {
      const word = asked.reason === 'taken' ? 'conflict' : `chat_${asked.reason}`
      throw new AppError('conflict', texts[asked.reason], { word })
    }
    const dropped = asked.isNew ? await dropOldest(c, owner) : 0
    const after = Number(/^\d{1,15}$/.exec(c.req.header('last-event-id') ?? '')?.[0] ?? -1)
    return chatStream(c, {
      language,
      sessionId: body.session_id,
      notice: dropped === 0 ? null : texts.dropped(dropped),
      after: Math.max(after, asked.question - 1),
      // A stub of a restarted object cannot be reused; each call gets a new one.
      steps: (behind, waitMs) => conversation(c.env, owner, id).talkSteps(asked.question, behind, waitMs),
    })
  },
)

/** The question with the context for the agent. */
async function questionOf(c: Context<AppEnv>, { message, context, ...asked }: ChatRequest) {
  const language = callerLanguage(c)
  const { late, stopped, noAnswer, unchecked, found } = CHAT_TEXTS[language]
  const shown = context == null ? null : contextCode(context)
  const named = codesIn(message, await currentNames(stockNameStore(c.env.DB)))
  const today = new Date().toISOString().slice(0, 10)
  return {
    message,
    note: context == null ? '' : contextNote(context),
    codes: [...new Set([...(shown === null ? [] : [shown]), ...named])],
    brief: {
      system: systemText(asked.skills ?? asked.strategies ?? [], { language, today }),
      tools: offeredTools(),
      language,
      texts: { late, stopped, noAnswer, unchecked, found },
    },
  }
}

/** Refuses a question if no model can answer. An unavailable database is not the user's error. */
async function demandModel(c: Context<AppEnv>): Promise<void> {
  const read = await ownerSettings(c.env, c.get('principal').owner)
  const choice = read.ok ? chooseModel(read.settings, config(c.env).models.operator) : null
  if (choice === null || !isChoice(choice)) {
    throw new AppError('bad_request', CHAT_TEXTS[callerLanguage(c)].noModel, { word: 'no_model' })
  }
}

/** Makes room for a new talk: deletes those with the oldest use, unless an answer is in progress. */
async function dropOldest({ env }: Context<AppEnv>, owner: string): Promise<number> {
  try {
    const surplus = await chatSessions(env.DB, owner, { limit: 20, offset: MAX_SESSIONS })
    const counts = await Promise.all(
      surplus.map(({ conversation: id }) => conversation(env, owner, id).deleteTalk(true)),
    )
    return counts.filter((count) => count > 0).length
  } catch (error) {
    // The next new talk repeats this.
    log.warn('chat.not_dropped', errorFields(error))
    return 0
  }
}

const ChatSessionItem = z
  .object({
    session_id: z.string(),
    title: z.string().describe('The beginning of the first message'),
    message_count: z.int().describe('Answers and reasons of turns that failed included'),
    created_at: z.string(),
    last_active: z.string().describe('When something happened last'),
  })
  .openapi('ChatSession')

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/v1/agent/chat/sessions',
    limit: 'reads',
    summary: 'The own talks, the one in which something happened last first',
    query: z.object({ limit: laxInt({ min: 1, max: MAX_SESSIONS }).default(50) }),
    replies: {
      200: {
        description: 'The talks',
        schema: z.object({ sessions: z.array(ChatSessionItem).describe('The newest activity first') }),
      },
    },
  },
  async (c, { query: { limit } }) => {
    const found = await chatSessions(c.env.DB, c.get('principal').owner, { limit })
    const sessions = found.map(({ session, title, messages, createdAt, lastActive }) => {
      return { session_id: session, title, message_count: messages, created_at: createdAt, last_active: lastActive }
    })
    return c.json({ sessions })
  },
)

const ChatMessage = z
  .object({
    id: z.string(),
    role: z.enum(['user', 'assistant']).describe('Who says it'),
    content: z.string(),
    created_at: z.string(),
  })
  .openapi('ChatMessage')

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/v1/agent/chat/sessions/{session_id}',
    limit: 'reads',
    summary: 'The newest messages of a talk, oldest first; an unknown talk has none',
    params: SessionPath,
    query: z.object({ limit: laxInt({ min: 1, max: 500 }).default(100) }),
    replies: {
      200: {
        description: 'The messages; a turn that failed shows why in place of an answer',
        schema: z.object({ session_id: z.string(), messages: z.array(ChatMessage).describe('Oldest first') }),
      },
    },
  },
  async (c, { params: { session_id }, query: { limit } }) => {
    const talk = await talkOf(c, session_id)
    const found = (await talk?.talkMessages(limit)) ?? []
    const messages = found.map(({ createdAt, ...message }) => ({ ...message, created_at: createdAt }))
    return c.json({ session_id, messages })
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'delete',
    path: '/api/v1/agent/chat/sessions/{session_id}',
    limit: 'writes',
    summary: 'Delete a talk with everything in it',
    params: SessionPath,
    replies: { 200: { description: 'How many messages it had', schema: z.object({ deleted: z.int() }) } },
  },
  async (c, { params: { session_id } }) => {
    const talk = await talkOf(c, session_id)
    return c.json({ deleted: (await talk?.deleteTalk(false)) ?? 0 })
  },
)

/** The object of a talk; null for an id that was never used, without waking an object. */
async function talkOf(c: Context<AppEnv>, session: string) {
  if (!SESSION_ID.test(session)) return null
  const { owner } = c.get('principal')
  const id = await talkId(owner, session)
  return (await isStored(c.env, conversationPlace(c.env, owner, id))) ? conversation(c.env, owner, id) : null
}

async function isStored(env: Env, place: string): Promise<boolean> {
  try {
    return await isObjectStored(env, place)
  } catch (error) {
    // Then the object itself is asked, as on the platform.
    log.warn('chat.state_not_asked', errorFields(error))
    return true
  }
}

const SendResult = z
  .object({
    success: z.boolean(),
    error: z.string().optional().describe('`no_channels`: there is nowhere to send to'),
    message: z.string().optional(),
  })
  .openapi('ChatSent')

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: '/api/v1/agent/chat/send',
    limit: 'writes',
    summary: 'Send a text of a talk to the own notification channels; answered once it is queued',
    body: {
      schema: z
        .object({ content: characters({ min: 1, max: 50_000 }), title: line({ min: 1, max: 200 }).nullish() })
        .openapi('ChatSendRequest'),
      required: true,
    },
    replies: { 200: { description: 'Whether it was queued', schema: SendResult } },
  },
  async (c, { body: { content, title } }) => {
    const { owner } = c.get('principal')
    const targets = await notifyTargets(c.env, owner)
    if (!targets.some(({ isEnabled }) => isEnabled)) {
      return c.json({ success: false, error: 'no_channels', message: CHAT_TEXTS[callerLanguage(c)].noChannels })
    }
    const heading =
      title ??
      content
        .split('\n')[0]
        ?.replace(/^#+\s*/, '')
        .slice(0, 60) ??
      ''
    const notice = { owner, channels: null, title: heading || 'Bellwether', markdown: content }
    await taskQueue(c.env).notify([{ kind: 'text', key: `chat:${hexId()}`, ...notice }])
    return c.json({ success: true })
  },
)

export { app as chat }

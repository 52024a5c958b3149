// The beginning of a new conversation: its agent, its first message with the message's origin, and its own tool servers. A
// conversation that cannot start is refused here, before anything is created.

import type { Context } from 'hono'
import { type AgentName, agentToRun } from '../../agent/agents.ts'
import { type ReplayStep, readReplay } from '../../agent/replay.ts'
import { STARTING_TASKS, suggestedTaskPrompt } from '../../agent/suggested-tasks.ts'
import { config } from '../../config.ts'
import { sealValue } from '../../db/sealed.ts'
import { type OwnerSettings, ownerSettings, Settings } from '../../db/settings.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { valueError } from '../../http/validation.ts'
import { errorFields, log } from '../../lib/log.ts'
import { chooseModel } from '../../llm/choose.ts'
import type { InitSessionRequest } from './schemas.ts'
import { toMcpServers } from './settings-schemas.ts'

export type Beginning = {
  agent: AgentName
  /** `isTask`: it is a task in natural language, which a shell cannot run. */
  firstMessage: { content: string; imageUrls: string[] | null; isTask?: boolean } | null
  replay: ReplayStep[] | null
  /** Sealed, because they may contain keys. */
  toolServers: string | null
}

export async function beginningOf(c: Context<AppEnv>, body: InitSessionRequest, id: string): Promise<Beginning> {
  refuseImpossible(body)
  const { owner } = c.get('principal')
  const { firstMessage, replay } = openingOf(body)
  const { mcp_config: servers } = body
  const place = { kind: 'conversation', owner, name: id } as const
  return {
    agent: await agentOf(c, owner),
    firstMessage,
    replay,
    toolServers: servers == null ? null : await sealValue(c.env, JSON.stringify(toMcpServers(servers)), place),
  }
}

function refuseImpossible({
  suggested_task: task,
  replay_json: replay,
  initial_user_msg: message,
}: InitSessionRequest) {
  if (task != null && !STARTING_TASKS.some((kind) => kind === task.task_type)) {
    throw valueError(
      ['body', 'suggested_task', 'task_type'],
      'no conversation can start from this kind',
      task.task_type,
    )
  }
  if ((replay ?? '') !== '' && (message ?? '') !== '') {
    throw valueError(['body', 'replay_json'], 'a replay begins with its own message; leave out initial_user_msg', null)
  }
}

function openingOf(body: InitSessionRequest): Pick<Beginning, 'firstMessage' | 'replay'> {
  if ((body.replay_json ?? '') !== '') {
    const read = readReplay(body.replay_json ?? '')
    if (!read.ok) throw valueError(['body', 'replay_json'], read.reason, null)
    return { firstMessage: read.replay.firstMessage, replay: read.replay.steps }
  }
  const imageUrls = body.image_urls ?? null
  if (body.suggested_task != null) {
    const content = suggestedTaskPrompt(body.suggested_task)
    return { firstMessage: { content, imageUrls, isTask: true }, replay: null }
  }
  const hasMessage = (body.initial_user_msg ?? null) !== null || (imageUrls ?? []).length > 0
  if (!hasMessage) return { firstMessage: null, replay: null }
  const isTask = body.create_microagent != null
  return { firstMessage: { content: body.initial_user_msg ?? '', imageUrls, isTask }, replay: null }
}

/** While the database is away, a conversation begins with default settings. */
async function settingsOf(env: Env, owner: string): Promise<OwnerSettings> {
  try {
    return await ownerSettings(env, owner)
  } catch (error) {
    log.warn('conversation.settings_not_read', { owner, ...errorFields(error) })
    return { ok: true, settings: Settings.parse({}), isStored: false }
  }
}

/**
 * Without a model the shell runs. A model that lacks its key is refused at once. An unknown model is accepted: the agent's
 * first step says which setting to change.
 */
async function agentOf(c: Context<AppEnv>, owner: string): Promise<AgentName> {
  const read = await settingsOf(c.env, owner)
  if (!read.ok) return 'ShellAgent'
  const { settings } = read
  if (settings.agent === 'ShellAgent') return 'ShellAgent'
  const choice = chooseModel(settings, config(c.env).models.operator)
  if (choice === 'needs-key') {
    throw new AppError('bad_request', 'The chosen model needs an API key; add it in the settings', {
      msgId: 'STATUS$ERROR_LLM_AUTHENTICATION',
    })
  }
  return agentToRun(settings.agent, choice !== null).agent
}

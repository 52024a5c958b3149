// The start of a new conversation: its agent, its first message with the message's origin, and its own tool servers. A
// conversation that cannot start is refused here, before anything is created.

import type { Context } from 'hono'
import { type AgentChoice, type AgentName, agentToRun } from '../../agent/agents.ts'
import { STARTING_TASKS, suggestedTaskPrompt } from '../../agent/prompt.ts'
import { RUNTIME_KINDS, type RuntimeWish } from '../../agent/runtime.ts'
import { type ReplayStep, readReplay } from '../../agent/trajectory.ts'
import { config } from '../../config.ts'
import { ownerProviderTokens } from '../../db/provider-tokens.ts'
import { sealValue } from '../../db/sealed.ts'
import { type OwnerSettings, ownerSettings, Settings } from '../../db/settings.ts'
import { type Account, gitOriginOf } from '../../git-providers/addresses.ts'
import { type FailureWord, hostOf } from '../../git-providers/index.ts'
import { isFamily } from '../../git-providers/provider.ts'
import { isRepositoryName, withoutDomain } from '../../git-providers/repository-names.ts'
import { type AppEnv, isAskedByModel } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { valueError } from '../../http/validation.ts'
import { errorFields, log } from '../../lib/log.ts'
import { chooseModel, withModel } from '../../llm/choose.ts'
import { STORE_ANEW, sealedElsewhere } from './errors.ts'
import type { InitSessionRequest } from './schemas.ts'
import { toMcpServers } from './settings-schemas.ts'
import { askFirst } from './user-providers.ts'

export type Beginning = {
  agent: AgentName
  /** `isTask`: it is a task in natural language, which a shell cannot run. */
  firstMessage: { content: string; imageUrls: string[] | null; isTask?: boolean } | null
  replay: ReplayStep[] | null
  /** Encrypted, because they may contain keys. */
  toolServers: string | null
  choice: AgentChoice
  runtime: RuntimeWish
}

/** The id of the conversation, and the options from the URL. */
type NewConversationRequest = {
  id: string
  asked: {
    agent?: AgentName | undefined
    model?: string | undefined
    runtime?: RuntimeWish['kind'] | undefined
    labels?: string[] | undefined
  }
}

export async function beginningOf(
  c: Context<AppEnv>,
  body: InitSessionRequest,
  { id, asked }: NewConversationRequest,
): Promise<Beginning> {
  refuseImpossible(body)
  const { owner } = c.get('principal')
  const { firstMessage, replay } = openingOf(body)
  const { mcp_config: servers } = body
  const choice = { agent: asked.agent ?? null, model: asked.model ?? null }
  const read = await settingsOf(c.env, owner)
  const place = { kind: 'conversation', owner, name: id } as const
  return {
    agent: agentOf(c, read, { choice, isReplay: replay !== null }),
    choice,
    runtime: runtimeOf(read, asked),
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

/** While the database is unavailable, a conversation starts with the default settings. */
async function settingsOf(env: Env, owner: string): Promise<OwnerSettings> {
  try {
    return await ownerSettings(env, owner)
  } catch (error) {
    log.warn('conversation.settings_not_read', { owner, ...errorFields(error) })
    return { ok: true, settings: Settings.parse({}), isStored: false }
  }
}

type AgentRequest = { choice: AgentChoice; isReplay: boolean }

/**
 * Without a model the shell agent is used, except for a recording, which contains the answers of a model. A model
 * without its key is refused at once. An unknown model is accepted: the agent's first step says which setting to
 * change.
 */
function agentOf(c: Context<AppEnv>, read: OwnerSettings, { choice, isReplay }: AgentRequest): AgentName {
  if (!read.ok) return agentToRun(choice.agent, { model: false, recording: isReplay }).agent
  const settings = { ...withModel(read.settings, choice.model), agent: choice.agent ?? read.settings.agent }
  if (settings.agent === 'ShellAgent' && !isReplay) return 'ShellAgent'
  const model = chooseModel(settings, config(c.env).models.operator)
  if (model === 'needs-key' && !isReplay) {
    throw new AppError('bad_request', 'The chosen model needs an API key; add it in the settings', {
      msgId: 'STATUS$ERROR_LLM_AUTHENTICATION',
    })
  }
  return agentToRun(settings.agent, { model: model !== null, recording: isReplay }).agent
}

/**
 * The value in the request, then that in the settings. Settings that cannot be read are ignored; the first step reports
 * the error.
 */
function runtimeOf(read: OwnerSettings, asked: NewConversationRequest['asked']): RuntimeWish {
  if (!read.ok) return { kind: asked.runtime ?? 'auto', labels: asked.labels ?? [] }
  const { runtime, runnerLabels, runnerUnsynced, sandboxBaseContainerImage } = read.settings
  const stored = RUNTIME_KINDS.find((kind) => kind === runtime)
  const image = sandboxBaseContainerImage?.trim()
  return {
    kind: asked.runtime ?? stored ?? 'auto',
    labels: asked.labels ?? runnerLabels ?? [],
    ...(image && { image: `image:${image}` }),
    ...(runnerUnsynced !== null && { unsynced: runnerUnsynced }),
  }
}

// The selected repository of a new conversation, checked as far as possible before it is cloned. An owner with stored
// tokens gets an error at once if none of them can read it; without tokens the clone reports the error.

type Candidate = { account: Account; name: string }

/** A repository that the token may not read counts as missing; other failures say nothing about the repository. */
const REFUSALS: ReadonlySet<FailureWord> = new Set(['unauthorized', 'forbidden', 'not-found'])

/** Null if none is selected. Throws a 400 for one that no stored token can read. */
export async function checkedRepository(c: Context<AppEnv>, body: InitSessionRequest): Promise<Repository | null> {
  const selected = selectedRepository(body, !isAskedByModel(c.req.raw))
  if (selected === null) return null
  const stored = await ownerProviderTokens(c.env, c.get('principal').owner)
  if (!stored.ok) {
    const msgId = 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR'
    throw new AppError('unavailable', sealedElsewhere('tokens', stored.unreadable, STORE_ANEW), { msgId })
  }
  const accounts = stored.tokens.flatMap(({ provider, token, host }) =>
    isFamily(provider) ? [{ provider, token, host }] : [],
  )
  const candidates = candidatesFor(selected, accounts)
  const [first] = candidates
  if (first === undefined) return selected
  const names = new Map(candidates.map(({ account, name }) => [account, name]))
  const { found, failures } = await askFirst(c, [...names.keys()], async (provider, account) =>
    (await provider.isReadable(names.get(account) ?? '')) ? account : null,
  )
  if (found !== null) return at(selected, found.value, names.get(found.value) ?? '')
  const silent = failures.find(({ word }) => !REFUSALS.has(word))
  if (silent === undefined) throw unreadable(selected)
  const { account, name } = candidates.find((candidate) => candidate.account.provider === silent.provider) ?? first
  return at(selected, account, name)
}

/** The accounts that may have access to the repository, the given provider's first. */
function candidatesFor({ name, url, provider }: Repository, accounts: readonly Account[]): Candidate[] {
  if (/^https?:\/\//i.test(name)) {
    const { origin, pathname } = new URL(url)
    const path = pathname.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
    const own = accounts.filter((account) => gitOriginOf(account) === origin)
    return isRepositoryName(path) ? own.map((account) => ({ account, name: path })) : []
  }
  const candidates = accounts.map((account) => ({ account, ...withoutDomain(name, hostOf(account)) }))
  const named = candidates.filter(({ isNamed }) => isNamed)
  const asked = named.length > 0 ? named : candidates
  return [
    ...asked.filter(({ account }) => account.provider === provider),
    ...asked.filter(({ account }) => account.provider !== provider),
  ]
}

function at(selected: Repository, account: Account, name: string): Repository {
  // If a URL was given, that URL is cloned.
  const isAddress = /^https?:\/\//i.test(selected.name)
  const url = isAddress ? selected.url : `${gitOriginOf(account)}/${name}.git`
  // In both cases the host is the one that was stored with the token.
  return { ...selected, url, provider: account.provider, isTyped: true }
}

function unreadable({ name }: Repository): AppError {
  return new AppError('bad_request', `Unable to access repo ${name}`, {
    msgId: 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR',
  })
}

const HOSTS = { github: 'github.com', gitlab: 'gitlab.com', bitbucket: 'bitbucket.org', enterprise_sso: 'github.com' }
/** Two or more names: GitLab has nested groups. */
const FULL_NAME = /^[\w.-]+(\/[\w.-]+)+$/

const MAX_LENGTH = 2_000
const TOO_LONG = `longer than ${MAX_LENGTH} characters`

type Repository = {
  name: string
  url: string
  branch: string | null
  provider: string | null
  /** Whether the user entered the URL. */
  isTyped: boolean
}

/** The repository selected in the request: `owner/name` at its provider, or an http(s) URL. An empty branch means none. */
function selectedRepository(body: InitSessionRequest, isTyped: boolean): Repository | null {
  const name = body.repository?.trim()
  if (!name) return null
  // They are stored in the list and in the record of the conversation.
  if (name.length > MAX_LENGTH) throw valueError(['body', 'repository'], TOO_LONG, null)
  if ((body.selected_branch ?? '').length > MAX_LENGTH) throw valueError(['body', 'selected_branch'], TOO_LONG, null)
  const provider = body.git_provider ?? null
  const url = addressOf(name, provider ?? 'github')
  return { name, url, branch: body.selected_branch || null, provider, isTyped }
}

function addressOf(name: string, provider: keyof typeof HOSTS): string {
  if (FULL_NAME.test(name) && !name.split('/').includes('..')) return `https://${HOSTS[provider]}/${name}.git`
  const url = /^https?:\/\//i.test(name) && URL.canParse(name) ? new URL(name) : null
  if (url === null) throw valueError(['body', 'repository'], 'neither owner/name nor an http(s) address', name)
  if (url.username !== '' || url.password !== '') {
    throw valueError(['body', 'repository'], 'an address must not hold credentials', `${url.protocol}//…@${url.host}`)
  }
  return url.href
}

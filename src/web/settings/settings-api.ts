// The calls of the settings pages, and the shapes of their answers.

import { getSetup, request, sendJson } from '../api.ts'
import type { Text } from '../texts.ts'

export type RemoteServer = { url: string; api_key?: string | null }
export type ProgramServer = { name: string; command: string; args?: string[]; env?: Record<string, string> }
export type ToolServers = { sse_servers: RemoteServer[]; shttp_servers: RemoteServer[]; stdio_servers: ProgramServer[] }

/** The stored settings, without keys. */
export type Settings = {
  agent: string | null
  max_iterations: number | null
  max_budget_per_task: number | null
  confirmation_mode: boolean | null
  security_analyzer: string | null
  enable_default_condenser: boolean
  llm_model: string | null
  llm_base_url: string | null
  llm_api_key_set: boolean
  search_api_key_set: boolean
  mcp_config: ToolServers | null
  git_user_name: string | null
  git_user_email: string | null
  runtime: 'auto' | 'edge' | 'runner' | null
  runner_labels: string[] | null
  sandbox_base_container_image: string | null
  provider_tokens_set: Record<string, string | null> | null
}

/** Null if nothing was ever stored. This is checked first, because a browser logs a 404 in its console. */
export async function getSettings(): Promise<Settings | null> {
  const { settings_stored: isStored } = await getSetup()
  return isStored ? request<Settings>('/api/settings') : null
}

/** A missing field is not changed. The warning is about a model that cannot be used as configured. */
export const saveSettings = (change: Record<string, unknown>) =>
  request<{ message: string; warning?: string }>('/api/settings', sendJson('POST', change))

export const listModels = () => request<string[]>('/api/options/models')
export const listAgents = () => request<string[]>('/api/options/agents')

export type ModelTest = {
  ok: boolean
  model: string | null
  reply: string | null
  latency_ms: number | null
  failure: string | null
  error: string | null
}

export const testModel = (trial: Record<string, unknown>) =>
  request<ModelTest>('/api/settings/model-test', sendJson('POST', trial))

export const getRiskLevel = () => request<{ RISK_SEVERITY: number }>('/api/security/settings')
export const saveRiskLevel = (level: number) =>
  request<unknown>('/api/security/settings', sendJson('POST', { RISK_SEVERITY: level }))

export type Runner = {
  id: string
  name: string
  labels: string[]
  os: string
  arch: string
  capacity: number
  isolation: string
  network: string
  tools: { name: string; version: string }[]
  state: 'connected' | 'draining' | 'gone'
  conversations: number
  seen_at: string
}

export const listRunners = async () => (await request<{ runners: Runner[] }>('/api/runners')).runners
export const removeRunner = (id: string) => request<unknown>(`/api/runners/${encodeURIComponent(id)}`, DELETE)

export const saveToken = (provider: string, token: string, host: string) =>
  request<unknown>('/api/add-git-providers', sendJson('POST', { provider_tokens: { [provider]: { token, host } } }))
export const unsetTokens = () => request<unknown>('/api/unset-provider-tokens', sendJson('POST', {}))

export type Secret = { name: string; description?: string | null }

export const listSecrets = async () =>
  (await request<{ custom_secrets?: Secret[] | null }>('/api/secrets')).custom_secrets ?? []
export const createSecret = (secret: Secret & { value: string }) =>
  request<unknown>('/api/secrets', sendJson('POST', secret))
export const deleteSecret = (name: string) => request<unknown>(`/api/secrets/${encodeURIComponent(name)}`, DELETE)

export type Channel = {
  channel_id: string
  kind: string
  mode: 'single' | 'digest'
  enabled: boolean
  settings: Record<string, unknown>
  secrets_set: string[]
  readable: boolean
  from_environment: boolean
}

export type ChannelTest = { ok: boolean; outcome: string; error: string | null; retry_after_seconds: number | null }

const channelAt = (id: string) => `/api/v1/analysis/channels/${encodeURIComponent(id)}`

export const listChannels = async () => (await request<{ channels: Channel[] }>('/api/v1/analysis/channels')).channels
export const saveChannel = (id: string, channel: Record<string, unknown>) =>
  request<Channel>(channelAt(id), sendJson('PUT', channel))
export const deleteChannel = (id: string) => request<unknown>(channelAt(id), DELETE)
export const testChannel = (id: string) => request<ChannelTest>(`${channelAt(id)}/test`, { method: 'POST' })

export type Schedule = {
  schedule_id: string
  name: string
  enabled: boolean
  what:
    | { kind: 'market_review'; region: string }
    | { kind: 'analysis'; stock_codes: string[] }
    | { kind: 'watchlist'; watchlist_id: string }
    | { kind: 'digest'; watchlist_id: string | null }
  when: { times: string[]; zone: string; days: string[] } | { after_close_minutes: number }
  next_run_at: string | null
  [more: string]: unknown
}

const SCHEDULES = '/api/v1/analysis/schedules'
const scheduleAt = (id: string) => `${SCHEDULES}/${encodeURIComponent(id)}`

export const listSchedules = async () => (await request<{ schedules: Schedule[] }>(SCHEDULES)).schedules
export const addSchedule = (plan: Record<string, unknown>) => request<Schedule>(SCHEDULES, sendJson('POST', plan))
export const changeSchedule = (schedule: Schedule) => {
  const { schedule_id, next_run_at: _, created_at: __, updated_at: ___, ...plan } = schedule
  return request<Schedule>(scheduleAt(schedule_id), sendJson('PUT', plan))
}
export const deleteSchedule = (id: string) => request<unknown>(scheduleAt(id), DELETE)

export type ApiKey = {
  id: string
  owner: string
  name: string
  scopes: string[]
  created_at: string
  expires_at: string | null
}

export const listKeys = async (pageId: string | null) => {
  const page = await request<{ keys: ApiKey[]; next_page_id: string | null }>(`/api/keys?limit=50${pageQuery(pageId)}`)
  return { rows: page.keys, next: page.next_page_id }
}
export const createKey = (key: { owner: string; name: string; scopes: string[]; expires_at: string | null }) =>
  request<ApiKey & { key: string }>('/api/keys', sendJson('POST', key))
export const revokeKey = (id: string) => request<unknown>(`/api/keys/${encodeURIComponent(id)}`, DELETE)

export type UsageLimit = {
  limit: string
  used: number
  allowed: number
  unit: 'count' | 'bytes'
  resets_at: string | null
}

export const getUsage = async () => (await request<{ limits: UsageLimit[] }>('/api/usage')).limits

export type BudgetAmount = {
  limit: number | null
  own: number | null
  ceiling: number | null
  used: number
  reserved: number
}
type SpanBudget = { resets_at: string; usd: BudgetAmount; tokens: BudgetAmount; unpriced_calls: number }
export type Budget = { is_counted: boolean; day: SpanBudget; month: SpanBudget }
export type BudgetChange = Record<'day_usd' | 'day_tokens' | 'month_usd' | 'month_tokens', number | null>

export const getBudget = () => request<Budget>('/api/budget')
export const saveBudget = (change: BudgetChange) => request<Budget>('/api/budget', sendJson('PUT', change))

export type AuditRecord = {
  id: number
  at: string
  actor: string
  action: string
  subject: string | null
  fields: string[]
}

/** Every action in the audit log. */
export const AUDIT_NAMES = {
  'key.issued': 'API key issued',
  'key.revoked': 'API key revoked',
  'settings.changed': 'Settings changed',
  'security.policy_changed': 'Confirmation policy changed',
  'security.level_changed': 'Confirmation level changed',
  'secret.created': 'Secret created',
  'secret.changed': 'Secret changed',
  'secret.deleted': 'Secret deleted',
  'provider_token.stored': 'Token of a git host stored',
  'provider_tokens.unset': 'Tokens of git hosts removed',
  'conversation.deleted': 'Conversation deleted',
  'share.created': 'Link to a conversation made',
  'share.revoked': 'Link to a conversation taken back',
  'channel.saved': 'Notification channel saved',
  'channel.deleted': 'Notification channel deleted',
  'configuration.exported': 'Configuration exported',
  'owner.deleted': 'Owner deleted',
} as const satisfies Record<string, Text>

export const listAudit = async (pageId: string | null) => {
  type Page = { records: AuditRecord[]; next_page_id: string | null }
  const page = await request<Page>(`/api/audit?limit=50${pageQuery(pageId)}`)
  return { rows: page.records, next: page.next_page_id }
}

const DELETE: RequestInit = { method: 'DELETE' }
const pageQuery = (pageId: string | null): string => (pageId === null ? '' : `&page_id=${encodeURIComponent(pageId)}`)

// Settings between the wire and the store.

import type { SettingName, Settings, SettingsChange } from '../../db/settings.ts'
import { fromMcpServers, toMcpServers } from './mcp-wire.ts'
import type { GETSettingsModel, SettingsBody } from './settings-schemas.ts'

type WireName = Exclude<keyof SettingsBody, 'search_api_key_set'>

const STORED_AS = {
  language: 'language',
  agent: 'agent',
  max_iterations: 'maxIterations',
  security_analyzer: 'securityAnalyzer',
  confirmation_mode: 'confirmationMode',
  llm_model: 'llmModel',
  llm_api_key: 'llmApiKey',
  llm_base_url: 'llmBaseUrl',
  remote_runtime_resource_factor: 'remoteRuntimeResourceFactor',
  enable_default_condenser: 'enableDefaultCondenser',
  enable_sound_notifications: 'enableSoundNotifications',
  enable_proactive_conversation_starters: 'enableProactiveConversationStarters',
  enable_solvability_analysis: 'enableSolvabilityAnalysis',
  user_consents_to_analytics: 'userConsentsToAnalytics',
  sandbox_base_container_image: 'sandboxBaseContainerImage',
  sandbox_runtime_container_image: 'sandboxRuntimeContainerImage',
  mcp_config: 'mcpServers',
  search_api_key: 'searchApiKey',
  sandbox_api_key: 'sandboxApiKey',
  max_budget_per_task: 'maxBudgetPerTask',
  email: 'email',
  email_verified: 'emailVerified',
  git_user_name: 'gitUserName',
  git_user_email: 'gitUserEmail',
} as const satisfies Record<WireName, SettingName>

const NAMES = Object.entries(STORED_AS) as [WireName, SettingName][]

/** Fields whose null a client sends without meaning to change anything. */
const KEPT_ON_NULL: ReadonlySet<WireName> = new Set([
  'llm_model',
  'llm_api_key',
  'llm_base_url',
  'user_consents_to_analytics',
  'search_api_key',
])

/** Fields whose empty text takes the stored value away. */
const CLEARED_BY_EMPTY: ReadonlySet<WireName> = new Set(['llm_api_key', 'llm_base_url', 'sandbox_api_key'])

/** What a request changes. A field that is absent from it is kept. */
export function toChange(body: SettingsBody): SettingsChange {
  const change: Record<string, unknown> = {}
  for (const [wireName, name] of NAMES) {
    const value = body[wireName]
    if (value === undefined || (value === null && KEPT_ON_NULL.has(wireName))) continue
    // The web client sends an empty search key with every save: it never learns the stored one.
    if (value === '' && wireName === 'search_api_key') continue
    change[name] = value === '' && CLEARED_BY_EMPTY.has(wireName) ? null : value
  }
  // The reference's client leaves the analyzer out when it switches confirmation off, and means both.
  if (body.confirmation_mode === false && body.security_analyzer === undefined) change.securityAnalyzer = null
  if (body.search_api_key_set === false && !body.search_api_key) change.searchApiKey = null
  if (body.mcp_config) change.mcpServers = toMcpServers(body.mcp_config)
  return change
}

/** The answer: everything but the keys, of which it tells whether they are there. */
export function toModel(
  settings: Settings,
  hosts: readonly { provider: string; host: string | null }[],
): GETSettingsModel {
  const { llmApiKey, searchApiKey, mcpServers } = settings
  const fields = Object.fromEntries(NAMES.map(([wireName, name]) => [wireName, settings[name]]))
  return {
    ...(fields as Pick<GETSettingsModel, WireName>),
    llm_api_key: null,
    search_api_key: null,
    sandbox_api_key: null,
    mcp_config: mcpServers && fromMcpServers(mcpServers),
    secrets_store: { provider_tokens: {} },
    provider_tokens_set: Object.fromEntries(hosts.map(({ provider, host }) => [provider, host])),
    llm_api_key_set: llmApiKey !== null,
    search_api_key_set: searchApiKey !== null,
  }
}

/** The name that clients know a stored field by. */
export function wireNameOf(name: string): string {
  return NAMES.find(([, stored]) => stored === name)?.[0] ?? name
}

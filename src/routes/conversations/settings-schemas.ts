// Settings in requests and answers. An absent field is not changed; the meaning of null is described in
// `docs/settings.md`.

import { z } from '@hono/zod-openapi'
import { RUNTIME_KINDS } from '../../agent/runtime.ts'
import type { McpServers, SettingName, Settings, SettingsChange } from '../../db/settings.ts'
import { line, pastedKey } from '../../http/validation.ts'
import { laxBool, laxInt, laxNumber } from '../../lib/lax.ts'
import { Label } from '../../runners/wire.ts'
import { MCPConfig, ProviderType } from './schemas.ts'

const text = () => line({ max: 4_096 }).nullish()
const key = () => pastedKey({ max: 16_384 }).nullish()
const amount = () => laxInt({ min: 0 }).nullish()
/** Empty if there is none. */
const address = () =>
  line({ max: 4_096 })
    .refine((value) => value.trim() === '' || isWebAddress(value.trim()), {
      error: 'must be an address such as https://models.example.com/v1',
    })
    .nullish()
const flag = () => laxBool().nullish()
/** Clients send back what they read, and expect booleans here. */
const firmFlag = () => laxBool().optional()

/** The name of a folder or a file; git's own folder is always synchronized. */
const UnsyncedName = line({ max: 255 }).refine(
  (name) => /^[^/\\]+$/.test(name) && !['.', '..', '.git'].includes(name),
  {
    error: 'must be the name of a folder or a file, without a path, and not .git',
  },
)

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

export const SettingsBody = z
  .object({
    language: text(),
    agent: text(),
    max_iterations: laxInt({ min: 1 }).nullish(),
    security_analyzer: text(),
    confirmation_mode: flag(),
    llm_model: text(),
    llm_api_key: key(),
    llm_base_url: address(),
    remote_runtime_resource_factor: amount(),
    enable_default_condenser: firmFlag(),
    enable_sound_notifications: firmFlag(),
    enable_proactive_conversation_starters: firmFlag(),
    enable_solvability_analysis: firmFlag(),
    user_consents_to_analytics: flag(),
    sandbox_base_container_image: text(),
    sandbox_runtime_container_image: text(),
    mcp_config: MCPConfig.nullish(),
    search_api_key: key(),
    /** False without a key removes the stored key; an empty key does not. */
    search_api_key_set: flag(),
    sandbox_api_key: key(),
    max_budget_per_task: laxNumber({ min: 0 }).nullish(),
    email: text(),
    email_verified: flag(),
    git_user_name: text(),
    git_user_email: text(),
    runtime: z.enum(RUNTIME_KINDS).nullish(),
    runner_labels: z.array(Label).max(32).nullish(),
    runner_unsynced: z.array(UnsyncedName).max(100).nullish(),
  })
  .openapi('Settings')
export type SettingsBody = z.infer<typeof SettingsBody>

/** The model to test; missing values are taken from the stored settings. */
export const ModelTrial = z
  .object({ llm_model: text(), llm_base_url: address(), llm_api_key: key() })
  .openapi('ModelTrial')
export type ModelTrial = z.infer<typeof ModelTrial>

export const ModelTest = z
  .object({
    ok: z.boolean().describe('Whether the model answered'),
    model: z.string().nullable().describe('The model that was asked; null where none could be'),
    reply: z.string().nullable().describe('The beginning of its answer'),
    latency_ms: z.int().nullable().describe('From the question to the end of the answer'),
    failure: z
      .string()
      .nullable()
      .describe('The kind of the failure: `authentication`, `needs-key`, `timeout` and the like'),
    error: z.string().nullable().describe('What went wrong, for people'),
  })
  .openapi('ModelTest')
export type ModelTest = z.infer<typeof ModelTest>

/** Clients expect it in the settings; it is always empty there. */
const UserSecretsOutput = z
  .object({
    provider_tokens: z.record(z.string(), z.unknown()).optional(),
    custom_secrets: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('UserSecrets-Output')

const shown = () => z.string().nullable()
const never = () => z.string().nullable().openapi({ format: 'password', writeOnly: true })

export const GETSettingsModel = z
  .object({
    language: shown(),
    agent: shown(),
    max_iterations: z.int().nullable(),
    security_analyzer: shown(),
    confirmation_mode: z.boolean().nullable(),
    llm_model: shown(),
    llm_api_key: never(),
    llm_base_url: shown(),
    remote_runtime_resource_factor: z.int().nullable(),
    enable_default_condenser: z.boolean().default(true),
    enable_sound_notifications: z.boolean().default(false),
    enable_proactive_conversation_starters: z.boolean().default(true),
    enable_solvability_analysis: z.boolean().default(true),
    user_consents_to_analytics: z.boolean().nullable(),
    sandbox_base_container_image: shown(),
    sandbox_runtime_container_image: shown(),
    mcp_config: MCPConfig.nullable(),
    search_api_key: never(),
    sandbox_api_key: never(),
    max_budget_per_task: z.number().nullable(),
    email: shown(),
    email_verified: z.boolean().nullable(),
    git_user_name: shown(),
    git_user_email: shown(),
    runtime: z.enum(RUNTIME_KINDS).nullable(),
    runner_labels: z.array(z.string()).nullable(),
    runner_unsynced: z.array(z.string()).nullable(),
    secrets_store: UserSecretsOutput,
    provider_tokens_set: z.partialRecord(ProviderType, z.string().nullable()).nullable(),
    llm_api_key_set: z.boolean(),
    search_api_key_set: z.boolean().default(false),
  })
  .openapi('GETSettingsModel')
export type GETSettingsModel = z.infer<typeof GETSettingsModel>

// Converts settings between requests and the storage.

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
  runtime: 'runtime',
  runner_labels: 'runnerLabels',
  runner_unsynced: 'runnerUnsynced',
} as const satisfies Record<WireName, SettingName>

const NAMES = Object.entries(STORED_AS) as [WireName, SettingName][]

/** Fields for which a client sends null without intending a change. */
const KEPT_ON_NULL: ReadonlySet<WireName> = new Set([
  'llm_model',
  'llm_api_key',
  'llm_base_url',
  'user_consents_to_analytics',
  'search_api_key',
])

/** Fields for which an empty text removes the stored value. */
const CLEARED_BY_EMPTY: ReadonlySet<WireName> = new Set(['llm_api_key', 'llm_base_url', 'sandbox_api_key'])

/** The changes in a request. An absent field is not changed. */
export function toChange(body: SettingsBody): SettingsChange {
  const change: Record<string, unknown> = {}
  for (const [wireName, name] of NAMES) {
    const value = body[wireName]
    if (value === undefined || (value === null && KEPT_ON_NULL.has(wireName))) continue
    // The web client sends an empty search key with every save, because it never receives the stored one.
    if (value === '' && wireName === 'search_api_key') continue
    change[name] = value === '' && CLEARED_BY_EMPTY.has(wireName) ? null : value
  }
  // The reference's client omits the analyzer when it turns confirmation off, and intends to clear both.
  if (body.confirmation_mode === false && body.security_analyzer === undefined) change.securityAnalyzer = null
  if (body.search_api_key_set === false && !body.search_api_key) change.searchApiKey = null
  if (body.mcp_config) change.mcpServers = toMcpServers(body.mcp_config)
  return change
}

/** The answer: everything except the keys; for those it says whether they are set. */
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

/** The name of a stored field in the interface. */
export function wireNameOf(name: string): string {
  return NAMES.find(([, stored]) => stored === name)?.[0] ?? name
}

type Config = z.infer<typeof MCPConfig>

export function toMcpServers(config: Config): McpServers {
  const remote = ({ url, api_key = null }: Config['sse_servers'][number]) => ({ url, apiKey: api_key })
  return {
    sse: config.sse_servers.map(remote),
    shttp: config.shttp_servers.map(remote),
    stdio: config.stdio_servers,
  }
}

function fromMcpServers({ sse, shttp, stdio }: McpServers): Config {
  const remote = ({ url, apiKey }: McpServers['sse'][number]) => ({ url, api_key: apiKey })
  return { sse_servers: sse.map(remote), stdio_servers: stdio, shttp_servers: shttp.map(remote) }
}

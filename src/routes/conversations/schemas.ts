// The JSON shapes of the conversation family that more than one endpoint uses, with their names in the document.

import { z } from '@hono/zod-openapi'
import { laxInt } from '../../lib/lax.ts'

export const CONVERSATION_ID = /^[A-Za-z0-9_-]{1,64}$/

const ConversationStatus = z.enum(['STARTING', 'RUNNING', 'STOPPED']).openapi('ConversationStatus')

export const ProviderType = z.enum(['github', 'gitlab', 'bitbucket', 'enterprise_sso']).openapi('ProviderType')

const TRIGGERS = [
  'resolver',
  'gui',
  'suggested_task',
  'service_api',
  'microagent_management',
  'slack',
  'jira',
  'jira_dc',
  'linear',
] as const

export const ConversationTrigger = z.enum(TRIGGERS).openapi('ConversationTrigger')

const RuntimeStatus = z
  .enum([
    'STATUS$STOPPED',
    'STATUS$BUILDING_RUNTIME',
    'STATUS$STARTING_RUNTIME',
    'STATUS$RUNTIME_STARTED',
    'STATUS$SETTING_UP_WORKSPACE',
    'STATUS$SETTING_UP_GIT_HOOKS',
    'STATUS$READY',
    'STATUS$ERROR',
    'STATUS$ERROR_RUNTIME_DISCONNECTED',
    'STATUS$ERROR_LLM_AUTHENTICATION',
    'STATUS$ERROR_LLM_SERVICE_UNAVAILABLE',
    'STATUS$ERROR_LLM_INTERNAL_SERVER_ERROR',
    'STATUS$ERROR_LLM_OUT_OF_CREDITS',
    'STATUS$ERROR_LLM_CONTENT_POLICY_VIOLATION',
    'CHAT_INTERFACE$AGENT_RATE_LIMITED_STOPPED_MESSAGE',
    'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR',
    'STATUS$LLM_RETRY',
    'STATUS$ERROR_MEMORY',
  ])
  .openapi('RuntimeStatus')

export const ConversationInfo = z
  .object({
    conversation_id: z.string(),
    title: z.string(),
    last_updated_at: z.iso.datetime().nullable().optional(),
    status: ConversationStatus.default('STOPPED'),
    runtime_status: RuntimeStatus.nullable().optional(),
    agent_state: z.string().nullable().optional().describe('What the agent does, as its last change of state said'),
    selected_repository: z.string().nullable().optional(),
    selected_branch: z.string().nullable().optional(),
    git_provider: ProviderType.nullable().optional(),
    trigger: ConversationTrigger.nullable().optional(),
    num_connections: z.int().default(0),
    url: z.string().nullable().optional(),
    session_api_key: z.string().nullable().optional(),
    created_at: z.iso.datetime(),
    pr_number: z.array(z.int()),
  })
  .openapi('ConversationInfo')

export const ConversationInfoResultSet = z
  .object({ results: z.array(ConversationInfo), next_page_id: z.string().nullable().optional() })
  .openapi('ConversationInfoResultSet')

export const ConversationResponse = z
  .object({
    status: z.string(),
    conversation_id: z.string(),
    message: z.string().nullable().optional(),
    conversation_status: ConversationStatus.nullable().optional(),
  })
  .openapi('ConversationResponse')

export const SuggestedTask = z
  .object({
    git_provider: ProviderType,
    task_type: z.enum([
      'MERGE_CONFLICTS',
      'FAILING_CHECKS',
      'UNRESOLVED_COMMENTS',
      'OPEN_ISSUE',
      'OPEN_PR',
      'CREATE_MICROAGENT',
    ]),
    repo: z.string(),
    issue_number: laxInt(),
    title: z.string(),
  })
  .openapi('SuggestedTask')

const CreateMicroagent = z
  .object({ repo: z.string(), git_provider: ProviderType.nullish(), title: z.string().nullish() })
  .openapi('CreateMicroagent')

const serverUrl = z
  .string()
  .trim()
  .refine(
    (text) => URL.canParse(text) && /^(https?|wss?):$/.test(new URL(text).protocol) && new URL(text).host !== '',
    {
      error: 'URL must have a host and a scheme of http, https, ws or wss',
    },
  )

/** A plain string stands for an object with only that value. */
const remoteServer = (name: string) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? { url: value } : value),
    z.object({ url: serverUrl, api_key: z.string().nullish() }).openapi(name),
  )

const MCPStdioServerConfig = z
  .object({
    name: z.string().regex(/^[A-Za-z0-9_-]+$/),
    command: z.string().regex(/^\S+$/),
    args: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : value),
        z.array(z.string()),
      )
      .default([]),
    env: z.preprocess(readEnv, z.record(z.string(), z.string())).default({}),
  })
  .openapi('MCPStdioServerConfig')

function readEnv(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const pairs = value.split(',').filter(Boolean)
  if (pairs.some((pair) => !pair.includes('='))) return value
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

export const MCPConfig = z
  .strictObject({
    sse_servers: z.array(remoteServer('MCPSSEServerConfig')).default([]),
    stdio_servers: z.array(MCPStdioServerConfig).default([]),
    shttp_servers: z.array(remoteServer('MCPSHTTPServerConfig')).default([]),
  })
  .openapi('MCPConfig')

export const InitSessionRequest = z
  .strictObject({
    repository: z.string().nullish(),
    git_provider: ProviderType.nullish(),
    selected_branch: z.string().nullish(),
    initial_user_msg: z.string().nullish(),
    image_urls: z.array(z.string()).nullish(),
    replay_json: z.string().nullish(),
    suggested_task: SuggestedTask.nullish(),
    create_microagent: CreateMicroagent.nullish(),
    conversation_instructions: z.string().nullish(),
    mcp_config: MCPConfig.nullish(),
    conversation_id: z.string().regex(CONVERSATION_ID).optional(),
  })
  .openapi('InitSessionRequest')
export type InitSessionRequest = z.infer<typeof InitSessionRequest>

export const ConversationPath = z.object({ conversation_id: z.string() })

// Every endpoint of the two interface descriptions. A row stands under `pending` until it is built; the contract test then
// holds the document to the row, and lets the number of pending rows only fall.

import { type Endpoint, endpoint, form, json, nullable, optional, required } from './table.ts'

/** How many rows may still be pending. Lower it with every row that is built; it never rises. */
export const PENDING_LIMIT = 0

const one = '/api/conversations/{conversation_id}'
const unknownId = [404]

const options: Endpoint[] = [
  endpoint('GET /api/options/models', 'string[]'),
  endpoint('GET /api/options/agents', 'string[]'),
  endpoint('GET /api/options/security-analyzers', 'string[]'),
  endpoint('GET /api/options/config', 'object'),
]

const health: Endpoint[] = [
  endpoint('GET /alive', 'any', { open: true }),
  endpoint('GET /health', 'string', { open: true }),
]

const workspace: Endpoint[] = [
  endpoint(`GET ${one}/list-files`, 'string[]', {
    query: [optional('path')],
    errors: [404, 500],
    decided: [400],
    added: ['at'],
  }),
  endpoint(`GET ${one}/select-file`, 'map', {
    query: [required('file')],
    errors: [415, 500],
    decided: [400, ...unknownId],
    added: ['at'],
  }),
  endpoint(`POST ${one}/upload-files`, 'POSTUploadFilesModel', {
    body: form('Body_upload_files'),
    decided: [...unknownId, 413, 429],
    added: ['unpack'],
  }),
  endpoint(`GET ${one}/zip-directory`, 'bytes', { errors: [500], decided: [400, ...unknownId], added: ['at'] }),
  endpoint(`GET ${one}/git/changes`, 'map[]', { errors: [404, 500] }),
  endpoint(`GET ${one}/git/diff`, 'object', {
    query: [required('path')],
    errors: [500],
    decided: unknownId,
    added: ['exact'],
  }),
  // Too much feedback on one conversation, or no place to store it.
  endpoint(`POST ${one}/submit-feedback`, 'any', { body: json('any'), decided: [...unknownId, 429, 500] }),
  endpoint(`GET ${one}/config`, 'any', { decided: unknownId }),
  endpoint(`GET ${one}/microagents`, 'any', { decided: unknownId }),
  endpoint(`GET ${one}/trajectory`, 'any', { decided: [...unknownId, 500] }),
  endpoint(`GET ${one}/remember-prompt`, 'any', { query: [required('event_id', 'integer')], decided: unknownId }),
]

const events: Endpoint[] = [
  endpoint(`GET ${one}/events`, 'any', {
    query: [
      optional('start_id', 'integer', { default: 0 }),
      nullable('end_id', 'integer'),
      optional('reverse', 'boolean', { default: false }),
      optional('limit', 'integer', { default: 20 }),
    ],
    body: json('EventFilter|null', false),
    // A limit outside 0 to 100 is refused.
    decided: [400, ...unknownId],
    added: ['exclude_hidden', 'query', 'include_types', 'exclude_types', 'source', 'start_date', 'end_date'],
  }),
  endpoint(`POST ${one}/events`, 'any', {
    body: json('any'),
    decided: [202, ...unknownId, 409, 429],
    added: ['wait'],
  }),
]

const conversations: Endpoint[] = [
  endpoint('POST /api/conversations', 'ConversationResponse', {
    query: [
      optional('agent', 'string'),
      optional('labels', 'string'),
      optional('model', 'string'),
      optional('runtime', 'string'),
    ],
    body: json('InitSessionRequest'),
    decided: [400, 429],
  }),
  endpoint('GET /api/conversations', 'ConversationInfoResultSet', {
    query: [
      nullable('page_id'),
      optional('limit', 'integer', { default: 20 }),
      nullable('selected_repository'),
      nullable('conversation_trigger', 'ConversationTrigger'),
    ],
    decided: [400],
  }),
  endpoint(`GET ${one}`, 'ConversationInfo|null'),
  endpoint(`DELETE ${one}`, 'boolean'),
  endpoint(`PATCH ${one}`, 'boolean', { body: json('UpdateConversationRequest'), decided: unknownId }),
  endpoint(`POST ${one}/start`, 'ConversationResponse', {
    body: json('ProvidersSetModel'),
    also: { 404: 'ConversationResponse' },
    decided: unknownId,
  }),
  endpoint(`POST ${one}/stop`, 'ConversationResponse'),
]

const settings: Endpoint[] = [
  endpoint('GET /api/settings', 'GETSettingsModel', { errors: [401, 404], decided: [500] }),
  endpoint('POST /api/settings', 'object', { body: json('Settings'), errors: [500] }),
  // It has no success: the function is gone, and the answer says so.
  endpoint('POST /api/reset-settings', 'object', { status: 410, deprecated: true }),
  endpoint('POST /api/add-git-providers', 'any', { body: json('POSTProviderModel'), decided: [500, 502] }),
  endpoint('POST /api/unset-provider-tokens', 'map', { decided: [500] }),
]

const secrets: Endpoint[] = [
  endpoint('GET /api/secrets', 'GETCustomSecrets', { decided: [500] }),
  endpoint('POST /api/secrets', 'map', { body: json('CustomSecretModel'), status: 201, decided: [400, 500] }),
  endpoint('PUT /api/secrets/{secret_id}', 'map', {
    body: json('CustomSecretWithoutValueModel'),
    decided: [400, 404, 500],
  }),
  endpoint('DELETE /api/secrets/{secret_id}', 'any', { decided: [404, 500] }),
]

const repository = '/api/user/repository/{repository_name}'
/** All providers failed: no valid token, an error of theirs, or no answer in time. */
const providersFailed = [502, 504]

const user: Endpoint[] = [
  endpoint('GET /api/user/installations', 'string[]', {
    query: [required('provider', 'ProviderType')],
    decided: [400, ...providersFailed],
  }),
  endpoint('GET /api/user/repositories', 'Repository[]', {
    query: [
      optional('sort', 'string', { default: 'pushed' }),
      nullable('selected_provider', 'ProviderType'),
      nullable('page', 'integer'),
      nullable('per_page', 'integer'),
      nullable('installation_id'),
    ],
    decided: providersFailed,
  }),
  endpoint('GET /api/user/info', 'User', { decided: providersFailed }),
  endpoint('GET /api/user/search/repositories', 'Repository[]', {
    query: [
      required('query'),
      optional('per_page', 'integer', { default: 5 }),
      optional('sort', 'string', { default: 'stars' }),
      optional('order', 'string', { default: 'desc' }),
      nullable('selected_provider', 'ProviderType'),
    ],
    decided: providersFailed,
  }),
  endpoint('GET /api/user/suggested-tasks', 'SuggestedTask[]', { decided: providersFailed }),
  endpoint('GET /api/user/repository/branches', 'Branch[]', {
    query: [required('repository')],
    decided: providersFailed,
  }),
  endpoint(`GET ${repository}/microagents`, 'MicroagentResponse[]', { decided: providersFailed }),
  endpoint(`GET ${repository}/microagents/content`, 'MicroagentContentResponse', {
    query: [required('file_path')],
    decided: [404, ...providersFailed],
  }),
]

const analysis: Endpoint[] = [
  endpoint('POST /api/v1/analysis/analyze', 'AnalysisResultResponse', {
    body: json('AnalyzeRequest'),
    added: ['Idempotency-Key', 'wait'],
    also: { 202: 'BatchTaskAcceptedResponse|TaskAccepted', 409: 'DuplicateTaskErrorResponse' },
    errors: [400, 500],
    // Too many of the owner's tasks are unfinished.
    decided: [429],
  }),
  endpoint('GET /api/v1/analysis/tasks', 'TaskListResponse', {
    query: [optional('status'), optional('limit', 'integer', { default: 20, minimum: 1, maximum: 100 })],
    added: ['filter_first'],
  }),
  endpoint('GET /api/v1/analysis/tasks/stream', 'stream', {
    added: ['after', 'session_api_key'],
    // Too many streams of the owner, or of everybody, are open.
    decided: [429, 503],
  }),
  endpoint('GET /api/v1/analysis/tasks/{task_id}/flow', 'RunFlowSnapshot', { errors: [404, 500] }),
  endpoint('GET /api/v1/analysis/status/{task_id}', 'TaskStatus', { errors: [404, 500] }),
  endpoint('POST /api/v1/analysis/market-review', 'MarketReviewAccepted', {
    body: json('MarketReviewRequest|null', false),
    added: ['Idempotency-Key'],
    status: 202,
    errors: [409, 500],
    // Too many of the owner's tasks are unfinished.
    decided: [429],
  }),
]

export const ENDPOINTS: readonly Endpoint[] = [
  ...options,
  ...health,
  ...workspace,
  ...events,
  ...conversations,
  ...settings,
  ...secrets,
  ...user,
  ...analysis,
]

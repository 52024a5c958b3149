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

/** Endpoints that neither description has: for keys, the console, sockets. They change nothing of what a row above means. */
export const ADDITIONS: readonly string[] = [
  'GET /api/health',
  'GET /api/v1/health',
  'GET /api/session',
  'POST /api/session',
  'DELETE /api/session',
  'POST /api/keys',
  'GET /api/keys',
  'DELETE /api/keys/{id}',
  'GET /api/audit',
  'GET /api/usage',
  'POST /api/settings/model-test',
  'GET /api/setup',
  'GET /api/v1/system/config',
  'POST /api/v1/system/config/llm/test-channel',
  'POST /api/v1/system/config/llm/discover-models',
  'POST /api/v1/system/config/notification/test-channel',
  'PUT /api/v1/system/config',
  'POST /api/v1/system/config/validate',
  'GET /api/v1/system/config/export',
  'POST /api/v1/system/config/import',
  'GET /api/v1/auth/status',
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/logout',
  'POST /api/v1/auth/settings',
  'POST /api/v1/auth/change-password',
  'GET /api/v1/system/config/setup/status',
  'GET /api/v1/system/scheduler/status',
  'POST /api/v1/system/scheduler/run-now',
  'GET /api/v1/alphasift/status',
  'GET /api/v1/alphasift/strategies',
  'POST /api/v1/alphasift/screen/tasks',
  'GET /api/v1/alphasift/screen/tasks/{task_id}',
  'GET /api/v1/alphasift/hotspots',
  'GET /api/v1/alphasift/hotspots/{topic}',
  'POST /api/v1/alphasift/install',
  'GET /api/runners',
  'DELETE /api/runners/{id}',
  'GET /api/runners/socket',
  'GET /api/conversations/{conversation_id}/runner',
  'GET /api/conversations/{conversation_id}/ws',
  'GET /api/conversations/{conversation_id}/terminal',
  'POST /api/conversations/{conversation_id}/fork',
  'GET /api/conversations/{conversation_id}/shares',
  'POST /api/conversations/{conversation_id}/shares',
  'DELETE /api/conversations/{conversation_id}/shares/{share_id}',
  'GET /api/shared',
  'GET /api/shared/events',
  'GET /api/shared/files',
  'GET /api/conversations/{conversation_id}/vscode-url',
  'GET /api/conversations/{conversation_id}/web-hosts',
  'DELETE /api/conversations/{conversation_id}/web-hosts/{port}',
  'GET /api/conversations/{conversation_id}/security/policy',
  'POST /api/conversations/{conversation_id}/security/policy',
  'GET /api/conversations/{conversation_id}/security/settings',
  'POST /api/conversations/{conversation_id}/security/settings',
  'GET /api/conversations/{conversation_id}/security/export-trace',
  'GET /api/security/policy',
  'POST /api/security/policy',
  'GET /api/security/settings',
  'POST /api/security/settings',
  'GET /api/security/export-trace',
  'POST /api/v1/analysis/tasks/{task_id}/cancel',
  'GET /api/v1/analysis/queue',
  'GET /api/v1/analysis/schedules',
  'PUT /api/v1/analysis/schedules',
  'POST /api/v1/analysis/schedules',
  'GET /api/v1/analysis/schedules/{schedule_id}',
  'PUT /api/v1/analysis/schedules/{schedule_id}',
  'DELETE /api/v1/analysis/schedules/{schedule_id}',
  'GET /api/v1/analysis/schedule-runs',
  'GET /api/v1/analysis/channels',
  'GET /api/v1/analysis/channels/{channel_id}',
  'PUT /api/v1/analysis/channels/{channel_id}',
  'DELETE /api/v1/analysis/channels/{channel_id}',
  'POST /api/v1/analysis/channels/{channel_id}/test',
  'GET /api/v1/analysis/deliveries',
  'GET /api/v1/analysis/deliveries/{delivery_id}',
  'POST /api/v1/analysis/deliveries/{delivery_id}/retry',
  'GET /api/v1/analysis/watchlists',
  'POST /api/v1/analysis/watchlists',
  'PUT /api/v1/analysis/watchlists',
  'GET /api/v1/analysis/watchlists/export',
  'POST /api/v1/analysis/watchlists/import',
  'GET /api/v1/analysis/watchlists/digest',
  'POST /api/v1/analysis/watchlists/{watchlist_id}/run',
  'GET /api/v1/analysis/watchlists/{watchlist_id}',
  'PUT /api/v1/analysis/watchlists/{watchlist_id}',
  'DELETE /api/v1/analysis/watchlists/{watchlist_id}',
  'POST /api/v1/analysis/watchlists/{watchlist_id}/stocks',
  'PUT /api/v1/analysis/watchlists/{watchlist_id}/stocks/{stock_code}',
  'DELETE /api/v1/analysis/watchlists/{watchlist_id}/stocks/{stock_code}',
  'GET /api/v1/stocks/watchlist',
  'POST /api/v1/stocks/watchlist/add',
  'POST /api/v1/stocks/watchlist/remove',
  'GET /api/v1/history',
  'DELETE /api/v1/history',
  'GET /api/v1/history/{record_id}',
  'GET /api/v1/history/{record_id}/markdown',
  'GET /api/v1/history/{record_id}/html',
  'GET /api/v1/history/{record_id}/chart.svg',
  'GET /api/v1/history/{record_id}/share-image',
  'GET /api/v1/history/{record_id}/share-image-html',
  'GET /api/v1/history/{record_id}/news',
  'GET /api/v1/history/{record_id}/diagnostics',
  'GET /api/v1/history/{record_id}/flow',
  'GET /api/v1/history/stocks',
  'DELETE /api/v1/history/by-code/{code}',
  'GET /api/v1/analysis/history/accuracy',
  'GET /api/v1/analysis/evidence',
  'GET /api/v1/analysis/evidence/ledger',
  'GET /api/v1/agent/skills',
  'POST /api/v1/agent/chat/stream',
  'GET /api/v1/agent/chat/sessions',
  'GET /api/v1/agent/chat/sessions/{session_id}',
  'DELETE /api/v1/agent/chat/sessions/{session_id}',
  'POST /api/v1/agent/chat/send',
  'GET /api/v1/usage/dashboard',
  'GET /api/v1/system/config/generation-backends/status',
  'POST /api/v1/system/config/generation-backends/status/preview',
  'POST /api/v1/system/config/generation-backends/smoke-test',
  'GET /api/v1/market/status',
  'GET /api/v1/decision-signals',
  'POST /api/v1/decision-signals',
  'POST /api/v1/decision-signals/reassess',
  'GET /api/v1/decision-signals/latest/{stock_code}',
  'GET /api/v1/decision-signals/outcomes',
  'POST /api/v1/decision-signals/outcomes/run',
  'GET /api/v1/decision-signals/outcomes/stats',
  'GET /api/v1/decision-signals/{signal_id}',
  'GET /api/v1/decision-signals/{signal_id}/outcomes',
  'GET /api/v1/decision-signals/{signal_id}/feedback',
  'PUT /api/v1/decision-signals/{signal_id}/feedback',
  'PATCH /api/v1/decision-signals/{signal_id}/status',
  'GET /api/v1/alerts/rules',
  'POST /api/v1/alerts/rules',
  'GET /api/v1/alerts/rules/{rule_id}',
  'PATCH /api/v1/alerts/rules/{rule_id}',
  'DELETE /api/v1/alerts/rules/{rule_id}',
  'POST /api/v1/alerts/rules/{rule_id}/enable',
  'POST /api/v1/alerts/rules/{rule_id}/disable',
  'POST /api/v1/alerts/rules/{rule_id}/test',
  'GET /api/v1/alerts/triggers',
  'GET /api/v1/alerts/notifications',
  'GET /api/v1/backtest/performance',
  'GET /api/v1/backtest/performance/{code}',
  'GET /api/v1/backtest/results',
  'POST /api/v1/backtest/run',
  'POST /api/conversations/continue-chat',
  'GET /api/v1/agent/strategies',
  'GET /api/v1/stocks/{code}/quote',
  'GET /api/v1/stocks/{code}/history',
  'GET /api/v1/stocks/search',
  'POST /api/v1/stocks/readings',
  'POST /api/v1/stocks/parse-import',
  'GET /api/v1/portfolio/accounts',
  'POST /api/v1/portfolio/accounts',
  'PUT /api/v1/portfolio/accounts/{account_id}',
  'DELETE /api/v1/portfolio/accounts/{account_id}',
  'POST /api/v1/portfolio/trades',
  'GET /api/v1/portfolio/trades',
  'DELETE /api/v1/portfolio/trades/{id}',
  'POST /api/v1/portfolio/cash-ledger',
  'GET /api/v1/portfolio/cash-ledger',
  'DELETE /api/v1/portfolio/cash-ledger/{id}',
  'POST /api/v1/portfolio/corporate-actions',
  'GET /api/v1/portfolio/corporate-actions',
  'DELETE /api/v1/portfolio/corporate-actions/{id}',
  'GET /api/v1/portfolio/fx/rates',
  'PUT /api/v1/portfolio/fx/rates',
  'DELETE /api/v1/portfolio/fx/rates',
  'POST /api/v1/portfolio/fx/refresh',
  'GET /api/v1/portfolio/imports/csv/brokers',
  'POST /api/v1/portfolio/imports/csv/parse',
  'POST /api/v1/portfolio/imports/csv/commit',
  'POST /api/v1/portfolio/positions/{symbol}/analysis',
  'GET /api/v1/portfolio/snapshot',
  'GET /api/v1/portfolio/risk',
  'POST /api/v1/stocks/extract-from-image',
  'POST /mcp',
  'POST /mcp/mcp',
]

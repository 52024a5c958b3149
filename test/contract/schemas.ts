// The shapes that the interface descriptions name, field by field. `!` behind a type: required; `=` a default; other words
// are those of the endpoint table. Fields whose type the description does not show are `any`.

export type Shape = {
  name: string
  fields: Record<string, string>
  /** Sent by clients: exactly the required fields are required. In answers we may promise more than we must. */
  request: boolean
  /** Unknown properties are refused. */
  closed: boolean
  /** The capability that the shape waits for, or false once something uses it. */
  pending: string | false
}

type Options = { request?: boolean; closed?: boolean; pending?: string }

const shape = (name: string, fields: Record<string, string>, options: Options = {}): Shape => ({
  name,
  fields,
  request: options.request ?? false,
  closed: options.closed ?? false,
  pending: options.pending ?? false,
})

/** Fields of which the description gives the name alone. */
const names = (list: string): Record<string, string> =>
  Object.fromEntries(list.split(/\s+/).map((name) => [name, 'any']))

const text = 'string|null'

const conversation: Shape[] = [
  shape('ConversationInfo', {
    conversation_id: 'string!',
    title: 'string!',
    last_updated_at: 'date-time|null',
    status: 'ConversationStatus="STOPPED"',
    runtime_status: 'RuntimeStatus|null',
    selected_repository: text,
    selected_branch: text,
    git_provider: 'ProviderType|null',
    trigger: 'ConversationTrigger|null',
    num_connections: 'integer=0',
    url: text,
    session_api_key: text,
    created_at: 'date-time',
    pr_number: 'integer[]',
  }),
  shape('ConversationInfoResultSet', { results: 'ConversationInfo[]', next_page_id: text }),
  shape('ConversationResponse', {
    status: 'string!',
    conversation_id: 'string!',
    message: text,
    conversation_status: 'ConversationStatus|null',
  }),
  shape(
    'InitSessionRequest',
    {
      repository: text,
      git_provider: 'ProviderType|null',
      selected_branch: text,
      initial_user_msg: text,
      image_urls: 'string[]|null',
      replay_json: text,
      suggested_task: 'SuggestedTask|null',
      create_microagent: 'CreateMicroagent|null',
      conversation_instructions: text,
      mcp_config: 'MCPConfig|null',
      conversation_id: 'string',
    },
    { request: true, closed: true },
  ),
  shape('CreateMicroagent', { repo: 'string!', git_provider: 'ProviderType|null', title: text }, { request: true }),
  shape(
    'SuggestedTask',
    {
      git_provider: 'ProviderType!',
      task_type: 'string!',
      repo: 'string!',
      issue_number: 'integer!',
      title: 'string!',
    },
    { request: true },
  ),
  shape(
    'MCPConfig',
    {
      sse_servers: 'MCPSSEServerConfig[]=[]',
      stdio_servers: 'MCPStdioServerConfig[]=[]',
      shttp_servers: 'MCPSHTTPServerConfig[]=[]',
    },
    { request: true, closed: true },
  ),
  shape('MCPSSEServerConfig', { url: 'string!', api_key: text }, { request: true }),
  shape('MCPSHTTPServerConfig', { url: 'string!', api_key: text }, { request: true }),
  shape(
    'MCPStdioServerConfig',
    { name: 'string!', command: 'string!', args: 'string[]=[]', env: 'map={}' },
    { request: true },
  ),
  shape(
    'EventFilter',
    {
      exclude_hidden: 'boolean=false',
      query: text,
      include_types: 'any[]|null',
      exclude_types: 'any[]|null',
      source: text,
      start_date: text,
      end_date: text,
    },
    { request: true },
  ),
  shape('Body_upload_files', { files: 'binary[]!' }, { request: true }),
  shape('POSTUploadFilesModel', { uploaded_files: 'string[]!', skipped_files: 'any!' }),
  shape('ExperimentConfig', { config: 'map|null' }),
  shape('HTTPValidationError', { detail: 'ValidationError[]' }),
  shape('ValidationError', { type: 'string!', loc: 'any!', msg: 'string!', input: 'any', ctx: 'any' }),
]

const settingsFields = {
  ...Object.fromEntries(
    `language agent security_analyzer llm_model llm_base_url sandbox_base_container_image
     sandbox_runtime_container_image email git_user_name git_user_email`
      .split(/\s+/)
      .map((name) => [name, text]),
  ),
  // Of this service alone.
  runtime: text,
  runner_labels: 'string[]|null',
  runner_unsynced: 'string[]|null',
  max_iterations: 'integer|null',
  confirmation_mode: 'boolean|null',
  llm_api_key: 'password|null',
  remote_runtime_resource_factor: 'integer|null',
  user_consents_to_analytics: 'boolean|null',
  mcp_config: 'MCPConfig|null',
  search_api_key: 'password|null',
  sandbox_api_key: 'password|null',
  max_budget_per_task: 'number|null',
  email_verified: 'boolean|null',
  secrets_store: 'UserSecrets-Output',
  enable_default_condenser: 'boolean=true',
  enable_sound_notifications: 'boolean=false',
  enable_proactive_conversation_starters: 'boolean=true',
  enable_solvability_analysis: 'boolean=true',
}

const accounts: Shape[] = [
  shape('GETSettingsModel', {
    ...settingsFields,
    provider_tokens_set: 'any',
    llm_api_key_set: 'boolean!',
    search_api_key_set: 'boolean=false',
  }),
  shape('CustomSecretModel', { name: 'string!', description: text, value: 'password!' }, { request: true }),
  shape('CustomSecretWithoutValueModel', { name: 'string!', description: text }, { request: true }),
  shape('GETCustomSecrets', { custom_secrets: 'CustomSecretWithoutValueModel[]|null' }),
  shape('Branch', { name: 'string!', commit_sha: 'string!', protected: 'boolean!', last_push_date: text }),
]

const analysis: Shape[] = [
  shape(
    'AnalyzeRequest',
    names(
      `stock_code stock_codes stock_name original_query selection_source report_type analysis_phase force_refresh
       notify skills report_language async_mode`,
    ),
  ),
  shape(
    'AnalysisResultResponse',
    names('query_id trace_id stock_code stock_name report diagnostic_summary created_at'),
  ),
  shape('AnalysisReport', names('meta summary strategy details')),
  shape('TaskAccepted', names('task_id trace_id status message analysis_phase')),
  shape('BatchTaskAcceptedResponse', names('accepted duplicates message')),
  shape('DuplicateTaskErrorResponse', names('error message stock_code existing_task_id')),
  shape(
    'TaskInfo',
    names(
      `task_id trace_id stock_code stock_name status progress message report_type created_at started_at completed_at
       error original_query selection_source analysis_phase skills region`,
    ),
  ),
  shape('TaskListResponse', { total: 'integer', pending: 'integer', processing: 'integer', tasks: 'TaskInfo[]' }),
  shape(
    'TaskStatus',
    names(
      `task_id trace_id status progress result market_review_report market_review_payload region error stock_name
       original_query selection_source analysis_phase skills`,
    ),
  ),
  shape('RunFlowSnapshot', {}),
  shape('MarketReviewRequest', names('send_notification report_language region')),
  shape('MarketReviewAccepted', names('status message send_notification region task_id trace_id')),
]

export const SHAPES: readonly Shape[] = [...conversation, ...accounts, ...analysis]

/** Values of the enumerations; null stands in none of them. */
export const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  ConversationStatus: ['STARTING', 'RUNNING', 'STOPPED'],
  ConversationTrigger: [
    'resolver',
    'gui',
    'suggested_task',
    'service_api',
    'microagent_management',
    'slack',
    'jira',
    'jira_dc',
    'linear',
  ],
  ProviderType: ['github', 'gitlab', 'bitbucket', 'enterprise_sso'],
}

// Made from /openapi.json by `npm run build:client-types`; not written by hand.

export type AccuracyByAction = {
  action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'
  horizons: AccuracyHorizon[]
}

export type AccuracyHorizon = {
  horizon: number
  count: number
  hits: number
  hit_rate: number | null
  hit_rate_low: number | null
  hit_rate_high: number | null
  average_return_pct: number | null
  median_return_pct: number | null
}

export type AccuracyResponse = {
  total: number
  pending: number
  unmeasured: number
  stocks: number
  calm_pct: number
  is_small_sample: boolean
  overall: AccuracyHorizon[]
  by_action: AccuracyByAction[]
  notes: string[]
}

export type AdviceBaselines = {
  least_sample: number
  sample: number
  base_rate_pct: number | null
  purchases: number
  purchases_net_return_pct: number | null
  cost_pct: number | null
  index_sample: number
  index_return_pct: number | null
  buy_and_hold_sample: number
  buy_and_hold_pct: number | null
}

export type AgentStand = {
  success: true
  event_id: number
  at_rest: boolean
  agent_state: string
  message: string | null
  last_event_id: number
}

export type AlertNotification = {
  id: number
  trigger_id: number | null
  channel: string
  attempt: number
  success: boolean
  error_code: string | null
  retryable: boolean
  latency_ms: number | null
  diagnostics: string | null
  created_at: string
}

export type AlertNotificationPage = {
  items: AlertNotification[]
  total: number
  page: number
  page_size: number
}

export type AlertQuietHours = {
  from: string
  to: string
  zone: string
}

export type AlertRule = {
  id: number
  name: string
  target_scope: 'single_symbol' | 'watchlist' | 'portfolio_holdings' | 'portfolio_account' | 'market'
  target: string
  alert_type: string
  parameters: Record<string, unknown>
  severity: 'info' | 'warning' | 'critical'
  enabled: boolean
  source: string
  cooldown_policy: {
    cooldown_seconds: number
  }
  notification_policy: {
    channels: string[] | null
    quiet_hours: AlertQuietHours | null
  }
  expires_at: string | null
  last_triggered_at: string | null
  cooldown_until: string | null
  cooldown_active: boolean
  has_doubts: boolean
  message: string
  created_at: string
  updated_at: string
}

export type AlertRuleChange = {
  name?: string | null
  target_scope?: 'single_symbol' | 'watchlist' | 'portfolio_holdings' | 'portfolio_account' | 'market'
  target?: string
  alert_type?: string
  parameters?: Record<string, unknown> | null
  severity?: 'info' | 'warning' | 'critical'
  enabled?: boolean
  source?: string | null
  cooldown_policy?: {
    cooldown_seconds?: number | null
  } | null
  notification_policy?: {
    channels?: string[] | null
    quiet_hours?: {
      from: string
      to: string
      zone: string
    } | null
  } | null
  expires_at?: string | null
  confirm?: boolean | null
}

export type AlertRuleInput = {
  name?: string | null
  target_scope?: 'single_symbol' | 'watchlist' | 'portfolio_holdings' | 'portfolio_account' | 'market'
  target: string
  alert_type: string
  parameters?: Record<string, unknown> | null
  severity?: 'info' | 'warning' | 'critical'
  enabled?: boolean
  source?: string | null
  cooldown_policy?: {
    cooldown_seconds?: number | null
  } | null
  notification_policy?: {
    channels?: string[] | null
    quiet_hours?: {
      from: string
      to: string
      zone: string
    } | null
  } | null
  expires_at?: string | null
  confirm?: boolean | null
}

export type AlertRulePage = {
  items: AlertRule[]
  total: number
  page: number
  page_size: number
  monitor: {
    state: 'on' | 'late' | 'off'
    last_run_at: string | null
    message: string | null
  }
}

export type AlertTestResult = {
  rule_id: number
  target_scope: 'single_symbol' | 'watchlist' | 'portfolio_holdings' | 'portfolio_account' | 'market'
  status: 'triggered' | 'not_triggered' | 'evaluation_error'
  triggered: boolean
  observed_value: number | null
  message: string
  evaluated_count: number
  triggered_count: number
  degraded_count: number
  skipped_count: number
  target_results: {
    target: string
    display_target: string
    status: 'triggered' | 'not_triggered' | 'evaluation_error'
    record_status: 'triggered' | 'skipped' | null
    triggered: boolean
    observed_value: number | null
    threshold: number | null
    message: string
  }[]
}

export type AlertTrigger = {
  id: number
  uid: string
  rule_id: number | null
  rule_name: string
  alert_type: string
  severity: string
  target: string
  observed_value: number | null
  threshold: number | null
  reason: string | null
  data_source: string | null
  data_timestamp: string | null
  triggered_at: string
  status: 'triggered' | 'skipped' | 'degraded' | 'failed'
  diagnostics: string | null
  market_phase_summary?: unknown
  analysis_context_pack_overview?: unknown
}

export type AlertTriggerPage = {
  items: AlertTrigger[]
  total: number
  page: number
  page_size: number
}

export type AnalysisReport = {
  meta: ReportMeta
  summary: ReportSummary
  strategy: ReportStrategy | null
  details: ReportDetails | null
}

export type AnalysisResultResponse = {
  query_id: string
  trace_id: string
  stock_code: string
  stock_name: string | null
  report: AnalysisReport
  diagnostic_summary: DiagnosticSummary | null
  created_at: string
}

export type AnalysisValidationError = {
  error: string
  message: string
  detail: ValidationError[]
}

export type AnalyzeRequest = {
  stock_code?: string | null
  stock_codes?: string[] | null
  stock_name?: string | null
  original_query?: string | null
  selection_source?: string | null
  report_type?: 'simple' | 'detailed' | 'full' | 'brief'
  analysis_phase?: 'auto' | 'premarket' | 'intraday' | 'postmarket'
  force_refresh?: boolean
  notify?: boolean
  async_mode?: boolean
  confirm?: boolean
  skills?: string[] | null
  strategies?: string[] | null
  report_language?: 'zh' | 'en' | 'ko' | null
  reportLanguage?: 'zh' | 'en' | 'ko' | null
}

export type ApiKeyInfo = {
  id: string
  owner: string
  name: string
  scopes: ('conversations' | 'analysis' | 'admin' | 'runner')[]
  created_at: string
  expires_at: string | null
}

export type ApiKeyList = {
  keys: ApiKeyInfo[]
  next_page_id: string | null
}

export type AuditPage = {
  records: AuditRecord[]
  next_page_id: string | null
}

export type AuditRecord = {
  id: number
  at: string
  actor: string
  action: 'key.issued' | 'key.revoked' | 'settings.changed' | 'security.policy_changed' | 'security.level_changed' | 'secret.created' | 'secret.changed' | 'secret.deleted' | 'provider_token.stored' | 'provider_tokens.unset' | 'conversation.deleted' | 'share.created' | 'share.revoked' | 'channel.saved' | 'channel.deleted' | 'configuration.exported' | 'owner.deleted'
  subject: string | null
  fields: string[]
}

export type AuthStatus = {
  authEnabled: boolean
  loggedIn: boolean
  passwordSet: boolean
  passwordChangeable: boolean
  setupState: 'enabled' | 'password_retained' | 'no_password'
}

export type BacktestItem = {
  analysis_history_id: number
  code: string
  stock_name: string | null
  analysis_date: string
  eval_window_days: number
  engine_version: string
  eval_status: 'completed' | 'insufficient_data'
  unable_reason: string | null
  operation_advice: string | null
  action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'
  action_label: string | null
  trend_prediction: string | null
  market_phase: 'premarket' | 'intraday' | 'postmarket' | 'unknown'
  market_phase_summary: MarketPhaseSummary | null
  position_recommendation: 'long' | 'cash' | null
  start_price: number | null
  end_close: number | null
  max_high: number | null
  min_low: number | null
  stock_return_pct: number | null
  actual_return_pct: number | null
  actual_movement: 'up' | 'down' | 'flat' | null
  direction_expected: 'up' | 'down' | 'not_down' | 'flat'
  direction_correct: boolean | null
  outcome: 'win' | 'loss' | 'neutral' | null
  stop_loss: number | null
  take_profit: number | null
  hit_stop_loss: boolean | null
  hit_take_profit: boolean | null
  first_hit: 'stop_loss' | 'take_profit' | 'ambiguous' | null
  first_hit_date: string | null
  first_hit_trading_days: number | null
  simulated_entry_price: number | null
  simulated_exit_price: number | null
  simulated_exit_reason: 'stop_loss' | 'take_profit' | 'window_end' | null
  simulated_return_pct: number | null
  index_return_pct: number | null
  buy_and_hold_pct: number | null
}

export type BacktestMetrics = {
  scope: 'overall' | 'stock'
  code: string | null
  eval_window_days: number
  engine_version: string
  computed_at: string
  total_evaluations: number
  completed_count: number
  insufficient_count: number
  long_count: number
  cash_count: number
  win_count: number
  loss_count: number
  neutral_count: number
  direction_accuracy_pct: number | null
  win_rate_pct: number | null
  neutral_rate_pct: number | null
  avg_stock_return_pct: number | null
  avg_simulated_return_pct: number | null
  stop_loss_trigger_rate: number | null
  take_profit_trigger_rate: number | null
  ambiguous_rate: number | null
  avg_days_to_first_hit: number | null
  advice_breakdown: Record<string, {
    total: number
    win: number
    loss: number
    neutral: number
  }>
  diagnostics: {
    phase_breakdown: {
      premarket: number
      intraday: number
      postmarket: number
      unknown: number
    }
    not_evaluated: Record<string, number>
    least_sample: number
    baselines: AdviceBaselines
    left_out: number
  }
}

export type BacktestResults = {
  total: number
  page: number
  limit: number
  items: BacktestItem[]
}

export type BacktestRun = {
  processed: number
  saved: number
  completed: number
  insufficient: number
  errors: number
  applied_eval_window_days: number
  message: string | null
  diagnostics: {
    empty_reason: 'no_matching_analysis' | 'no_new_results' | 'insufficient_daily_data' | null
    phase_breakdown: {
      premarket: number
      intraday: number
      postmarket: number
      unknown: number
    }
    not_evaluated: Record<string, number>
    least_sample: number
    baselines: AdviceBaselines
    left_out: number
  }
}

export type BacktestRunInput = {
  code?: string | null
  force?: boolean
  eval_window_days?: number | null
  min_age_days?: number | null
  analysis_date_from?: string | null
  analysis_date_to?: string | null
  limit?: number
}

export type BatchDuplicateTaskItem = {
  stock_code: string
  existing_task_id: string
  message: string
}

export type BatchTaskAcceptedItem = TaskAccepted & {
  stock_code: string
}

export type BatchTaskAcceptedResponse = {
  accepted: BatchTaskAcceptedItem[]
  duplicates: BatchDuplicateTaskItem[]
  message: string
  finished?: boolean
  tasks?: TaskInfo[]
}

export type Body_upload_files = {
  files: string[]
}

export type Branch = {
  name: string
  commit_sha: string
  protected: boolean
  last_push_date?: string | null
}

export type Budget = {
  owner: string
  is_counted: boolean
  day: SpanBudget
  month: SpanBudget
}

export type BudgetAmount = {
  limit: number | null
  own: number | null
  ceiling: number | null
  used: number
  reserved: number
}

export type BudgetChange = {
  day_usd?: number | null
  day_tokens?: number | null
  month_usd?: number | null
  month_tokens?: number | null
}

export type Calendar = {
  from: string
  to: string
  generated_at: string
  items: CalendarEvent[]
  total: number
  page: number
  page_size: number
  listings: CalendarListing[]
  listings_left_out: number
}

export type CalendarEvent = {
  id: string
  kind: 'earnings' | 'ex_dividend' | 'dividend_payment'
  stock_code: string
  stock_name: string | null
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  date: string
  date_to: string
  certainty: 'estimate' | 'scheduled' | 'published'
  period: string | null
  ex_date: string | null
  record_date: string | null
  pay_date: string | null
  announced_on: string | null
  amount_per_share: number | null
  currency: string | null
  marks: ('pay_left_out' | 'record_left_out' | 'amount_left_out' | 'amount_large' | 'amount_unchecked' | 'ex_closed')[]
  held_quantity: number | null
  expected_amount: number | null
  source: string
  notice: string | null
}

export type CalendarListing = {
  stock_code: string
  stock_name: string | null
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  state: 'known' | 'no_source' | 'failed' | 'not_asked'
  message: string | null
  source: string | null
  age_seconds: number | null
  is_stale: boolean
  left_out: number
  notice: string | null
}

export type ChangedWatchlist = Watchlist & {
  readings: StockReading[]
}

export type Channel = {
  channel_id: string
  kind: 'wecom' | 'dingtalk' | 'feishu' | 'telegram' | 'discord' | 'slack' | 'pushover' | 'ntfy' | 'gotify' | 'serverchan' | 'pushplus' | 'resend' | 'sendgrid' | 'mailgun' | 'webhook'
  mode: 'single' | 'digest'
  enabled: boolean
  settings: Record<string, unknown>
  secrets_set: string[]
  readable: boolean
  from_environment: boolean
  created_at: string | null
  updated_at: string | null
}

export type ChannelInput = ChannelInput_wecom | ChannelInput_dingtalk | ChannelInput_feishu | ChannelInput_telegram | ChannelInput_discord | ChannelInput_slack | ChannelInput_pushover | ChannelInput_ntfy | ChannelInput_gotify | ChannelInput_serverchan | ChannelInput_pushplus | ChannelInput_resend | ChannelInput_sendgrid | ChannelInput_mailgun | ChannelInput_webhook

export type ChannelInput_dingtalk = {
  kind: 'dingtalk'
  settings: {
    webhook_url?: string | null
    secret?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_discord = {
  kind: 'discord'
  settings: {
    webhook_url?: string | null
    username?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_feishu = {
  kind: 'feishu'
  settings: {
    webhook_url?: string | null
    secret?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_gotify = {
  kind: 'gotify'
  settings: {
    url?: string | null
    token?: string | null
    priority?: number | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_mailgun = {
  kind: 'mailgun'
  settings: {
    api_key?: string | null
    domain?: string | null
    from?: string | null
    to?: string[] | null
    api_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_ntfy = {
  kind: 'ntfy'
  settings: {
    url?: string | null
    topic?: string | null
    token?: string | null
    priority?: number | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_pushover = {
  kind: 'pushover'
  settings: {
    token?: string | null
    user?: string | null
    priority?: number | null
    api_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_pushplus = {
  kind: 'pushplus'
  settings: {
    token?: string | null
    topic?: string | null
    api_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_resend = {
  kind: 'resend'
  settings: {
    api_key?: string | null
    from?: string | null
    to?: string[] | null
    api_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_sendgrid = {
  kind: 'sendgrid'
  settings: {
    api_key?: string | null
    from?: string | null
    to?: string[] | null
    api_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_serverchan = {
  kind: 'serverchan'
  settings: {
    key?: string | null
    api_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_slack = {
  kind: 'slack'
  settings: {
    webhook_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_telegram = {
  kind: 'telegram'
  settings: {
    bot_token?: string | null
    chat_id?: string | null
    message_thread_id?: number | null
    api_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_webhook = {
  kind: 'webhook'
  settings: {
    url?: string | null
    token?: string | null
    secret?: string | null
    style?: 'fields' | 'bark' | null
    group?: string | null
    template?: string | null
    max_characters?: number | null
    recognises_repeats?: boolean | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelInput_wecom = {
  kind: 'wecom'
  settings: {
    webhook_url?: string | null
  }
  mode?: 'single' | 'digest'
  enabled?: boolean
}

export type ChannelTest = {
  ok: boolean
  outcome: 'sent' | 'rejected' | 'later' | 'unknown'
  error: string | null
  retry_after_seconds: number | null
}

export type ChatMessage = {
  id: string
  role: 'user' | 'assistant'
  content: string
  created_at: string
}

export type ChatRequest = {
  message: string
  session_id: string
  skills?: string[] | null
  strategies?: string[] | null
  context?: {
    stock_code?: string | null
    stock_name?: string | null
    [name: string]: unknown
  } | null
}

export type ChatSendRequest = {
  content: string
  title?: string | null
}

export type ChatSent = {
  success: boolean
  error?: string
  message?: string
}

export type ChatSession = {
  session_id: string
  title: string
  message_count: number
  created_at: string
  last_active: string
}

export type ConfigDocument = {
  config_version: string
  mask_token: '******'
  items: ConfigShownItem[]
}

export type ConfigExport = {
  content: string
  config_version: string
}

export type ConfigFieldSchema = {
  key: string
  title: string
  description: string
  category: 'base' | 'ai_model' | 'data_source' | 'notification' | 'system' | 'agent'
  data_type: 'string' | 'boolean' | 'array'
  ui_control: 'text' | 'password' | 'number' | 'select' | 'textarea' | 'switch' | 'time'
  is_sensitive: boolean
  is_required: false
  is_editable: boolean
  options: string[]
  validation: Record<string, unknown>
  display_order: number
  examples: string[]
  docs: {
    label: string
    href: string
  }[]
  warning_codes: string[]
}

export type ConfigImport = {
  config_version: string
  content: string
  reload_now?: boolean
}

export type ConfigIssue = {
  key: string
  code: string
  message: string
  severity: 'error'
  expected?: string
}

export type ConfigItem = {
  key: string
  value: string
}

export type ConfigShownItem = {
  key: string
  value: string
  raw_value_exists: boolean
  is_masked: boolean
  schema?: ConfigFieldSchema
}

export type ConfigValidated = {
  valid: boolean
  issues: ConfigIssue[]
}

export type ConfigValidation = {
  items: ConfigItem[]
}

export type ConfigWrite = {
  config_version: string
  mask_token?: string
  reload_now?: boolean
  items: ConfigItem[]
}

export type ConfigWritten = {
  success: true
  config_version: string
  applied_count: number
  skipped_masked_count: number
  reload_triggered: false
  updated_keys: string[]
  warnings: string[]
}

export type ContinueChatRequest = {
  session_id: string
}

export type ConversationError = {
  status: 'error'
  message: string
  msg_id: string
}

export type ConversationInfo = {
  conversation_id: string
  title: string
  last_updated_at?: string | null
  status?: ConversationStatus
  runtime_status?: RuntimeStatus | null
  agent_state?: string | null
  selected_repository?: string | null
  selected_branch?: string | null
  git_provider?: ProviderType | null
  trigger?: ConversationTrigger | null
  num_connections?: number
  url?: string | null
  session_api_key?: string | null
  created_at: string
  pr_number: number[]
}

export type ConversationInfoResultSet = {
  results: ConversationInfo[]
  next_page_id?: string | null
}

export type ConversationResponse = {
  status: string
  conversation_id: string
  message?: string | null
  conversation_status?: ConversationStatus | null
}

export type ConversationStatus = 'STARTING' | 'RUNNING' | 'STOPPED'

export type ConversationTrigger = 'resolver' | 'gui' | 'suggested_task' | 'service_api' | 'microagent_management' | 'slack' | 'jira' | 'jira_dc' | 'linear'

export type CreateApiKey = {
  owner: string
  name: string
  scopes: ('conversations' | 'analysis' | 'admin' | 'runner')[]
  expires_at?: string | null
}

export type CreateMicroagent = {
  repo: string
  git_provider?: ProviderType | null
  title?: string | null
}

export type CustomSecretModel = {
  name: string
  description?: string | null
  value: string
}

export type CustomSecretWithoutValueModel = {
  name: string
  description?: string | null
}

export type DecisionSignal = {
  id: number
  stock_code: string
  stock_name: string | null
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  source_type: 'analysis' | 'agent' | 'alert' | 'market_review' | 'manual'
  source_agent: string | null
  source_report_id: number | null
  trace_id: string | null
  trigger_source: string
  decision_profile: 'conservative' | 'balanced' | 'aggressive' | null
  market_phase: 'premarket' | 'intraday' | 'lunch_break' | 'closing_auction' | 'postmarket' | 'non_trading' | 'unknown' | null
  action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'
  action_label: string | null
  confidence: number | null
  score: number | null
  horizon: 'intraday' | '1d' | '3d' | '5d' | '10d' | 'swing' | 'long' | null
  entry_low: number | null
  entry_high: number | null
  stop_loss: number | null
  target_price: number | null
  reason: string | null
  catalyst_summary: string | null
  watch_conditions: string | null
  risk_summary: string | null
  invalidation: string | null
  plan_quality: 'complete' | 'partial' | 'minimal' | 'unknown'
  status: 'active' | 'expired' | 'invalidated' | 'closed' | 'archived'
  created_at: string
  expires_at: string | null
  updated_at: string
  evidence?: unknown
  data_quality_summary?: unknown
  metadata?: unknown
}

export type DecisionSignalBucket = {
  dimension: string
  value: string
  total: number
  completed: number
  unable: number
  hit: number
  miss: number
  neutral: number
  hit_rate_pct: number | null
  avg_stock_return_pct: number | null
  unable_reasons: Record<string, number>
}

export type DecisionSignalEntered = {
  item: DecisionSignal
  created: boolean
}

export type DecisionSignalFeedback = {
  signal_id: number
  feedback_value: 'useful' | 'not_useful' | null
  reason_code: string | null
  note: string | null
  source: 'web' | 'api' | null
  created_at: string | null
  updated_at: string | null
}

export type DecisionSignalFeedbackInput = {
  feedback_value: 'useful' | 'not_useful'
  reason_code?: string | null
  note?: string | null
  source?: 'web' | 'api'
}

export type DecisionSignalInput = {
  stock_code: string
  stock_name?: string | null
  market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' | null
  source_type?: 'analysis' | 'agent' | 'alert' | 'market_review' | 'manual'
  source_agent?: string | null
  source_report_id?: number | null
  trace_id?: string | null
  market_phase?: 'premarket' | 'intraday' | 'lunch_break' | 'closing_auction' | 'postmarket' | 'non_trading' | 'unknown' | null
  trigger_source?: string | null
  decision_profile?: 'conservative' | 'balanced' | 'aggressive' | null
  action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'
  action_label?: string | null
  confidence?: number | null
  score?: number | null
  horizon?: 'intraday' | '1d' | '3d' | '5d' | '10d' | 'swing' | 'long' | null
  entry_low?: number | null
  entry_high?: number | null
  stop_loss?: number | null
  target_price?: number | null
  reason?: string | string[] | null
  catalyst_summary?: string | string[] | null
  watch_conditions?: string | string[] | null
  risk_summary?: string | string[] | null
  invalidation?: string | string[] | null
  evidence?: unknown
  data_quality_summary?: unknown
  expires_at?: string | null
  metadata?: Record<string, unknown> | null
}

export type DecisionSignalOutcome = {
  id: number
  signal_id: number
  horizon: '1d' | '3d' | '5d' | '10d'
  engine_version: string
  eval_status: 'completed' | 'unable'
  outcome: 'hit' | 'miss' | 'neutral' | null
  direction_expected: 'up' | 'not_down' | 'not_up' | null
  direction_correct: boolean | null
  unable_reason: string | null
  anchor_date: string
  eval_window_days: number
  start_price: number | null
  end_close: number | null
  max_high: number | null
  min_low: number | null
  stock_return_pct: number | null
  net_return_pct: number | null
  index_return_pct: number | null
  buy_and_hold_pct: number | null
  holding_state: 'unknown'
}

export type DecisionSignalOutcomePage = {
  items: DecisionSignalOutcome[]
  total: number
  page: number
  page_size: number
}

export type DecisionSignalPage = {
  items: DecisionSignal[]
  total: number
  page: number
  page_size: number
}

export type DecisionSignalPreview = {
  preview: {
    action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'
    score: number | null
    confidence: number | null
    horizon: 'intraday' | '1d' | '3d' | '5d' | '10d' | 'swing' | 'long' | null
    entry_low: number | null
    entry_high: number | null
    stop_loss: number | null
    target_price: number | null
    reason: string | null
    risk_summary: string | null
    watch_conditions: string | null
    invalidation: string | null
    metadata: {
      guardrail_result: {
        raw_action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'
        final_action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'
        passed: boolean
      }
    }
  }
  item: null
  created: false
  warnings: {
    code: string
    message: string
    params: Record<string, unknown>
  }[]
  blocked_reason: null
}

export type DecisionSignalReassess = {
  source_report_id: number
  decision_profile?: 'conservative' | 'balanced' | 'aggressive'
  persist?: boolean
}

export type DecisionSignalRun = {
  signal_id?: number | null
  horizons?: ('1d' | '3d' | '5d' | '10d')[] | null
  force?: boolean
  market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' | null
  stock_code?: string | null
  action?: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert' | null
  source_type?: 'analysis' | 'agent' | 'alert' | 'market_review' | 'manual' | null
  status?: 'active' | 'expired' | 'invalidated' | 'closed' | 'archived' | null
  limit?: number
}

export type DecisionSignalRunResult = {
  items: DecisionSignalOutcome[]
  evaluated: number
  created: number
  updated: number
  skipped: number
  engine_version: string
}

export type DecisionSignalStats = {
  engine_version: string
  horizons: ('1d' | '3d' | '5d' | '10d')[]
  statuses: ('active' | 'expired' | 'invalidated' | 'closed' | 'archived')[]
  total: number
  completed: number
  unable: number
  hit: number
  miss: number
  neutral: number
  hit_rate_pct: number | null
  avg_stock_return_pct: number | null
  unable_reasons: Record<string, number>
  baselines: AdviceBaselines
  breakdowns: Record<string, DecisionSignalBucket[]>
  left_out: number
}

export type DecisionSignalStatusInput = {
  status: 'active' | 'expired' | 'invalidated' | 'closed' | 'archived'
  metadata?: Record<string, unknown> | null
}

export type DeleteOwner = {
  owner: string
  confirm: 'delete everything'
}

export type Delivery = {
  delivery_id: string
  subject: string
  channel_id: string
  kind: string
  mode: 'single' | 'digest'
  title: string
  status: 'pending' | 'delivered' | 'uncertain' | 'failed'
  parts: number
  sent: number
  unknown: number
  attempts: number
  error: string | null
  next_attempt_at: string | null
  created_at: string
  finished_at: string | null
}

export type DeliveryDetail = Delivery & {
  part_list: {
    part: number
    status: 'waiting' | 'sending' | 'sent' | 'unknown'
    attempts: number
    started_at: string | null
    settled_at: string | null
  }[]
}

export type DetailError = {
  detail: string
}

export type DiagnosticSummary = {
  trace_id?: string
  task_id?: string
  query_id?: string
  stock_code?: string
  trigger_source?: string
  status: 'normal' | 'degraded' | 'failed' | 'unknown'
  status_label: string
  reason: string
  components: {
    realtime_quote: {
      key: string
      label: string
      status: 'ok' | 'degraded' | 'failed' | 'unknown' | 'not_configured' | 'skipped'
      message: string
      details?: Record<string, unknown>
    }
    daily_data: {
      key: string
      label: string
      status: 'ok' | 'degraded' | 'failed' | 'unknown' | 'not_configured' | 'skipped'
      message: string
      details?: Record<string, unknown>
    }
    news: {
      key: string
      label: string
      status: 'ok' | 'degraded' | 'failed' | 'unknown' | 'not_configured' | 'skipped'
      message: string
      details?: Record<string, unknown>
    }
    llm: {
      key: string
      label: string
      status: 'ok' | 'degraded' | 'failed' | 'unknown' | 'not_configured' | 'skipped'
      message: string
      details?: Record<string, unknown>
    }
    notification: {
      key: string
      label: string
      status: 'ok' | 'degraded' | 'failed' | 'unknown' | 'not_configured' | 'skipped'
      message: string
      details?: Record<string, unknown>
    }
    history: {
      key: string
      label: string
      status: 'ok' | 'degraded' | 'failed' | 'unknown' | 'not_configured' | 'skipped'
      message: string
      details?: Record<string, unknown>
    }
  }
  copy_text: string
}

export type DuplicateTaskErrorResponse = {
  error: 'duplicate_task'
  message: string
  stock_code: string
  existing_task_id: string
}

export type ErrorBody = {
  error: string
}

export type ErrorResponse = {
  error: string
  message: string
  detail?: unknown
}

export type ErrorText = string

export type EventFilter = {
  exclude_hidden?: boolean
  query?: string | null
  include_types?: unknown[] | null
  exclude_types?: unknown[] | null
  source?: string | null
  start_date?: string | null
  end_date?: string | null
}

export type EvidenceResponse = {
  data: 'market' | 'sample'
  method_version: string | null
  computed_at: string | null
  from: string | null
  to: string | null
  series: number
  bars: number
  days: number
  left_out: number
  least_size: number
  total: number
  limit: number
  offset: number
  rows: EvidenceRow[]
}

export type EvidenceRow = {
  measure: 'sessions_5' | 'sessions_20' | 'plan'
  group: 'buy' | 'hold' | 'sell' | 'score_0_19' | 'score_20_39' | 'score_40_59' | 'score_60_79' | 'score_80_100'
  market: 'all' | 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  regime: 'all' | 'bull' | 'bear' | 'sideways' | 'unknown'
  count: number
  effective_size: number
  mean_return_pct: number
  return_low_pct: number | null
  return_high_pct: number | null
  random_entry_pct: number
  buy_and_hold_pct: number
  excess_pct: number | null
  excess_low_pct: number | null
  excess_high_pct: number | null
  chance: number | null
  adjusted_chance: number | null
  random_sets_beaten: number | null
  hit_rate: number
  base_rate: number | null
  confidence_probability: number | null
  brier_skill: number | null
  verdict: 'edge' | 'no_edge_shown' | 'too_few' | 'no_claim'
}

export type ExperimentConfig = {
  config?: Record<string, string> | null
}

export type ExportStanding = {
  export_id: string
  state: 'preparing' | 'ready' | 'failed'
  begun_at: string
  expires_at: string | null
  units_done: number
  units: number
  bytes: number
  conversations: number
  events: number
  files: number
  rows: number
}

export type FeedbackRequest = {
  email?: string | null
  version?: string | null
  permissions?: 'public' | 'private'
  polarity: 'positive' | 'negative'
}

export type FeedbackResponse = {
  statusCode: 200
  body: {
    message: string
    feedback_id: string
    password: ''
  }
}

export type FieldCheck = {
  check: 'duplicate_dates' | 'future_dates' | 'non_sessions' | 'magnitude' | 'price_order' | 'bad_tick' | 'price_limit' | 'corporate_action' | 'missing_sessions' | 'stale_bars' | 'stale_quote' | 'dividends' | 'volume_units' | 'currency' | 'quote_order' | 'quote_change' | 'quote_limit' | 'previous_close' | 'same_day_close' | 'second_source'
  verdict: 'fail' | 'warn' | 'not_possible'
  fields: string[]
  date: string | null
  text: string
}

export type ForkConversationRequest = {
  event_id: number
  title?: string | null
  conversation_id?: string
}

export type GETCustomSecrets = {
  custom_secrets?: CustomSecretWithoutValueModel[] | null
}

export type GETSettingsModel = {
  language: string | null
  agent: string | null
  max_iterations: number | null
  security_analyzer: string | null
  confirmation_mode: boolean | null
  llm_model: string | null
  llm_api_key: string | null
  llm_base_url: string | null
  remote_runtime_resource_factor: number | null
  enable_default_condenser?: boolean
  enable_sound_notifications?: boolean
  enable_proactive_conversation_starters?: boolean
  enable_solvability_analysis?: boolean
  user_consents_to_analytics: boolean | null
  sandbox_base_container_image: string | null
  sandbox_runtime_container_image: string | null
  mcp_config: MCPConfig | null
  search_api_key: string | null
  sandbox_api_key: string | null
  max_budget_per_task: number | null
  email: string | null
  email_verified: boolean | null
  git_user_name: string | null
  git_user_email: string | null
  runtime: 'auto' | 'edge' | 'runner' | null
  runner_labels: string[] | null
  runner_unsynced: string[] | null
  secrets_store: UserSecretsOutput
  provider_tokens_set: {
    github?: string | null
    gitlab?: string | null
    bitbucket?: string | null
    enterprise_sso?: string | null
  } | null
  llm_api_key_set: boolean
  search_api_key_set?: boolean
}

export type GenerationBackend = {
  backend_id: 'litellm'
  backend_type: 'litellm'
  provider_id: string | null
  is_primary: true
  available: boolean
  health_status: 'not_tested' | 'passed' | 'failed' | 'skipped'
  supports_json: boolean
  supports_tools: boolean
  supports_stream: boolean
  max_concurrency: number | null
  last_error_code: string | null
  last_error_message: string | null
}

export type GenerationBackendTrial = {
  mode?: 'json' | 'text'
  items?: {
    key: string
    value: string
  }[]
  mask_token?: string | null
}

export type GenerationBackendTried = {
  success: boolean
  mode: 'json' | 'text'
  message: string
  status: GenerationBackends
}

export type GenerationBackends = {
  primary_backend_id: 'litellm'
  fallback_backend_id: string | null
  primary: GenerationBackend
  fallback: GenerationBackend | null
  backends: GenerationBackend[]
}

export type GenerationBackendsPreview = {
  items?: {
    key: string
    value: string
  }[]
  mask_token?: string | null
}

export type HTTPValidationError = {
  detail: ValidationError[]
}

export type HealthStatus = {
  status: string
  timestamp: string
}

export type HistoryItem = {
  id: number
  query_id: string
  stock_code: string
  stock_name: string | null
  report_type: string
  region: string | null
  trend_prediction: string | null
  analysis_summary: string | null
  sentiment_score: number | null
  operation_advice: string | null
  action: string | null
  action_label: string | null
  current_price: number | null
  change_pct: number | null
  volume_ratio: number | null
  turnover_rate: number | null
  model_used: string | null
  market_phase_summary: MarketPhaseSummary | null
  created_at: string
  data_notice: string | null
  data_checks: string | null
}

export type HistoryListResponse = {
  total: number
  page: number
  limit: number
  items: HistoryItem[]
}

export type ImportStanding = {
  import_id: string
  phase: 'receiving' | 'checking' | 'importing' | 'done' | 'refused' | 'failed'
  problem: string | null
  begun_at: string
  expires_at: string
  bytes: number
  received: number
  part_bytes: number
  entries_done: number
  entries: number
  archive_id: string | null
  archive_owner: string | null
  conversations: number
  events: number
  files: number
  rows: Record<string, number>
  left_out: Record<string, number>
  renamed: {
    from: string
    to: string
  }[]
  secrets: {
    kind: 'secret' | 'token' | 'channel' | 'setting' | 'key'
    name: string
  }[]
}

export type InitSessionRequest = {
  repository?: string | null
  git_provider?: ProviderType | null
  selected_branch?: string | null
  initial_user_msg?: string | null
  image_urls?: string[] | null
  replay_json?: string | null
  suggested_task?: SuggestedTask | null
  create_microagent?: CreateMicroagent | null
  conversation_instructions?: string | null
  mcp_config?: MCPConfig | null
  conversation_id?: string
}

export type KLineData = {
  date: string
  open: number
  high: number
  low: number
  close: number
  volume: number
  amount: number | null
  change_percent: number | null
}

export type LedgerActionScore = {
  action: string
  count: number
  right: number
  right_low: number | null
  right_high: number | null
  mean_return_pct: number | null
}

export type LedgerAdvice = {
  query_id: string
  key: string
  created_at: string
  method_version: string
  session_date: string | null
  action: string | null
  score: number | null
  price: number | null
  stop_loss: number | null
  take_profit: number | null
  confidence_probability: number | null
  unscorable: 'sample' | 'no_advice' | 'no_price' | 'no_session' | 'unreadable' | null
}

export type LedgerNotScored = {
  reason: 'no_bars' | 'bad_bars' | 'no_session_bar' | 'too_young'
  count: number
}

export type LedgerOutcome = {
  state: 'scored' | 'pending' | 'no_bars' | 'unscorable'
  reason: 'sample' | 'no_advice' | 'no_price' | 'no_session' | 'unreadable' | 'no_bars' | 'bad_bars' | 'no_session_bar' | 'too_young' | null
  return_5_pct: number | null
  return_10_pct: number | null
  return_20_pct: number | null
  right: boolean | null
}

export type LedgerResponse = {
  total: number
  scorable: number
  unscorable: LedgerUnscorable[]
  is_whole: boolean
  broken_at: number | null
  reports_without_row: number
  next_after: number | null
  scores: LedgerScores
  rows: LedgerRow[]
}

export type LedgerRow = {
  place: number
  content: string
  advice: LedgerAdvice | null
  outcome: LedgerOutcome
  previous_hash: string
  hash: string
}

export type LedgerScores = {
  horizon_sessions: number
  states: LedgerState[]
  not_scored: LedgerNotScored[]
  actions: LedgerActionScore[]
}

export type LedgerState = {
  state: 'scored' | 'pending' | 'no_bars' | 'unscorable'
  count: number
}

export type LedgerUnscorable = {
  reason: 'sample' | 'no_advice' | 'no_price' | 'no_session' | 'unreadable'
  count: number
}

export type LoadedMicroagent = {
  name: string
  type: 'repo' | 'knowledge'
  content: string
  triggers: string[]
  inputs: {
    name: string
    description: string
  }[]
  tools: string[]
}

export type MCPConfig = {
  sse_servers?: MCPSSEServerConfig[]
  stdio_servers?: MCPStdioServerConfig[]
  shttp_servers?: MCPSHTTPServerConfig[]
}

export type MCPSHTTPServerConfig = {
  url: string
  api_key?: string | null
}

export type MCPSSEServerConfig = {
  url: string
  api_key?: string | null
}

export type MCPStdioServerConfig = {
  name: string
  command: string
  args?: string[]
  env?: Record<string, string>
}

export type MadeShare = ShareInfo & {
  token: string
  path: string
}

export type MarketPhaseSummary = {
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' | null
  phase: 'premarket' | 'intraday' | 'lunch_break' | 'closing_auction' | 'postmarket' | 'non_trading' | 'unknown'
  market_local_time: string | null
  session_date: string | null
  effective_daily_bar_date: string | null
  is_trading_day: boolean | null
  is_market_open_now: boolean | null
  is_partial_bar: boolean | null
  minutes_to_open: number | null
  minutes_to_close: number | null
  trigger_source: string | null
  analysis_intent: string | null
  warnings: string[]
}

export type MarketReviewAccepted = {
  status: 'accepted'
  message: string
  send_notification: boolean
  region: string
  task_id: string
  trace_id: string
}

export type MarketReviewRequest = {
  send_notification?: boolean
  report_language?: 'zh' | 'en' | 'ko' | null
  reportLanguage?: 'zh' | 'en' | 'ko' | null
  region?: string | null
}

export type MarketStatus = {
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  phase: 'premarket' | 'intraday' | 'lunch_break' | 'closing_auction' | 'postmarket' | 'non_trading' | 'unknown'
  market_local_time: string
  session_date: string | null
  effective_daily_bar_date: string | null
  is_trading_day: boolean | null
  is_market_open_now: boolean | null
  is_partial_bar: boolean | null
  minutes_to_open: number | null
  minutes_to_close: number | null
  next_session_open: string
  warnings: string[]
}

export type MarketStatuses = {
  generated_at: string
  markets: MarketStatus[]
}

export type McpMessage = {
  jsonrpc: '2.0'
  [name: string]: unknown
}

export type MicroagentContentResponse = {
  content: string
  path: string
  triggers: string[]
  git_provider: ProviderType | null
}

export type MicroagentResponse = {
  name: string
  path: string
  created_at: string
}

export type ModelCapability = {
  status: 'passed' | 'failed' | 'skipped'
  message: string
  error_code: string | null
  stage: string
  retryable: boolean
  latency_ms: number | null
  details: {
    reason?: string
  }
}

export type ModelEntryTested = {
  success: boolean
  message: string
  error: string | null
  error_code: string | null
  stage: 'model_discovery' | 'chat_completion' | 'response_parse' | 'capability_json' | 'capability_tools' | 'capability_stream' | 'capability_vision' | null
  retryable: boolean
  details: {
    reason?: string
  }
  resolved_protocol: string | null
  resolved_model: string | null
  latency_ms: number | null
  capability_results: Record<string, ModelCapability>
}

export type ModelEntryTrial = {
  name: string
  protocol: string
  base_url?: string | null
  api_key?: string | null
  models?: string[]
  enabled?: boolean
  timeout_seconds?: number
  use_saved_secret?: boolean
  capability_checks?: ('json' | 'tools' | 'stream' | 'vision')[] | null
}

export type ModelListRequest = {
  name: string
  protocol: string
  base_url?: string | null
  api_key?: string | null
  models?: string[]
  enabled?: boolean
  timeout_seconds?: number
  use_saved_secret?: boolean
}

export type ModelTest = {
  ok: boolean
  model: string | null
  reply: string | null
  latency_ms: number | null
  failure: string | null
  error: string | null
}

export type ModelTrial = {
  llm_model?: string | null
  llm_base_url?: string | null
  llm_api_key?: string | null
}

export type ModelsFound = {
  success: boolean
  message: string
  error: string | null
  error_code: string | null
  stage: 'model_discovery' | 'chat_completion' | 'response_parse' | 'capability_json' | 'capability_tools' | 'capability_stream' | 'capability_vision' | null
  retryable: boolean
  details: {
    reason?: string
  }
  resolved_protocol: string | null
  resolved_model: string | null
  latency_ms: number | null
  models: string[]
}

export type NewApiKey = ApiKeyInfo & {
  key: string
}

export type NewImport = {
  bytes: number
}

export type NewsIntelItem = {
  title: string
  snippet: string
  url: string
  source: string | null
  published_at: string | null
  dimension: string
}

export type NewsIntelResponse = {
  total: number
  items: NewsIntelItem[]
}

export type OwnerStanding = {
  owner: string
  deletion: {
    phase: 'deleting' | 'waiting' | 'ending'
    begun_at: string
    conversations: number
    tasks: number
    files: number
    rows: number
    problem: string | null
  } | null
  ledger_rows: number
}

export type POSTProviderModel = {
  mcp_config?: MCPConfig | null
  provider_tokens?: Record<string, ProviderToken>
}

export type POSTUploadFilesModel = {
  uploaded_files: string[]
  skipped_files: {
    name: string
    reason: string
  }[]
}

export type PageChannelAttempt = {
  success: boolean
  message: string
  error_code: string | null
  stage: string | null
  retryable: boolean
  latency_ms: number | null
  channel: string
  target: string | null
  http_status: number | null
}

export type PageChannelTrial = {
  channel: string
  items: {
    key: string
    value: string
  }[]
  mask_token?: string
  title: string
  content: string
  timeout_seconds?: number
}

export type PageChannelTried = {
  success: boolean
  message: string
  error_code: string | null
  stage: string | null
  retryable: boolean
  latency_ms: number | null
  attempts: PageChannelAttempt[]
}

export type PageScreenRequest = {
  market?: string
  strategy?: string
  max_results?: number
}

export type PageScreenTask = {
  task_id: string
  status: 'completed'
  progress: 100
  message: string
  error: string | null
  created_at: string
  result: Record<string, unknown>
}

export type PageStrategies = {
  strategies: (Record<string, unknown>)[]
}

export type PageTopic = Record<string, unknown>

export type PageTopics = Record<string, unknown>

export type PasswordLogin = {
  password?: string | null
  passwordConfirm?: string | null
}

export type PortfolioAccount = {
  id: number
  name: string
  broker: string | null
  market: string
  base_currency: string
  is_active: boolean
  created_at: string
  updated_at: string
}

export type PortfolioAccountValue = {
  account_id: number
  account_name: string
  broker: string | null
  market: string
  base_currency: string
  as_of: string
  cost_method: 'fifo' | 'avg'
  currency: string
  total_cash: number | null
  total_market_value: number | null
  total_equity: number | null
  realized_pnl: number | null
  unrealized_pnl: number | null
  dividend_income: number | null
  fee_total: number | null
  tax_total: number | null
  fx_stale: boolean
  data_quality: 'ok' | 'partial'
  limitations: string[]
  missing_rates: string[]
  unpriced_symbols: string[]
  cash: PortfolioCashBalance[]
  positions: PortfolioPosition[]
}

export type PortfolioAction = {
  id: number
  account_id: number
  currency: string
  note: string | null
  created_at: string
  symbol: string
  market: string
  effective_date: string
  action_type: 'cash_dividend' | 'split_adjustment'
  cash_dividend_per_share: number | null
  amount: number | null
  fee: number | null
  tax: number | null
  split_ratio: number | null
}

export type PortfolioBroker = {
  broker: string
  aliases: string[]
  display_name: string
}

export type PortfolioCash = {
  id: number
  account_id: number
  currency: string
  note: string | null
  created_at: string
  event_date: string
  direction: 'in' | 'out'
  amount: number
}

export type PortfolioCashBalance = {
  currency: string
  amount: number
  amount_base: number | null
}

export type PortfolioFxRefresh = {
  as_of: string
  account_count: number
  refresh_enabled: boolean
  disabled_reason: string | null
  pair_count: number
  updated_count: number
  stale_count: number
  error_count: number
  missing_rates: string[]
  source_error: string | null
}

export type PortfolioImport = {
  broker: string
  record_count: number
  dividend_count: number
  cash_count: number
  skipped_count: number
  error_count: number
  records: {
    row: number
    trade_date: string
    symbol: string
    side: 'buy' | 'sell'
    quantity: number
    price: number
    fee: number
    tax: number
    trade_uid: string | null
    dedup_hash: string
    currency: string
  }[]
  errors: string[]
  dividends: {
    row: number
    date: string
    symbol: string
    amount: number
    fee: number
    tax: number
    dedup_hash: string
    currency: string
  }[]
  cash: {
    row: number
    date: string
    direction: 'in' | 'out'
    amount: number
    currency: string
    dedup_hash: string
  }[]
  skipped: {
    row: number
    column: string
    reason: 'blank' | 'no_trade'
    text: string
  }[]
  columns: string[]
  mapping: Record<string, string | null>
}

export type PortfolioImportResult = {
  account_id: number
  record_count: number
  inserted_count: number
  duplicate_count: number
  failed_count: number
  skipped_count: number
  skipped: {
    row: number
    column: string
    reason: 'blank' | 'no_trade'
    text: string
  }[]
  dry_run: boolean
  errors: string[]
}

export type PortfolioPosition = {
  symbol: string
  market: string
  currency: string
  quantity: number
  avg_cost: number
  total_cost: number
  last_price: number | null
  market_value: number | null
  unrealized_pnl: number | null
  market_value_base: number | null
  unrealized_pnl_base: number | null
  unrealized_pnl_pct: number | null
  valuation_currency: string
  price_source: 'history_close' | 'missing'
  price_provider: string | null
  price_date: string | null
  price_stale: boolean
  price_available: boolean
  price_notice: string | null
  fx_rate: number | null
  fx_date: string | null
  fx_source: string | null
  data_quality: 'ok' | 'partial'
  limitations: string[]
}

export type PortfolioPositionAnalysisRequest = {
  account_id?: number | null
  analysis_phase?: 'auto' | 'premarket' | 'intraday' | 'postmarket'
  force?: boolean
  report_language?: 'zh' | 'en' | 'ko' | null
}

export type PortfolioRate = {
  currency: string
  quote: string
  date: string
  rate: number
}

export type PortfolioRisk = {
  as_of: string
  account_id: number | null
  cost_method: 'fifo' | 'avg'
  currency: string
  thresholds: Record<string, number>
  concentration: {
    total_market_value: number | null
    top_weight_pct: number | null
    alert: boolean
    top_positions: {
      symbol: string
      market_value_base: number
      weight_pct: number
      is_alert: boolean
    }[]
    unvalued: string[]
  }
  sector_concentration: {
    total_market_value: number | null
    top_weight_pct: number | null
    alert: boolean
    top_sectors: {
      sector: string
      market_value_base: number
      weight_pct: number
      symbol_count: number
      is_alert: boolean
    }[]
    coverage: {
      classified_count: number
      unclassified_count: number
      failed_count: number
    }
    errors: string[]
  }
  drawdown: {
    series_points: number
    max_drawdown_pct: number | null
    current_drawdown_pct: number | null
    alert: boolean
    fx_stale: boolean
  }
  performance: {
    from: string | null
    to: string | null
    time_weighted_pct: number | null
    money_weighted_pct: number | null
    benchmark: {
      symbol: string
      name: string
      market: string
      publisher: string
      provider: string | null
      from: string | null
      to: string | null
      return_pct: number | null
      excess_pct: number | null
    }
  }
  correlation: {
    minimum_days: number
    from: string
    pairs: {
      a: string
      b: string
      days: number
      correlation: number | null
    }[]
  }
  stop_loss: {
    near_alert: boolean
    triggered_count: number
    near_count: number
    items: {
      account_id: number
      symbol: string
      avg_cost: number
      last_price: number
      loss_pct: number
      near_threshold_pct: number
      is_triggered: boolean
    }[]
  }
  decision_signal_risk: {
    available: boolean
    total: number
    actions: {
      sell: number
      reduce: number
      alert: number
    }
    items: {
      account_id: number | null
      symbol: string
      market: string
      signal: DecisionSignal
    }[]
  }
}

export type PortfolioSnapshot = {
  as_of: string
  cost_method: 'fifo' | 'avg'
  account_count: number
  currency: string
  total_cash: number | null
  total_market_value: number | null
  total_equity: number | null
  realized_pnl: number | null
  unrealized_pnl: number | null
  dividend_income: number | null
  fee_total: number | null
  tax_total: number | null
  fx_stale: boolean
  data_quality: 'ok' | 'partial'
  limitations: string[]
  missing_rates: string[]
  unpriced_symbols: string[]
  accounts: PortfolioAccountValue[]
}

export type PortfolioTrade = {
  id: number
  account_id: number
  currency: string
  note: string | null
  created_at: string
  symbol: string
  market: string
  trade_date: string
  side: 'buy' | 'sell'
  quantity: number
  price: number
  fee: number
  tax: number
  trade_uid: string | null
}

export type ProviderToken = {
  token?: string | null
  user_id?: string | null
  host?: string | null
}

export type ProviderType = 'github' | 'gitlab' | 'bitbucket' | 'enterprise_sso'

export type ProvidersSetModel = {
  providers_set?: ProviderType[] | null
}

export type QueueState = {
  pending: number
  running: number
  oldest_pending_seconds: number | null
  max_running: number
  max_running_per_owner: number
  finished_per_minute: number
  own: {
    pending: number
    running: number
    oldest_pending_seconds: number | null
  }
}

export type ReportDetails = {
  news_content: string | null
  empty_news_disclosure: string | null
  raw_result: Record<string, unknown> | null
  context_snapshot: Record<string, unknown> | null
  analysis_context_pack_overview: {
    pack_version: string
    created_at: string
    subject: {
      code: string
      stock_name: string | null
      market: string
    }
    blocks: {
      key: 'quote' | 'daily_bars' | 'technical' | 'chip' | 'fundamentals' | 'news' | 'portfolio'
      label: string
      status: 'available' | 'missing' | 'not_supported' | 'fallback' | 'stale' | 'estimated' | 'partial' | 'fetch_failed'
      source: string | null
      warnings: string[]
      missing_reasons: string[]
    }[]
    counts: Record<string, number>
    data_quality: {
      overall_score: number
      plausibility?: number | null
      presence?: number | null
      level: 'good' | 'usable' | 'limited' | 'poor'
      block_scores: Record<string, number>
      limitations: string[]
    }
    warnings: string[]
    metadata: Record<string, unknown>
  } | null
  financial_report: Record<string, unknown> | null
  dividend_metrics: Record<string, unknown> | null
  belong_boards: (Record<string, unknown>)[] | null
  sector_rankings: {
    top: (Record<string, unknown>)[]
    bottom: (Record<string, unknown>)[]
    status?: string
  } | null
  concept_rankings: {
    top: (Record<string, unknown>)[]
    bottom: (Record<string, unknown>)[]
    status?: string
  } | null
  market_structure: Record<string, unknown> | null
}

export type ReportMeta = {
  id: number | null
  query_id: string
  stock_code: string
  stock_name: string | null
  report_type: 'simple' | 'detailed' | 'full' | 'brief' | 'market_review'
  report_language: 'zh' | 'en' | 'ko'
  created_at: string
  current_price: number | null
  change_pct: number | null
  model_used: string | null
  market_phase_summary: {
    market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' | null
    phase: 'premarket' | 'intraday' | 'lunch_break' | 'closing_auction' | 'postmarket' | 'non_trading' | 'unknown'
    market_local_time: string | null
    session_date: string | null
    effective_daily_bar_date: string | null
    is_trading_day: boolean | null
    is_market_open_now: boolean | null
    is_partial_bar: boolean | null
    minutes_to_open: number | null
    minutes_to_close: number | null
    trigger_source: string | null
    analysis_intent: string | null
    warnings: string[]
  } | null
  data_notice: string | null
  data_provenance: {
    kind: 'historical' | 'synthetic'
    label: string
    ends_on: string
  } | null
  data_checks?: string | null
  reading?: string | null
}

export type ReportStrategy = {
  ideal_buy: string | null
  secondary_buy: string | null
  stop_loss: string | null
  take_profit: string | null
}

export type ReportSummary = {
  analysis_summary: string
  operation_advice: string
  action: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert' | null
  action_label: string | null
  trend_prediction: string
  sentiment_score: number
  sentiment_label: string | null
}

export type Repository = {
  id: string
  full_name: string
  git_provider: ProviderType
  is_public: boolean
  stargazers_count: number | null
  link_header: string | null
  pushed_at: string | null
  owner_type: 'user' | 'organization' | null
  main_branch: string | null
}

export type RunFlowEdge = {
  id: string
  from: string
  to: string
  kind: 'data' | 'control' | 'fallback' | 'retry'
  status: 'pending' | 'running' | 'success' | 'failed' | 'degraded' | 'fallback' | 'timeout' | 'cancel_requested' | 'cancelled' | 'skipped' | 'unknown'
  label: string | null
  message: string | null
  metadata: Record<string, unknown>
}

export type RunFlowEvent = {
  id: string
  timestamp: string
  severity: 'info' | 'success' | 'warning' | 'danger'
  type: string
  node_id: string
  title: string
  message: string | null
  metadata: Record<string, unknown>
}

export type RunFlowLane = {
  id: 'entry' | 'data_source' | 'analysis' | 'artifact'
  label: string
  order: number
}

export type RunFlowNode = {
  id: string
  lane: 'entry' | 'data_source' | 'analysis' | 'artifact'
  kind: 'entry' | 'queue' | 'data_source' | 'analysis' | 'model' | 'artifact' | 'notification'
  label: string
  status: 'pending' | 'running' | 'success' | 'failed' | 'degraded' | 'fallback' | 'timeout' | 'cancel_requested' | 'cancelled' | 'skipped' | 'unknown'
  provider: string | null
  started_at: string | null
  ended_at: string | null
  duration_ms: number | null
  attempts: number | null
  record_count: number | null
  message: string | null
  metadata: Record<string, unknown>
}

export type RunFlowSnapshot = {
  task_id: string
  trace_id: string
  stock_code: string
  stock_name: string | null
  status: 'pending' | 'running' | 'success' | 'failed' | 'degraded' | 'fallback' | 'timeout' | 'cancel_requested' | 'cancelled' | 'skipped' | 'unknown'
  summary: RunFlowSummary
  lanes: RunFlowLane[]
  nodes: RunFlowNode[]
  edges: RunFlowEdge[]
  events: RunFlowEvent[]
  generated_at: string
}

export type RunFlowSummary = {
  elapsed_ms: number | null
  bottleneck_node_id: string | null
  failed_attempts: number
  fallback_count: number
  model: string | null
  data_source_count: number
  event_count: number
}

export type Runner = {
  id: string
  name: string
  labels: string[]
  version: string
  os: string
  arch: string
  capacity: number
  isolation: 'bwrap' | 'sandbox-runtime' | 'none'
  network: 'none' | 'list' | 'all'
  tools: {
    name: string
    version: string
  }[]
  limits?: {
    cpu: 'kernel' | 'nice' | 'none'
    memory: 'kernel' | 'watched' | 'none'
    processes: 'kernel' | 'none'
    disk: 'watched' | 'none'
  }
  state: 'connected' | 'draining' | 'gone'
  conversations: number
  seen_at: string
}

export type RunnerList = {
  runners: Runner[]
}

export type RuntimeStatus = 'STATUS$STOPPED' | 'STATUS$BUILDING_RUNTIME' | 'STATUS$STARTING_RUNTIME' | 'STATUS$RUNTIME_STARTED' | 'STATUS$SETTING_UP_WORKSPACE' | 'STATUS$SETTING_UP_GIT_HOOKS' | 'STATUS$READY' | 'STATUS$ERROR' | 'STATUS$ERROR_RUNTIME_DISCONNECTED' | 'STATUS$ERROR_LLM_AUTHENTICATION' | 'STATUS$ERROR_LLM_SERVICE_UNAVAILABLE' | 'STATUS$ERROR_LLM_INTERNAL_SERVER_ERROR' | 'STATUS$ERROR_LLM_OUT_OF_CREDITS' | 'STATUS$ERROR_LLM_CONTENT_POLICY_VIOLATION' | 'CHAT_INTERFACE$AGENT_RATE_LIMITED_STOPPED_MESSAGE' | 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR' | 'STATUS$LLM_RETRY' | 'STATUS$ERROR_MEMORY'

export type SavedSchedule = Schedule & {
  readings: StockReading[]
}

export type SavedScheduleList = ScheduleList & {
  readings: StockReading[]
}

export type SavedScreen = {
  id: number
  name: string
  screen: ScreenDefinition
  schedule: {
    times: string[]
    zone: string
    days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[]
  } | {
    after_close_minutes: number
  } | null
  enabled: boolean
  channels: string[] | null
  next_run_at: string | null
  last_run_at: string | null
  matched: number | null
  created_at: string
  updated_at: string
}

export type SavedScreenChange = {
  name?: string
  screen?: ScreenDefinition
  schedule?: {
    times: string[]
    zone: string
    days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[]
  } | {
    after_close_minutes: number
  } | null
  enabled?: boolean
  channels?: string[] | null
}

export type SavedScreenInput = {
  name: string
  screen: ScreenDefinition
  schedule?: {
    times: string[]
    zone: string
    days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[]
  } | {
    after_close_minutes: number
  } | null
  enabled?: boolean
  channels?: string[] | null
}

export type SavedScreenRun = {
  items: ScreenedListing[]
  total: number
  page: number
  page_size: number
  counts: ScreenCounts
  as_of: Record<string, string>
  message: string | null
  is_first: boolean
  new_codes: string[]
}

export type SavedScreens = {
  items: SavedScreen[]
  total: number
  page: number
  page_size: number
}

export type Schedule = {
  name: string
  what: {
    kind: 'market_review'
    region: string
  } | {
    kind: 'analysis'
    stock_codes: string[]
  } | {
    kind: 'watchlist'
    watchlist_id: string
  } | {
    kind: 'digest'
    watchlist_id?: string | null
  }
  when: {
    times: string[]
    zone: string
    days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[]
  } | {
    after_close_minutes: number
  }
  trading_days_only?: boolean
  report_type?: 'simple' | 'detailed' | 'full' | 'brief'
  report_language?: 'zh' | 'en' | 'ko' | null
  notify?: boolean
  channels?: string[] | null
  catch_up_minutes?: number
  schedule_id: string
  enabled: boolean
  next_run_at: string | null
  created_at: string
  updated_at: string
}

export type ScheduleInput = {
  name: string
  what: {
    kind: 'market_review'
    region: string
  } | {
    kind: 'analysis'
    stock_codes: string[]
  } | {
    kind: 'watchlist'
    watchlist_id: string
  } | {
    kind: 'digest'
    watchlist_id?: string | null
  }
  when: {
    times: string[]
    zone: string
    days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[]
  } | {
    after_close_minutes: number
  }
  trading_days_only?: boolean
  report_type?: 'simple' | 'detailed' | 'full' | 'brief'
  report_language?: 'zh' | 'en' | 'ko' | null
  notify?: boolean
  channels?: string[] | null
  catch_up_minutes?: number
  enabled?: boolean
  confirm?: boolean
}

export type ScheduleList = {
  schedules: Schedule[]
}

export type ScheduleListInput = {
  schedules: ScheduleListItem[]
}

export type ScheduleListItem = ScheduleInput & {
  schedule_id?: string
}

export type ScheduleRun = {
  schedule_id: string
  name: string
  slot: string
  due_at: string
  claimed_at: string
  status: 'claimed' | 'waiting' | 'started' | 'skipped' | 'missed' | 'failed'
  detail: string | null
  task_ids: string[]
  left_out: string[]
}

export type SchedulerBusy = {
  error: 'scheduler_busy'
  message: string
  reason: string
}

export type SchedulerRun = {
  accepted: true
  running: true
}

export type SchedulerStatus = {
  enabled: boolean
  running: boolean
  schedule_times: string[]
  next_run_at: string | null
  last_run_at: string | null
  last_success_at: string | null
  last_error: string | null
  last_skipped_at: string | null
  last_skip_reason: string | null
}

export type ScreenCounts = {
  listings: number
  with_figures: number
  too_old: number
  unknown: number
  unknown_by_field: Record<string, number>
  matched: number
}

export type ScreenDefinition = {
  markets?: ('cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw')[]
  kinds?: ('stock' | 'etf')[]
  where?: Record<string, unknown> | null
  sort?: {
    field: string
    order?: 'asc' | 'desc'
  }[]
  limit?: number | null
  max_age_sessions?: number
}

export type ScreenRun = {
  id: number
  uid: string
  screen_id: number
  screen_name: string
  slot: string
  ran_at: string
  is_first: boolean
  counts: ScreenCounts
  new_count: number
  new_listings: ScreenedListing[]
  is_told: boolean
}

export type ScreenRuns = {
  items: ScreenRun[]
  total: number
  page: number
  page_size: number
}

export type Screened = {
  items: ScreenedListing[]
  total: number
  page: number
  page_size: number
  counts: ScreenCounts
  as_of: Record<string, string>
  message: string | null
}

export type ScreenedListing = {
  code: string
  name: string
  name_en: string | null
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  exchange: string
  kind: string
  industry: string | null
  risk_warned: boolean
  currency: string
  session: string | null
  age_sessions: number | null
  source: string | null
  told_at: string | null
  bars_session: string | null
  bars_age_sessions: number | null
  bars_source: string | null
  bars_told_at: string | null
  figures: Record<string, number | null>
  marks: {
    check: string
    text: string
  }[]
}

export type ScreeningField = {
  name: string
  title: string
  meaning: string
  group: 'listing' | 'close' | 'bars'
  kind: 'number' | 'text' | 'flag'
  unit: string
  ops: string[]
}

export type ScreeningMarket = {
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  listings: number
  due_session: string
  closes: {
    count: number
    of_newest: number
    oldest: string | null
    newest: string | null
  }
  bars: {
    count: number
    of_newest: number
    oldest: string | null
    newest: string | null
  }
  source: string | null
  state: 'done' | 'reading' | 'waiting' | 'never'
  failures: number
  refused: number
  next_at: string | null
  last_told_at: string | null
}

export type ScreeningStatus = {
  enabled: boolean
  available: boolean
  diagnostics: {
    reason: string | null
  }
}

export type ScreeningStrategy = {
  id: 'dual_low' | 'balanced_alpha' | 'capital_heat' | 'trend_pullback' | 'near_high' | 'calm_value'
  version: number
  title: string
  description: string
  category: string
  screen: {
    markets?: ('cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw')[]
    kinds?: ('stock' | 'etf')[]
    where?: Record<string, unknown> | null
    sort?: {
      field: string
      order?: 'asc' | 'desc'
    }[]
    limit?: number | null
    max_age_sessions?: number
  }
}

export type SecurityPolicy = {
  policy: string
}

export type SecuritySettings = {
  RISK_SEVERITY: number
}

export type SessionInfo = {
  owner: string
  scopes: ('conversations' | 'analysis' | 'admin' | 'runner')[]
  auth_mode: 'keys' | 'local'
}

export type Settings = {
  language?: string | null
  agent?: string | null
  max_iterations?: number | null
  security_analyzer?: string | null
  confirmation_mode?: boolean | null
  llm_model?: string | null
  llm_api_key?: string | null
  llm_base_url?: string | null
  remote_runtime_resource_factor?: number | null
  enable_default_condenser?: boolean
  enable_sound_notifications?: boolean
  enable_proactive_conversation_starters?: boolean
  enable_solvability_analysis?: boolean
  user_consents_to_analytics?: boolean | null
  sandbox_base_container_image?: string | null
  sandbox_runtime_container_image?: string | null
  mcp_config?: MCPConfig | null
  search_api_key?: string | null
  search_api_key_set?: boolean | null
  sandbox_api_key?: string | null
  max_budget_per_task?: number | null
  email?: string | null
  email_verified?: boolean | null
  git_user_name?: string | null
  git_user_email?: string | null
  runtime?: 'auto' | 'edge' | 'runner' | null
  runner_labels?: string[] | null
  runner_unsynced?: string[] | null
}

export type Setup = {
  settings_stored: boolean
  model: {
    state: 'ready' | 'none' | 'needs-key' | 'needs-address' | 'unreadable'
    id: string | null
    is_own: boolean
  }
  agent: 'CodeActAgent' | 'ReadOnlyAgent' | 'ShellAgent'
  market_data_is_live: boolean
  news_is_configured: boolean
  runners_connected: number
}

export type SetupCheck = {
  key: 'llm_primary' | 'llm_agent' | 'stock_list' | 'notification' | 'storage'
  title: string
  category: 'base' | 'ai_model' | 'agent' | 'notification' | 'system'
  required: boolean
  status: 'configured' | 'inherited' | 'optional' | 'needs_action'
  message: string
  next_step: string | null
}

export type SetupStatus = {
  is_complete: boolean
  ready_for_smoke: boolean
  required_missing_keys: string[]
  next_step_key: string | null
  checks: SetupCheck[]
}

export type ShareInfo = {
  share_id: string
  created_at: string
  expires_at: string
  with_files: boolean
  with_hidden: boolean
}

export type ShareRequest = {
  expires_in_hours?: number
  with_files?: boolean
  with_hidden?: boolean
}

export type SharedConversation = {
  title: string
  created_at: string
  expires_at: string
  last_event_id: number
  with_files: boolean
  with_hidden: boolean
}

export type SharedEvents = {
  events: (Record<string, unknown>)[]
  has_more: boolean
}

export type SignIn = {
  key: string
}

export type SkillInfo = {
  id: string
  name: string
  description: string
}

export type SkillsResponse = {
  skills: SkillInfo[]
  default_skill_id: string
}

export type SpanBudget = {
  began_at: string
  resets_at: string
  usd: BudgetAmount
  tokens: BudgetAmount
  calls: number
  unpriced_calls: number
  unsettled_calls: number
}

export type StockBarItem = {
  id: number
  stock_code: string
  stock_name: string | null
  report_type: string
  sentiment_score: number | null
  operation_advice: string | null
  action: string | null
  action_label: string | null
  model_used: string | null
  market_phase_summary: MarketPhaseSummary | null
  data_notice: string | null
  data_checks: string | null
  analysis_count: number
  last_analysis_time: string
}

export type StockBarResponse = {
  total: number
  items: StockBarItem[]
}

export type StockCandidate = {
  stock_code: string
  canonical_code: string
  stock_name: string
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  market_label: string
}

export type StockHistoryResponse = {
  stock_code: string
  stock_name: string | null
  period: 'daily' | 'weekly' | 'monthly'
  data: KLineData[]
  data_notice: string | null
  data_checks: string | null
  field_checks: FieldCheck[]
}

export type StockImageImport = StockImport & {
  raw_text: string | null
}

export type StockImport = {
  codes: string[]
  items: StockImportItem[]
}

export type StockImportItem = StockReading & {
  code: string | null
  name: string | null
  confidence: 'high' | 'medium' | 'low'
  row: number
  group: string | null
  note: string | null
}

export type StockQuote = {
  stock_code: string
  stock_name: string | null
  current_price: number
  change: number
  change_percent: number
  open: number | null
  high: number | null
  low: number | null
  prev_close: number
  volume: number | null
  amount: number | null
  update_time: string | null
  data_notice: string | null
  data_checks: string | null
  field_checks: FieldCheck[]
}

export type StockReading = {
  input: string
  kind: 'code' | 'reading' | 'candidates' | 'unknown'
  stock_code: string | null
  canonical_code: string | null
  stock_name: string | null
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' | null
  market_label: string | null
  reading: string | null
  reason: string | null
  message: string | null
  candidates: StockCandidate[]
}

export type StockSearchResponse = {
  query: string
  total: number
  items: StockSuggestion[]
}

export type StockSuggestion = {
  stock_code: string
  canonical_code: string
  stock_name: string
  name_zh: string
  name_en: string | null
  aliases: string[]
  market: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
  exchange: string
  market_label: string
  asset_type: 'stock' | 'etf' | 'index'
  match: 'code' | 'name' | 'code_prefix' | 'name_prefix' | 'initials' | 'pinyin' | 'name_part'
}

export type SuggestedTask = {
  git_provider: ProviderType
  task_type: 'MERGE_CONFLICTS' | 'FAILING_CHECKS' | 'UNRESOLVED_COMMENTS' | 'OPEN_ISSUE' | 'OPEN_PR' | 'CREATE_MICROAGENT'
  repo: string
  issue_number: number
  title: string
}

export type TaskAccepted = {
  task_id: string
  trace_id: string
  status: 'pending'
  message: string
  reading?: string
  analysis_phase: string
  finished?: false
  progress?: number
}

export type TaskInfo = {
  task_id: string
  trace_id: string
  stock_code: string
  stock_name: string | null
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancel_requested' | 'cancelled'
  progress: number
  message: string | null
  report_type: string
  report_language: string | null
  created_at: string
  started_at: string | null
  completed_at: string | null
  error: string | null
  original_query: string | null
  reading: string | null
  selection_source: string | null
  analysis_phase: string | null
  skills: string[] | null
  region: string | null
}

export type TaskListResponse = {
  total: number
  pending: number
  processing: number
  tasks: TaskInfo[]
}

export type TaskStatus = {
  task_id: string
  trace_id: string
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancel_requested' | 'cancelled'
  progress: number
  result: AnalysisResultResponse | null
  market_review_report: string | null
  market_review_payload: Record<string, unknown> | null
  region: string | null
  error: string | null
  stock_name: string | null
  original_query: string | null
  reading: string | null
  selection_source: string | null
  analysis_phase: string | null
  skills: string[] | null
}

export type TooManyRequests = {
  message: string
}

export type UpdateConversationRequest = {
  title: string
}

export type Usage = {
  owner: string
  limits: UsageLimit[]
}

export type UsageDashboard = {
  period: 'today' | 'month' | 'all'
  from_date: string
  to_date: string
  total_calls: number
  total_prompt_tokens: number
  total_completion_tokens: number
  total_tokens: number
  by_call_type: {
    call_type: string
    calls: number
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
  }[]
  by_model: {
    model: string
    calls: number
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    max_total_tokens: number
  }[]
  recent_calls: {
    id: number
    called_at: string
    call_type: string
    model: string
    stock_code: string | null
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
  }[]
}

export type UsageLimit = {
  limit: string
  used: number
  allowed: number
  unit: 'count' | 'bytes'
  resets_at: string | null
}

export type User = {
  id: string
  login: string
  avatar_url: string
  company: string | null
  name: string | null
  email: string | null
}

export type UserSecretsOutput = {
  provider_tokens?: Record<string, unknown>
  custom_secrets?: Record<string, unknown>
}

export type ValidationError = {
  type: string
  loc: (string | number)[]
  msg: string
  input?: unknown
  ctx?: Record<string, unknown>
}

export type Watchlist = {
  watchlist_id: string
  name: string
  note: string
  is_default: boolean
  created_at: string
  stocks: {
    stock_code: string
    stock_name: string | null
    note: string
  }[]
}

export type WatchlistChange = {
  stock_code: string
  stock_name: string | null
  note: string
  groups: string[]
  task_id: string | null
  is_first: boolean
  is_sample: boolean
  advice: {
    from: string | null
    to: string | null
  } | null
  score: {
    from: number | null
    to: number | null
  } | null
  price: {
    from: number
    to: number
  } | null
  crossed: {
    level: 'ideal_buy' | 'secondary_buy' | 'stop_loss' | 'take_profit'
    price: number
    direction: 'up' | 'down'
  }[]
  failure: string | null
}

export type WatchlistCodes = {
  stock_codes: string[]
  message: string | null
}

export type WatchlistDigest = {
  since: string
  until: string
  stocks: number
  changed: number
  unchanged: number
  without_new: number
  left_out: number
  changes: WatchlistChange[]
  next_page_id: string | null
}

export type WatchlistImport = {
  added: number
  groups: {
    watchlist_id: string
    name: string
    is_new: boolean
  }[]
}

export type WatchlistRun = {
  accepted: {
    task_id: string
    stock_code: string
  }[]
  duplicates: {
    task_id: string
    stock_code: string
  }[]
}

export type WebClientConfig = {
  APP_MODE: 'oss'
  GITHUB_CLIENT_ID: string
  POSTHOG_CLIENT_KEY: string
  FEATURE_FLAGS: Record<string, boolean>
  [name: string]: unknown
}

/** Every call: what its query and its body are, and what it answers. */
export type Calls = {
  /** Delete the conversation with everything in it */
  'DELETE /api/conversations/{conversation_id}': { reply: boolean }
  /** Take a link back: it opens nothing any more */
  'DELETE /api/conversations/{conversation_id}/shares/{share_id}': { reply: boolean }
  /** Take the address of a server back: it is no address any more, and the next list gives another one */
  'DELETE /api/conversations/{conversation_id}/web-hosts/{port}': { reply: {
      message: string
    } }
  /** Delete the archive before its time */
  'DELETE /api/export': { reply: boolean }
  /** Withdraw an import that is not carried out yet, or forget what became of one */
  'DELETE /api/import': { reply: boolean }
  /** Revoke a key, and close whatever is open on it */
  'DELETE /api/keys/{id}': { reply: {
      message: string
    } }
  /** Delete everything that the owner has, keys last; it goes on by itself, and cannot be taken back */
  'DELETE /api/owner': { body: DeleteOwner; reply: OwnerStanding }
  /** Let a runner go: its connections are closed and it is forgotten. It may connect again while its key is in force */
  'DELETE /api/runners/{id}': { reply: {
      message: string
    } }
  /** Delete a secret */
  'DELETE /api/secrets/{secret_id}': { reply: {
      message: string
    } }
  /** Sign out: this sign-in ends, for every copy of its cookie */
  'DELETE /api/session': { reply: {
      message: string
    } }
  /** Delete a talk with everything in it */
  'DELETE /api/v1/agent/chat/sessions/{session_id}': { reply: {
      deleted: number
    } }
  /** Delete a rule; what it told stays */
  'DELETE /api/v1/alerts/rules/{rule_id}': { reply: {
      deleted: 1
    } }
  /** Delete a channel; what was still to be sent there fails */
  'DELETE /api/v1/analysis/channels/{channel_id}': { reply: {
      deleted: true
    } }
  /** Delete a schedule; the log of its runs stays */
  'DELETE /api/v1/analysis/schedules/{schedule_id}': { reply: {
      deleted: true
    } }
  /** Delete a watchlist */
  'DELETE /api/v1/analysis/watchlists/{watchlist_id}': { reply: {
      deleted: true
    } }
  /** Take a stock out of a watchlist */
  'DELETE /api/v1/analysis/watchlists/{watchlist_id}/stocks/{stock_code}': { reply: Watchlist }
  /** Delete records by the ids of their rows */
  'DELETE /api/v1/history': { body: {
      record_ids: number[]
    }; reply: {
      deleted: number
    } }
  /** Delete every report of a listing, whichever way its code is spelled */
  'DELETE /api/v1/history/by-code/{code}': { reply: {
      deleted: number
    } }
  /** Hide an account; what was booked in it is kept */
  'DELETE /api/v1/portfolio/accounts/{account_id}': { reply: {
      deleted: 1
    } }
  /** Take a payment back */
  'DELETE /api/v1/portfolio/cash-ledger/{id}': { reply: {
      deleted: 1
    } }
  /** Take a dividend or a split back */
  'DELETE /api/v1/portfolio/corporate-actions/{id}': { reply: {
      deleted: 1
    } }
  /** Take a rate back */
  'DELETE /api/v1/portfolio/fx/rates': { query: { currency: string; quote: string; date: string }; reply: {
      deleted: 1
    } }
  /** Take a trade back */
  'DELETE /api/v1/portfolio/trades/{id}': { reply: {
      deleted: 1
    } }
  /** Delete all of your screens, what they found, and that you screen at all */
  'DELETE /api/v1/screening/screens': { reply: {
      deleted: number
    } }
  /** Delete a saved screen with what it found */
  'DELETE /api/v1/screening/screens/{screen_id}': { reply: {
      deleted: 1
    } }
  /** Whether the service answers at all */
  'GET /alive': { reply: {
      status: 'ok'
    } }
  /** Who changed the owner's keys, settings, secrets and tokens, or deleted conversations; newest first */
  'GET /api/audit': { query?: { limit?: number; page_id?: string }; reply: AuditPage }
  /** What you may spend on language models in a day and a month, and what you did */
  'GET /api/budget': { reply: Budget }
  /** List the own conversations, newest first */
  'GET /api/conversations': { query?: { page_id?: string | null; limit?: number; selected_repository?: string | null; conversation_trigger?: ConversationTrigger | null }; reply: ConversationInfoResultSet }
  /** One conversation; null when there is none of this id */
  'GET /api/conversations/{conversation_id}': { reply: ConversationInfo | null }
  /** Which session and runtime the conversation has */
  'GET /api/conversations/{conversation_id}/config': { reply: {
      runtime_id: string | null
      session_id: string
    } }
  /** Search the event stream */
  'GET /api/conversations/{conversation_id}/events': { query?: { start_id?: number; end_id?: number | null; reverse?: boolean; limit?: number; exclude_hidden?: boolean; query?: string | null; include_types?: unknown[] | null; exclude_types?: unknown[] | null; source?: string | null; start_date?: string | null; end_date?: string | null }; body?: EventFilter | null; reply: {
      events: {
        id: number
        [name: string]: unknown
      }[]
      has_more: boolean
    } }
  /** What changed in the workspace against its remote, or against the last commit */
  'GET /api/conversations/{conversation_id}/git/changes': { reply: (Record<string, string>)[] }
  /** One changed file, before and after */
  'GET /api/conversations/{conversation_id}/git/diff': { query: { path: string; exact?: boolean }; reply: {
      original: string
      modified: string
      [name: string]: unknown
    } }
  /** List one level of the workspace */
  'GET /api/conversations/{conversation_id}/list-files': { query?: { path?: string | null; at?: number }; reply: string[] }
  /** The microagents that the conversation has */
  'GET /api/conversations/{conversation_id}/microagents': { reply: {
      microagents: LoadedMicroagent[]
    } }
  /** An instruction to keep in memory what happened around an event */
  'GET /api/conversations/{conversation_id}/remember-prompt': { query: { event_id: number }; reply: {
      status: 'success'
      prompt: string
    } }
  /** For a runner that was told to: its WebSocket to one conversation (docs/runners.md) */
  'GET /api/conversations/{conversation_id}/runner': { reply: null }
  /** What was judged */
  'GET /api/conversations/{conversation_id}/security/export-trace': { reply: {
      conversation_id?: string
      id: number
      action: string
      [name: string]: unknown
    }[] }
  /** The policy text */
  'GET /api/conversations/{conversation_id}/security/policy': { reply: SecurityPolicy }
  /** The level that asks */
  'GET /api/conversations/{conversation_id}/security/settings': { reply: SecuritySettings }
  /** Read a text file of the workspace */
  'GET /api/conversations/{conversation_id}/select-file': { query: { file: string; at?: number }; reply: Record<string, string> }
  /** The links to the conversation that are in force, newest first, without their tokens */
  'GET /api/conversations/{conversation_id}/shares': { reply: {
      shares: ShareInfo[]
    } }
  /** Type in a shell in the workspace, over a WebSocket: it needs a runner */
  'GET /api/conversations/{conversation_id}/terminal': { query?: { cols?: number; rows?: number; read_only?: boolean; terminal?: string; position?: number }; reply: {
      available: boolean
      reason: string | null
    } }
  /** Every event that is not hidden, as a file to keep or to replay */
  'GET /api/conversations/{conversation_id}/trajectory': { reply: {
      trajectory: {
        id: number
        [name: string]: unknown
      }[]
    } }
  /** Where an editor for the workspace is */
  'GET /api/conversations/{conversation_id}/vscode-url': { reply: {
      vscode_url: string | null
    } }
  /** Where the servers that run in the workspace are */
  'GET /api/conversations/{conversation_id}/web-hosts': { reply: {
      hosts: Record<string, number>
    } }
  /** Follow and feed the conversation over a WebSocket (plain protocol) */
  'GET /api/conversations/{conversation_id}/ws': { query?: { after?: number; start?: boolean }; reply: null }
  /** Download the workspace as a ZIP archive */
  'GET /api/conversations/{conversation_id}/zip-directory': { query?: { at?: number }; reply: Uint8Array }
  /** The archive (tar). Takes `Range`, so that a download goes on where it broke off; the `ETag` names the archive */
  'GET /api/export': { reply: Uint8Array }
  /** How far the archive is, and what is in it */
  'GET /api/export/state': { reply: ExportStanding }
  /** The state of the service, as an object */
  'GET /api/health': { reply: HealthStatus }
  /** How far the import is, and what became of it */
  'GET /api/import': { reply: ImportStanding }
  /** List the keys that were issued and not revoked, newest first */
  'GET /api/keys': { query?: { owner?: string; limit?: number; page_id?: string }; reply: ApiKeyList }
  /** Agents that a conversation can run */
  'GET /api/options/agents': { reply: string[] }
  /** What the web client needs to know about this server */
  'GET /api/options/config': { reply: WebClientConfig }
  /** Model identifiers, `provider/model`, that settings can name */
  'GET /api/options/models': { reply: string[] }
  /** Security analyzers that settings can name */
  'GET /api/options/security-analyzers': { reply: string[] }
  /** Whether everything of the owner is being deleted, and how far that is */
  'GET /api/owner': { query?: { owner?: string }; reply: OwnerStanding }
  /** List the runners that were connected, with what each can do; those that came or went last stand first */
  'GET /api/runners': { reply: RunnerList }
  /** For a runner: its WebSocket to the pool (docs/runners.md) */
  'GET /api/runners/socket': { reply: null }
  /** Names and descriptions; values are never shown */
  'GET /api/secrets': { reply: GETCustomSecrets }
  /** What was judged */
  'GET /api/security/export-trace': { reply: {
      conversation_id?: string
      id: number
      action: string
      [name: string]: unknown
    }[] }
  /** The policy text */
  'GET /api/security/policy': { reply: SecurityPolicy }
  /** The level that asks */
  'GET /api/security/settings': { reply: SecuritySettings }
  /** Who the browser is signed in as */
  'GET /api/session': { reply: SessionInfo }
  /** The settings, without their keys */
  'GET /api/settings': { reply: GETSettingsModel }
  /** What is set up, and what is missing */
  'GET /api/setup': { reply: Setup }
  /** The conversation that a link shows, by the token in the header `X-Share-Token` */
  'GET /api/shared': { reply: SharedConversation }
  /** The events that a link shows, oldest first */
  'GET /api/shared/events': { query?: { start_id?: number; end_id?: number; reverse?: 'true' | 'false'; limit?: number }; reply: SharedEvents }
  /** One level of the workspace, or with `file` the text of a file, where the link shows files */
  'GET /api/shared/files': { query?: { path?: string; file?: string }; reply: {
      names: string[] | null
      text: string | null
    } }
  /** What you have of everything that is limited, and how much it may be */
  'GET /api/usage': { reply: Usage }
  /** Who the user is at the first provider that answers */
  'GET /api/user/info': { reply: User }
  /** App installations of GitHub, workspaces of Bitbucket */
  'GET /api/user/installations': { query: { provider: ProviderType }; reply: string[] }
  /** Repositories of the user: a page of one provider, or those of all */
  'GET /api/user/repositories': { query?: { sort?: string; selected_provider?: ProviderType | null; page?: number | null; per_page?: number | null; installation_id?: string | null }; reply: Repository[] }
  /** Branches of a repository, main and master first, then the last pushed */
  'GET /api/user/repository/branches': { query: { repository: string }; reply: Branch[] }
  /** Microagents that a repository keeps */
  'GET /api/user/repository/{repository_name}/microagents': { reply: MicroagentResponse[] }
  /** One microagent of a repository */
  'GET /api/user/repository/{repository_name}/microagents/content': { query: { file_path: string }; reply: MicroagentContentResponse }
  /** Find repositories by an address, as owner/name, or by words */
  'GET /api/user/search/repositories': { query: { query: string; per_page?: number; sort?: string; order?: string; selected_provider?: ProviderType | null }; reply: Repository[] }
  /** Requests of the user that are in trouble, and open issues assigned to them */
  'GET /api/user/suggested-tasks': { reply: SuggestedTask[] }
  /** The own talks, the one in which something happened last first */
  'GET /api/v1/agent/chat/sessions': { query?: { limit?: number }; reply: {
      sessions: ChatSession[]
    } }
  /** The newest messages of a talk, oldest first; an unknown talk has none */
  'GET /api/v1/agent/chat/sessions/{session_id}': { query?: { limit?: number }; reply: {
      session_id: string
      messages: ChatMessage[]
    } }
  /** The strategies that an analysis can weigh */
  'GET /api/v1/agent/skills': { query?: { language?: 'zh' | 'en' | 'ko' }; reply: SkillsResponse }
  /** Another name of /api/v1/agent/skills */
  'GET /api/v1/agent/strategies': { query?: { language?: 'zh' | 'en' | 'ko' }; reply: SkillsResponse }
  /** What became of the messages of alerts */
  'GET /api/v1/alerts/notifications': { query?: { trigger_id?: number; channel?: string; success?: boolean; page?: number; page_size?: number }; reply: AlertNotificationPage }
  /** Rules of alerts */
  'GET /api/v1/alerts/rules': { query?: { enabled?: boolean; alert_type?: string; target_scope?: 'single_symbol' | 'watchlist' | 'portfolio_holdings' | 'portfolio_account' | 'market'; target?: string; source?: string; page?: number; page_size?: number }; reply: AlertRulePage }
  /** One rule */
  'GET /api/v1/alerts/rules/{rule_id}': { reply: AlertRule }
  /** What fired, and what could not be looked at */
  'GET /api/v1/alerts/triggers': { query?: { rule_id?: number; target?: string; status?: 'triggered' | 'skipped' | 'degraded' | 'failed'; page?: number; page_size?: number }; reply: AlertTriggerPage }
  /** Industries by the closes of the last session: how many of their members rose, and by how much */
  'GET /api/v1/alphasift/hotspots': { query?: { provider?: string; refresh?: string; top?: number; include_details?: string }; reply: PageTopics }
  /** The members of an industry by the closes of the last session */
  'GET /api/v1/alphasift/hotspots/{topic}': { query?: { provider?: string; refresh?: string }; reply: PageTopic }
  /** A run of the analysis page with what it found */
  'GET /api/v1/alphasift/screen/tasks/{task_id}': { reply: PageScreenTask }
  /** Whether the analysis page shows screening, and whether it can */
  'GET /api/v1/alphasift/status': { reply: ScreeningStatus }
  /** The strategies of the service, as the analysis page reads them */
  'GET /api/v1/alphasift/strategies': { reply: PageStrategies }
  /** Where your reports are sent */
  'GET /api/v1/analysis/channels': { reply: {
      channels: Channel[]
    } }
  /** One channel */
  'GET /api/v1/analysis/channels/{channel_id}': { reply: Channel }
  /** What was sent, or is to be, newest first */
  'GET /api/v1/analysis/deliveries': { query?: { limit?: number; page_id?: string; cursor?: string; status?: 'pending' | 'delivered' | 'uncertain' | 'failed'; channel_id?: string; task_id?: string }; reply: {
      deliveries: Delivery[]
      next_page_id: string | null
      next_cursor: string | null
    } }
  /** One delivery with its parts */
  'GET /api/v1/analysis/deliveries/{delivery_id}': { reply: DeliveryDetail }
  /** What the method was worth when it was replayed day by day over stored bars, beside its baselines */
  'GET /api/v1/analysis/evidence': { query?: { data?: 'market' | 'sample'; measure?: 'sessions_5' | 'sessions_20' | 'plan'; group?: 'buy' | 'hold' | 'sell' | 'score_0_19' | 'score_20_39' | 'score_40_59' | 'score_60_79' | 'score_80_100'; market?: 'all' | 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'; regime?: 'all' | 'bull' | 'bear' | 'sideways' | 'unknown'; verdict?: 'edge' | 'no_edge_shown' | 'too_few' | 'no_claim'; limit?: number; offset?: number }; reply: EvidenceResponse }
  /** The owner's ledger of advice: only ever added to, each row bound to the one before by its hash */
  'GET /api/v1/analysis/evidence/ledger': { query?: { after_place?: number; limit?: number }; reply: LedgerResponse }
  /** How past advice turned out after 5, 10 and 20 sessions */
  'GET /api/v1/analysis/history/accuracy': { query?: { stock_code?: string; days?: number }; reply: AccuracyResponse }
  /** How long the queue is, how old its oldest task, what runs and how fast it goes */
  'GET /api/v1/analysis/queue': { reply: QueueState }
  /** What became of each slot that came, newest first */
  'GET /api/v1/analysis/schedule-runs': { query?: { schedule_id?: string; limit?: number; page_id?: string }; reply: {
      runs: ScheduleRun[]
      next_page_id: string | null
    } }
  /** Your schedules, oldest first */
  'GET /api/v1/analysis/schedules': { reply: ScheduleList }
  /** One schedule */
  'GET /api/v1/analysis/schedules/{schedule_id}': { reply: Schedule }
  /** The state of a task, with its result once there is one */
  'GET /api/v1/analysis/status/{task_id}': { reply: TaskStatus }
  /** The newest tasks, with the counts of all of them */
  'GET /api/v1/analysis/tasks': { query?: { status?: string; limit?: number; filter_first?: boolean }; reply: TaskListResponse }
  /** What happens to your tasks, as it happens */
  'GET /api/v1/analysis/tasks/stream': { query?: { after?: string }; reply: string }
  /** Where the figures of a task came from and what became of them */
  'GET /api/v1/analysis/tasks/{task_id}/flow': { reply: RunFlowSnapshot }
  /** Your watchlists, the default first */
  'GET /api/v1/analysis/watchlists': { reply: {
      watchlists: Watchlist[]
    } }
  /** What changed over your groups since a moment, a day ago by default: what a schedule of the kind `digest` tells */
  'GET /api/v1/analysis/watchlists/digest': { query?: { watchlist_id?: string; since?: string; limit?: number; page_id?: string }; reply: WatchlistDigest }
  /** Your watchlists as a CSV file that an import takes back: watchlist (`group`), code, name, note */
  'GET /api/v1/analysis/watchlists/export': { query?: { watchlist_id?: string }; reply: string }
  /** One watchlist */
  'GET /api/v1/analysis/watchlists/{watchlist_id}': { reply: Watchlist }
  /** Whether the analysis page needs a sign-in, and has one */
  'GET /api/v1/auth/status': { reply: AuthStatus }
  /** How all reports came out together */
  'GET /api/v1/backtest/performance': { query?: { eval_window_days?: number; analysis_date_from?: string | null; analysis_date_to?: string | null; analysis_phase?: 'premarket' | 'intraday' | 'postmarket' | 'unknown' }; reply: BacktestMetrics }
  /** How the reports of one listing came out together */
  'GET /api/v1/backtest/performance/{code}': { query?: { eval_window_days?: number; analysis_date_from?: string | null; analysis_date_to?: string | null; analysis_phase?: 'premarket' | 'intraday' | 'postmarket' | 'unknown' }; reply: BacktestMetrics }
  /** How single reports came out, one a listing and session */
  'GET /api/v1/backtest/results': { query?: { code?: string; eval_window_days?: number; analysis_date_from?: string | null; analysis_date_to?: string | null; analysis_phase?: 'premarket' | 'intraday' | 'postmarket' | 'unknown'; page?: number; limit?: number }; reply: BacktestResults }
  /** Days of results and dividends of what you watch and hold */
  'GET /api/v1/calendar': { query?: { from?: string; to?: string; scope?: 'all' | 'watchlist' | 'holdings'; watchlist_id?: string; account_id?: number; stock_codes?: string; kind?: 'earnings' | 'ex_dividend' | 'dividend_payment'; page?: number; page_size?: number }; reply: Calendar }
  /** The same as a file for calendars, RFC 5545 */
  'GET /api/v1/calendar.ics': { query?: { from?: string; to?: string; scope?: 'all' | 'watchlist' | 'holdings'; watchlist_id?: string; account_id?: number; stock_codes?: string; kind?: 'earnings' | 'ex_dividend' | 'dividend_payment' }; reply: string }
  /** Signals: one for each report that advised something, and those that were entered */
  'GET /api/v1/decision-signals': { query?: { market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'; stock_code?: string; action?: 'buy' | 'add' | 'hold' | 'reduce' | 'sell' | 'watch' | 'avoid' | 'alert'; market_phase?: 'premarket' | 'intraday' | 'lunch_break' | 'closing_auction' | 'postmarket' | 'non_trading' | 'unknown'; decision_profile?: 'conservative' | 'balanced' | 'aggressive' | 'unknown'; source_type?: 'analysis' | 'agent' | 'alert' | 'market_review' | 'manual'; source_report_id?: number; status?: 'active' | 'expired' | 'invalidated' | 'closed' | 'archived'; created_from?: string; created_to?: string; holding_only?: boolean; account_id?: number; page?: number; page_size?: number }; reply: DecisionSignalPage }
  /** The newest signals of a listing that still hold */
  'GET /api/v1/decision-signals/latest/{stock_code}': { query?: { market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'; limit?: number }; reply: DecisionSignalPage }
  /** What became of the newest 2,000 signals, one for each signal and horizon */
  'GET /api/v1/decision-signals/outcomes': { query?: { signal_id?: number; horizon?: '1d' | '3d' | '5d' | '10d'; eval_status?: 'completed' | 'unable'; outcome?: 'hit' | 'miss' | 'neutral'; engine_version?: string; page?: number; page_size?: number }; reply: DecisionSignalOutcomePage }
  /** How the signals came out, with what was earned after costs, by the index and by holding beside it */
  'GET /api/v1/decision-signals/outcomes/stats': { query?: { horizons?: string; statuses?: string }; reply: DecisionSignalStats }
  /** One signal */
  'GET /api/v1/decision-signals/{signal_id}': { reply: DecisionSignal }
  /** What the owner said of a signal */
  'GET /api/v1/decision-signals/{signal_id}/feedback': { reply: DecisionSignalFeedback }
  /** What became of a signal after 1, 3, 5 and 10 sessions */
  'GET /api/v1/decision-signals/{signal_id}/outcomes': { reply: DecisionSignalOutcomePage }
  /** The state of the service, as an object */
  'GET /api/v1/health': { reply: HealthStatus }
  /** Finished analyses, newest first */
  'GET /api/v1/history': { query?: { stock_code?: string; report_type?: string; start_date?: string; end_date?: string; page?: number; limit?: number }; reply: HistoryListResponse }
  /** One row for each listing that has reports: its newest one */
  'GET /api/v1/history/stocks': { query?: { start_date?: string; end_date?: string; limit?: number }; reply: StockBarResponse }
  /** A stored report */
  'GET /api/v1/history/{record_id}': { reply: AnalysisReport }
  /** The chart of a stored report: candles, averages, levels and volume; of a market review its indices */
  'GET /api/v1/history/{record_id}/chart.svg': { query?: { region?: string; theme?: 'light' | 'dark' }; reply: string }
  /** What the run of a report went through */
  'GET /api/v1/history/{record_id}/diagnostics': { reply: DiagnosticSummary }
  /** The flow of the run of a report */
  'GET /api/v1/history/{record_id}/flow': { reply: RunFlowSnapshot }
  /** A stored report as a page of HTML with its chart */
  'GET /api/v1/history/{record_id}/html': { reply: string }
  /** A stored report as Markdown */
  'GET /api/v1/history/{record_id}/markdown': { reply: {
      content: string
    } }
  /** The news that a report was made with; empty for an unknown record too */
  'GET /api/v1/history/{record_id}/news': { query?: { limit?: number }; reply: NewsIntelResponse }
  /** The card of a report as a picture (PNG, 1080 × 1350) */
  'GET /api/v1/history/{record_id}/share-image': { query?: { theme?: 'light' | 'dark' }; reply: Uint8Array }
  /** The page of a report that is short enough to be shared as a picture */
  'GET /api/v1/history/{record_id}/share-image-html': { reply: string }
  /** Which markets trade at the moment, and when the others do next, by their calendars */
  'GET /api/v1/market/status': { reply: MarketStatuses }
  /** Your accounts, in the order of their making */
  'GET /api/v1/portfolio/accounts': { query?: { include_inactive?: boolean }; reply: {
      accounts: PortfolioAccount[]
    } }
  /** What you paid in and out */
  'GET /api/v1/portfolio/cash-ledger': { query?: { account_id?: number; date_from?: string; date_to?: string; page?: number; page_size?: number; direction?: 'in' | 'out' }; reply: {
      items: PortfolioCash[]
      total: number
      page: number
      page_size: number
    } }
  /** Dividends and splits of your holdings */
  'GET /api/v1/portfolio/corporate-actions': { query?: { account_id?: number; date_from?: string; date_to?: string; page?: number; page_size?: number; symbol?: string; action_type?: 'cash_dividend' | 'split_adjustment' }; reply: {
      items: PortfolioAction[]
      total: number
      page: number
      page_size: number
    } }
  /** The rates that you gave, the newest first */
  'GET /api/v1/portfolio/fx/rates': { reply: {
      rates: PortfolioRate[]
    } }
  /** Whose files can be imported */
  'GET /api/v1/portfolio/imports/csv/brokers': { reply: {
      brokers: PortfolioBroker[]
    } }
  /** Concentration, falls from a high, returns, and losses against the cost */
  'GET /api/v1/portfolio/risk': { query?: { account_id?: number; as_of?: string; cost_method?: 'fifo' | 'avg'; currency?: string; benchmark?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' }; reply: PortfolioRisk }
  /** What you hold and what it is worth, at the last close of each market */
  'GET /api/v1/portfolio/snapshot': { query?: { account_id?: number; as_of?: string; cost_method?: 'fifo' | 'avg'; currency?: string; include_realtime?: boolean }; reply: PortfolioSnapshot }
  /** Your trades */
  'GET /api/v1/portfolio/trades': { query?: { account_id?: number; date_from?: string; date_to?: string; page?: number; page_size?: number; symbol?: string; side?: 'buy' | 'sell' }; reply: {
      items: PortfolioTrade[]
      total: number
      page: number
      page_size: number
    } }
  /** The figures that listings may be screened by, with unit and meaning */
  'GET /api/v1/screening/fields': { reply: {
      fields: ScreeningField[]
      markets: ('cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw')[]
      kinds: ('stock' | 'etf')[]
    } }
  /** Your saved screens, the last changed first */
  'GET /api/v1/screening/screens': { query?: { page?: number; page_size?: number }; reply: SavedScreens }
  /** One saved screen */
  'GET /api/v1/screening/screens/{screen_id}': { reply: SavedScreen }
  /** What a saved screen found when it ran by itself, the newest run first; kept for 90 days */
  'GET /api/v1/screening/screens/{screen_id}/runs': { query?: { page?: number; page_size?: number }; reply: ScreenRuns }
  /** How many listings have figures, how old they are, and how far the collecting is */
  'GET /api/v1/screening/state': { reply: {
      markets: ScreeningMarket[]
      requests_per_minute: number
      message: string | null
    } }
  /** The rules that come with the service, in the language of filters */
  'GET /api/v1/screening/strategies': { reply: {
      strategies: ScreeningStrategy[]
    } }
  /** Stocks whose code, name, pinyin or alias begins with what was typed, or whose name contains it */
  'GET /api/v1/stocks/search': { query?: { q?: string; limit?: number; language?: 'zh' | 'en' | 'ko' }; reply: StockSearchResponse }
  /** The stocks of your default watchlist */
  'GET /api/v1/stocks/watchlist': { reply: WatchlistCodes }
  /** The bars of the last sessions, oldest first */
  'GET /api/v1/stocks/{code}/history': { query?: { period?: string; days?: number }; reply: StockHistoryResponse }
  /** The latest price that is known of a stock */
  'GET /api/v1/stocks/{code}/quote': { reply: StockQuote }
  /** Your settings as the analysis page reads them */
  'GET /api/v1/system/config': { query?: { include_schema?: boolean }; reply: ConfigDocument }
  /** Your settings as lines of KEY=value, without what is secret */
  'GET /api/v1/system/config/export': { reply: ConfigExport }
  /** The model behind the analyses and talks, as the existing page lists it */
  'GET /api/v1/system/config/generation-backends/status': { reply: GenerationBackends }
  /** What of your analyses is set up, and what is missing */
  'GET /api/v1/system/config/setup/status': { reply: SetupStatus }
  /** All your schedules as one: when they run next, and how the last run ended */
  'GET /api/v1/system/scheduler/status': { reply: SchedulerStatus }
  /** What the own calls of language models used, of the last 90 days */
  'GET /api/v1/usage/dashboard': { query?: { period?: string; limit?: number }; reply: UsageDashboard }
  /** The state of the service, as a bare string */
  'GET /health': { reply: string }
  /** Counts for Prometheus, for who shows METRICS_TOKEN */
  'GET /metrics': { reply: string }
  /** Change the title; a blank one brings back the default */
  'PATCH /api/conversations/{conversation_id}': { body: UpdateConversationRequest; reply: boolean }
  /** Change a rule; what is left out stays */
  'PATCH /api/v1/alerts/rules/{rule_id}': { body: AlertRuleChange; reply: AlertRule }
  /** Close, invalidate or archive a signal */
  'PATCH /api/v1/decision-signals/{signal_id}/status': { body: DecisionSignalStatusInput; reply: DecisionSignal }
  /** Change a saved screen; what is left out stays, and another filter begins afresh */
  'PATCH /api/v1/screening/screens/{screen_id}': { body: SavedScreenChange; reply: SavedScreen }
  /** Store tokens of git providers, each after its provider accepted it */
  'POST /api/add-git-providers': { body: POSTProviderModel; reply: {
      message: string
    } }
  /** Start a conversation, or join the one that has the given id */
  'POST /api/conversations': { query?: { agent?: 'CodeActAgent' | 'ReadOnlyAgent' | 'ShellAgent'; model?: string; runtime?: 'auto' | 'edge' | 'runner'; labels?: string }; body: InitSessionRequest; reply: ConversationResponse }
  /** Go on with a talk about reports as a conversation with files; asked again it names the same one */
  'POST /api/conversations/continue-chat': { body: ContinueChatRequest; reply: ConversationResponse }
  /** Add an event, as a client would over the socket */
  'POST /api/conversations/{conversation_id}/events': { query?: { wait?: number }; body: {
      action: 'message'
      args: {
        content: string
        image_urls?: string[] | null
        file_urls?: string[] | null
        wait_for_response?: boolean
        images_urls?: string[] | null
        timestamp?: unknown
      }
      source?: 'agent' | 'user' | 'environment'
      timestamp?: unknown
    } | {
      action: 'run'
      args: {
        command: string
        is_input?: boolean
        thought?: string
        blocking?: boolean
        is_static?: boolean
        cwd?: string | null
        hidden?: boolean
        confirmation_state?: 'confirmed' | 'awaiting_confirmation' | 'rejected'
        is_confirmed?: unknown
        keep_prompt?: unknown
        timestamp?: unknown
      }
      source?: 'agent' | 'user' | 'environment'
      timestamp?: unknown
    } | {
      action: 'change_agent_state'
      args: {
        agent_state: 'running' | 'paused' | 'stopped' | 'user_confirmed' | 'user_rejected' | 'awaiting_user_input' | 'finished' | 'rejected'
        thought?: string
        action_id?: number
        timestamp?: unknown
      }
      source?: 'agent' | 'user' | 'environment'
      timestamp?: unknown
    }; reply: AgentStand | {
      success: true
    } | AgentStand }
  /** Make a new conversation from this one as it was at an event: its events until then, and its workspace */
  'POST /api/conversations/{conversation_id}/fork': { body: ForkConversationRequest; reply: ConversationResponse }
  /** Keep another policy text; a blank one brings back the built-in one */
  'POST /api/conversations/{conversation_id}/security/policy': { body: SecurityPolicy; reply: SecurityPolicy }
  /** Set the risk from which an action waits for confirmation */
  'POST /api/conversations/{conversation_id}/security/settings': { body: SecuritySettings; reply: SecuritySettings }
  /** Make a link by which whoever has it reads the conversation until the link ends */
  'POST /api/conversations/{conversation_id}/shares': { body: ShareRequest; reply: MadeShare }
  /** Start the agent loop, or return the one that runs */
  'POST /api/conversations/{conversation_id}/start': { body: ProvidersSetModel; reply: ConversationResponse }
  /** Close the session and stop the conversation */
  'POST /api/conversations/{conversation_id}/stop': { reply: ConversationResponse }
  /** Leave a judgement of the conversation with the operator of this server */
  'POST /api/conversations/{conversation_id}/submit-feedback': { body: FeedbackRequest; reply: FeedbackResponse }
  /** Put files into the workspace */
  'POST /api/conversations/{conversation_id}/upload-files': { query?: { unpack?: boolean | null }; body: FormData; reply: POSTUploadFilesModel }
  /** Prepare an archive of everything that the owner has but secrets, in place of the one that is there */
  'POST /api/export': { reply: ExportStanding }
  /** Begin to import an archive that `GET /api/export` served, in place of an import that is over or was not carried out */
  'POST /api/import': { body: NewImport; reply: ImportStanding }
  /** Issue a key; the only answer that shows it */
  'POST /api/keys': { body: CreateApiKey; reply: NewApiKey }
  /** Was removed; always answers 410 */
  'POST /api/reset-settings': { reply: null }
  /** Store a secret */
  'POST /api/secrets': { body: CustomSecretModel; reply: {
      message: string
    } }
  /** Keep another policy text; a blank one brings back the built-in one */
  'POST /api/security/policy': { body: SecurityPolicy; reply: SecurityPolicy }
  /** Set the risk from which an action waits for confirmation */
  'POST /api/security/settings': { body: SecuritySettings; reply: SecuritySettings }
  /** Sign in with a key */
  'POST /api/session': { body: SignIn; reply: SessionInfo }
  /** Change settings; a field that is absent is kept */
  'POST /api/settings': { body: Settings; reply: {
      message: string
      warning?: string
    } }
  /** Ask the model one short question: with what the body says, and what is stored for the rest. Stores nothing */
  'POST /api/settings/model-test': { body: ModelTrial; reply: ModelTest }
  /** Remove all tokens of git providers */
  'POST /api/unset-provider-tokens': { reply: {
      message: string
    } }
  /** Send a text of a talk to the own notification channels; answered once it is queued */
  'POST /api/v1/agent/chat/send': { body: ChatSendRequest; reply: ChatSent }
  /** Ask about a report or a stock; the same message again while it is answered joins its stream */
  'POST /api/v1/agent/chat/stream': { body: ChatRequest; reply: string }
  /** Make a rule; what holds already when it is made does not fire */
  'POST /api/v1/alerts/rules': { body: AlertRuleInput; reply: AlertRule }
  /** Switch a rule off */
  'POST /api/v1/alerts/rules/{rule_id}/disable': { reply: AlertRule }
  /** Switch a rule on; it begins afresh */
  'POST /api/v1/alerts/rules/{rule_id}/enable': { reply: AlertRule }
  /** What the condition of a rule says now; nothing is stored and nothing is sent */
  'POST /api/v1/alerts/rules/{rule_id}/test': { reply: AlertTestResult }
  /** Refused: nothing is installed by request */
  'POST /api/v1/alphasift/install': { reply: null }
  /** Run a strategy over the kept figures; the answer is stored for a week, the last twenty of an owner */
  'POST /api/v1/alphasift/screen/tasks': { body: PageScreenRequest; reply: {
      task_id: string
      message: string
    } }
  /** Analyse one stock at once, or queue one task for each of up to 50 */
  'POST /api/v1/analysis/analyze': { query?: { wait?: number }; body: AnalyzeRequest; reply: AnalysisResultResponse | TaskAccepted | BatchTaskAcceptedResponse }
  /** Send a test message there, also while the channel is switched off */
  'POST /api/v1/analysis/channels/{channel_id}/test': { reply: ChannelTest }
  /** Send again what failed or is in doubt; a part in doubt may then arrive twice */
  'POST /api/v1/analysis/deliveries/{delivery_id}/retry': { reply: DeliveryDetail }
  /** Queue a review of one or several markets; one at a time, on any day */
  'POST /api/v1/analysis/market-review': { body?: MarketReviewRequest | null; reply: MarketReviewAccepted }
  /** Add a schedule */
  'POST /api/v1/analysis/schedules': { body: ScheduleInput; reply: SavedSchedule }
  /** Stop a task: at once while it waits, at its next stage or request while it runs */
  'POST /api/v1/analysis/tasks/{task_id}/cancel': { reply: TaskInfo }
  /** Add a watchlist */
  'POST /api/v1/analysis/watchlists': { body: {
      name: string
      note?: string
      stock_codes?: string[]
      confirm?: boolean
    }; reply: ChangedWatchlist }
  /** Put rows into their watchlists, all or none; `stocks/parse-import` makes rows of a file */
  'POST /api/v1/analysis/watchlists/import': { body: {
      rows: {
        stock_code: string
        group?: string | null
        note?: string | null
        row?: number | null
      }[]
      confirm?: boolean
    }; reply: WatchlistImport }
  /** Analyse every stock of a watchlist as one batch; twice within a minute is once */
  'POST /api/v1/analysis/watchlists/{watchlist_id}/run': { body?: {
      report_type?: 'simple' | 'detailed' | 'full' | 'brief'
      report_language?: 'zh' | 'en' | 'ko' | null
      notify?: boolean
    }; reply: WatchlistRun }
  /** Put a stock into a watchlist; one that is there already stays where it is */
  'POST /api/v1/analysis/watchlists/{watchlist_id}/stocks': { body: {
      stock_code: string
      confirm?: boolean
    }; reply: ChangedWatchlist }
  /** Refused: there is no password, only keys */
  'POST /api/v1/auth/change-password': { reply: null }
  /** Sign in at the analysis page: the password is an access key of the scope `analysis` */
  'POST /api/v1/auth/login': { body: PasswordLogin; reply: {
      ok: true
    } }
  /** Sign out of the analysis page: this sign-in ends, and no other one */
  'POST /api/v1/auth/logout': { reply: null }
  /** Refused: whether keys are needed is set by the operator */
  'POST /api/v1/auth/settings': { reply: null }
  /** Fetch the bars after the own reports and evaluate these again */
  'POST /api/v1/backtest/run': { body?: BacktestRunInput; reply: BacktestRun }
  /** Enter a signal; the same one is entered once */
  'POST /api/v1/decision-signals': { body: DecisionSignalInput; reply: DecisionSignalEntered }
  /** What became of the newest signals that match; they are measured whenever they are read, so nothing is stored */
  'POST /api/v1/decision-signals/outcomes/run': { body?: DecisionSignalRun; reply: DecisionSignalRunResult }
  /** What a report would advise under a profile; arithmetic, no model is asked and nothing is stored */
  'POST /api/v1/decision-signals/reassess': { body: DecisionSignalReassess; reply: DecisionSignalPreview }
  /** Add an account */
  'POST /api/v1/portfolio/accounts': { body: {
      name: string
      broker?: string | null
      market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
      base_currency?: string
      owner_id?: string | null
    }; reply: PortfolioAccount }
  /** Book what was paid in or out */
  'POST /api/v1/portfolio/cash-ledger': { body: {
      account_id: number
      note?: string | null
      event_date: string
      direction: 'in' | 'out'
      amount: number | string
      currency?: string | null
    }; reply: {
      id: number
    } }
  /** Book a dividend or a split */
  'POST /api/v1/portfolio/corporate-actions': { body: {
      account_id: number
      note?: string | null
      symbol: string
      market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' | null
      currency?: string | null
      effective_date: string
      action_type: 'cash_dividend' | 'split_adjustment'
      cash_dividend_per_share?: number | string | null
      split_ratio?: number | string | null
    }; reply: {
      id: number
    } }
  /** Fetch reference rates that are out and not known yet, and say which of yours they serve */
  'POST /api/v1/portfolio/fx/refresh': { query?: { account_id?: number; as_of?: string }; reply: PortfolioFxRefresh }
  /** Book the trades of a file that are not booked yet, all or none of them */
  'POST /api/v1/portfolio/imports/csv/commit': { body: FormData; reply: PortfolioImportResult }
  /** What a file would book; nothing is stored */
  'POST /api/v1/portfolio/imports/csv/parse': { body: FormData; reply: PortfolioImport }
  /** Analyse a stock that you hold; your quantity and cost are not part of it */
  'POST /api/v1/portfolio/positions/{symbol}/analysis': { body?: PortfolioPositionAnalysisRequest; reply: TaskAccepted }
  /** Book a trade */
  'POST /api/v1/portfolio/trades': { body: {
      account_id: number
      note?: string | null
      symbol: string
      market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw' | null
      currency?: string | null
      trade_date: string
      side: 'buy' | 'sell'
      quantity: number | string
      price: number | string
      fee?: number | string
      tax?: number | string
      trade_uid?: string | null
    }; reply: {
      id: number
    } }
  /** The listings that pass a filter, with their figures and how old they are; nothing is stored */
  'POST /api/v1/screening/run': { query?: { page?: number; page_size?: number }; body: ScreenDefinition; reply: Screened }
  /** Save a screen; its first run by itself says only how things are */
  'POST /api/v1/screening/screens': { body: SavedScreenInput; reply: SavedScreen }
  /** What a saved screen finds now, and what is new since it ran by itself; nothing is stored or sent */
  'POST /api/v1/screening/screens/{screen_id}/run': { query?: { page?: number; page_size?: number }; reply: SavedScreenRun }
  /** The stocks of a list in a picture, as your model reads them; nothing is stored */
  'POST /api/v1/stocks/extract-from-image': { query?: { include_raw?: boolean }; body: FormData; reply: StockImageImport }
  /** How the rows of a text, a CSV or a workbook (XLSX) would be read as stocks; a form, or JSON with `text` */
  'POST /api/v1/stocks/parse-import': { body: FormData; reply: StockImport }
  /** How entries would be read, in any form in which people paste them; nothing is submitted */
  'POST /api/v1/stocks/readings': { body: {
      entries: string[]
      language?: 'zh' | 'en' | 'ko'
    }; reply: {
      items: StockReading[]
    } }
  /** Put a stock into your default watchlist */
  'POST /api/v1/stocks/watchlist/add': { body: {
      stock_code: string
      confirm?: boolean
    }; reply: WatchlistCodes }
  /** Take a stock out of your default watchlist */
  'POST /api/v1/stocks/watchlist/remove': { body: {
      stock_code: string
    }; reply: WatchlistCodes }
  /** Ask the stored model one short question */
  'POST /api/v1/system/config/generation-backends/smoke-test': { body: GenerationBackendTrial; reply: GenerationBackendTried }
  /** The same with what stands in the form */
  'POST /api/v1/system/config/generation-backends/status/preview': { body: GenerationBackendsPreview; reply: GenerationBackends }
  /** Take over lines of KEY=value; what is not known here is left out and named */
  'POST /api/v1/system/config/import': { body: ConfigImport; reply: ConfigWritten }
  /** The models that a provider of the OpenAI kind lists */
  'POST /api/v1/system/config/llm/discover-models': { body: ModelListRequest; reply: ModelsFound }
  /** Ask the first model of an entry one short question, and try what it can do */
  'POST /api/v1/system/config/llm/test-channel': { body: ModelEntryTrial; reply: ModelEntryTested }
  /** Send a message with what stands in the form; nothing is stored */
  'POST /api/v1/system/config/notification/test-channel': { body: PageChannelTrial; reply: PageChannelTried }
  /** What would be wrong with a change; nothing is stored */
  'POST /api/v1/system/config/validate': { body: ConfigValidation; reply: ConfigValidated }
  /** Analyse the stocks of your default watchlist now; twice within a minute is once */
  'POST /api/v1/system/scheduler/run-now': { reply: SchedulerRun }
  /** The Model Context Protocol, streamable HTTP without sessions */
  'POST /mcp': { body: McpMessage; reply: McpMessage | null }
  /** The Model Context Protocol, streamable HTTP without sessions */
  'POST /mcp/mcp': { body: McpMessage; reply: McpMessage | null }
  /** Set what you may spend; a field that is absent keeps its value, null takes the limit away */
  'PUT /api/budget': { body: BudgetChange; reply: Budget }
  /** Send the part of the archive that begins at a byte */
  'PUT /api/import': { query: { import_id: string; offset: number }; body: string; reply: ImportStanding }
  /** Give a secret another name or description; its value stays */
  'PUT /api/secrets/{secret_id}': { body: CustomSecretWithoutValueModel; reply: {
      message: string
    } }
  /** Make or change a channel */
  'PUT /api/v1/analysis/channels/{channel_id}': { body: ChannelInput; reply: Channel }
  /** Replace all your schedules: those of the list are kept or made, every other one goes */
  'PUT /api/v1/analysis/schedules': { body: ScheduleListInput; reply: SavedScheduleList }
  /** Change a schedule */
  'PUT /api/v1/analysis/schedules/{schedule_id}': { body: ScheduleInput; reply: SavedSchedule }
  /** Put your watchlists in another order; the default stays first, and those that are not named stay last */
  'PUT /api/v1/analysis/watchlists': { body: {
      watchlist_ids: string[]
    }; reply: {
      watchlists: Watchlist[]
    } }
  /** Give a watchlist another name or note, or other stocks in the order given; stocks that stay keep their notes */
  'PUT /api/v1/analysis/watchlists/{watchlist_id}': { body: {
      name?: string
      note?: string
      stock_codes?: string[]
      confirm?: boolean
    }; reply: ChangedWatchlist }
  /** Write a note beside a stock of a watchlist; an empty one takes it away */
  'PUT /api/v1/analysis/watchlists/{watchlist_id}/stocks/{stock_code}': { body: {
      note: string
    }; reply: Watchlist }
  /** Say whether a signal was useful */
  'PUT /api/v1/decision-signals/{signal_id}/feedback': { body: DecisionSignalFeedbackInput; reply: DecisionSignalFeedback }
  /** Change an account, or show a hidden one again */
  'PUT /api/v1/portfolio/accounts/{account_id}': { body: {
      name?: string
      broker?: string | null
      market?: 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'
      base_currency?: string
      is_active?: boolean
    }; reply: PortfolioAccount }
  /** Give a rate of a day, or another one in its place */
  'PUT /api/v1/portfolio/fx/rates': { body: {
      currency: string
      quote: string
      date: string
      rate: number | string
    }; reply: PortfolioRate }
  /** Change some of them, all or nothing; an empty value takes a setting away, the mask keeps it */
  'PUT /api/v1/system/config': { body: ConfigWrite; reply: ConfigWritten }
}

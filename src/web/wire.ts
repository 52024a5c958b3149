// The JSON shapes from the service: snake_case, and only the members that the console uses.

export type Session = { owner: string; scopes: string[]; auth_mode: 'local' | 'keys' }

/** What is configured and what is missing. */
export type Setup = {
  settings_stored: boolean
  model: { state: 'ready' | 'none' | 'needs-key' | 'needs-address' | 'unreadable'; id: string | null; is_own: boolean }
  agent: string
  market_data_is_live: boolean
  news_is_configured: boolean
  runners_connected: number
}

export type ConversationInfo = {
  conversation_id: string
  title: string
  status: 'STARTING' | 'RUNNING' | 'STOPPED'
  /** Null for a conversation without events since it was listed. */
  agent_state: string | null
  created_at: string
  last_updated_at: string | null
  selected_repository: string | null
  selected_branch: string | null
  git_provider: string | null
  pr_number: number[]
}

export type ConversationPage = { results: ConversationInfo[]; next_page_id: string | null }

/**
 * One row of a conversation's log. An agent may write kinds that this console does not know: those are shown as plain
 * steps.
 */
export type StoredEvent = {
  id: number
  timestamp: string
  source: 'agent' | 'user' | 'environment'
  message: string
  cause?: number
  action?: string
  args?: Record<string, unknown>
  observation?: string
  content?: string
  extras?: Record<string, unknown>
  llm_metrics?: Record<string, unknown>
}

export type EventPage = { events: StoredEvent[]; has_more: boolean }

export type UploadAnswer = { uploaded_files: string[]; skipped_files: { name: string; reason: string }[] }

export type Command =
  | { action: 'message'; args: { content: string; image_urls?: string[]; file_urls?: string[] } }
  | { action: 'change_agent_state'; args: { agent_state: string; action_id?: number } }
  | { action: 'run'; args: { command: string } }

/** The agent's text while it is being written; the complete answer arrives as an event. */
export type Delta = {
  type: 'delta'
  answer: number
  attempt: number
  kind: 'text' | 'reasoning' | 'call'
  text: string
}

export type ServerFrame =
  | { type: 'events'; events: StoredEvent[] }
  | { type: 'ready'; last_event_id: number }
  | { type: 'ack'; ref: string; event_id: number }
  | { type: 'error'; ref?: string; message: string; detail?: string[] }
  | { type: 'status'; id?: string; message: string; conversation_title?: string }
  | Delta
  | { type: 'output'; action_id: number; text: string }
  | { type: 'pong' }
  | { type: 'check' }
  | { type: 'closing'; reason: string }

export type TaskState = 'pending' | 'processing' | 'completed' | 'failed' | 'cancel_requested' | 'cancelled'

export type TaskInfo = {
  task_id: string
  stock_code: string
  stock_name: string | null
  status: TaskState
  progress: number
  message: string | null
  error: string | null
  report_type: string
  report_language: string | null
  created_at: string
  completed_at: string | null
  /** Of a market review: its regions. */
  region: string | null
}

export type TaskList = { tasks: TaskInfo[] }

export type AnalyzeRequest = {
  stock_code?: string
  stock_codes?: string[]
  original_query?: string
  selection_source: 'manual'
  report_type: string
  report_language?: string
  async_mode: true
}

type StockCandidate = { stock_code: string; stock_name: string; market_label: string }

/** How an entry of the form is read: `candidates` needs an answer, `unknown` cannot be sent. */
export type StockReading = {
  input: string
  kind: 'code' | 'reading' | 'candidates' | 'unknown'
  stock_code: string | null
  stock_name: string | null
  market: string | null
  market_label: string | null
  reason: string | null
  candidates: StockCandidate[]
}

type Duplicate = { stock_code: string; existing_task_id: string; message: string }

/** The answer for one code, or for several. */
export type Accepted =
  | { task_id: string; message: string }
  | { accepted: { task_id: string; stock_code: string; message: string }[]; duplicates: Duplicate[]; message: string }

export type MarketPhase = {
  market: string | null
  phase: string
  effective_daily_bar_date: string | null
}

export type Strategy = {
  ideal_buy: string | null
  secondary_buy: string | null
  stop_loss: string | null
  take_profit: string | null
}

export type Report = {
  meta: {
    query_id: string
    stock_code: string
    stock_name: string | null
    report_type: string
    report_language: string
    created_at: string
    current_price: number | null
    change_pct: number | null
    model_used: string | null
    market_phase_summary: MarketPhase | null
    /** Present if the figures are sample data. */
    data_notice?: string | null
    /** The consistency checks that failed or have warnings. */
    data_checks?: string | null
    /** How the entry was read. */
    reading?: string | null
  }
  summary: {
    analysis_summary: string
    operation_advice: string
    action: string | null
    action_label: string | null
    trend_prediction: string
    sentiment_score: number
    sentiment_label: string | null
  }
  strategy: Strategy | null
  details: Record<string, unknown> | null
}

export type TaskStatus = {
  task_id: string
  status: TaskState
  progress: number
  result: { report: Report; stock_name: string | null } | null
  market_review_report: string | null
  error: string | null
  stock_name: string | null
}

/** One notice says that the bars are sample data, another which checks failed or have warnings. */
export type History = {
  stock_name: string | null
  data: DailyBar[]
  data_notice?: string | null
  data_checks?: string | null
}

export type DailyBar = { date: string; open: number; high: number; low: number; close: number; volume: number | null }

-- Finished analyses: what lists and answers show, in columns; the report itself as JSON.
CREATE TABLE analyses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  query_id TEXT NOT NULL UNIQUE, -- the task's id, or the run's own; saving twice under one id keeps the first
  key TEXT NOT NULL, -- the normalised listing, equal for every spelling
  stock_code TEXT NOT NULL,
  stock_name TEXT,
  report_type TEXT NOT NULL, -- simple, full, brief or market_review
  report_language TEXT NOT NULL,
  region TEXT, -- of reviews
  analysis_phase TEXT NOT NULL,
  original_query TEXT,
  selection_source TEXT,
  skills TEXT, -- JSON array
  trend_prediction TEXT,
  analysis_summary TEXT,
  sentiment_score INTEGER,
  operation_advice TEXT,
  action TEXT,
  action_label TEXT,
  current_price REAL,
  change_pct REAL,
  volume_ratio REAL,
  turnover_rate REAL,
  model_used TEXT,
  market_phase_summary TEXT, -- JSON
  data_notice TEXT, -- set when the figures are sample data
  created_at TEXT NOT NULL,
  report TEXT NOT NULL -- JSON, without the context snapshot
);

CREATE INDEX analyses_by_age ON analyses (owner, id DESC);
CREATE INDEX analyses_by_key ON analyses (owner, key, id DESC);

-- What a report was made from: larger than the report and asked for less often.
CREATE TABLE analysis_snapshots (
  analysis_id INTEGER PRIMARY KEY REFERENCES analyses (id) ON DELETE CASCADE,
  context_snapshot TEXT, -- JSON
  diagnostics TEXT -- JSON
);

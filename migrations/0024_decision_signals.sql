-- One row for each advice that a report gave, and those that an owner enters. `identity` is what makes two of them the same.
CREATE TABLE decision_signals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  identity TEXT NOT NULL,
  key TEXT NOT NULL,
  stock_code TEXT NOT NULL,
  stock_name TEXT,
  market TEXT NOT NULL,
  source_type TEXT NOT NULL,
  source_agent TEXT,
  source_report_id INTEGER,
  trace_id TEXT,
  trigger_source TEXT NOT NULL,
  decision_profile TEXT,
  market_phase TEXT,
  -- The market's own day of the advice, and the last session that had begun by then.
  made_on TEXT NOT NULL,
  anchor TEXT NOT NULL,
  action TEXT NOT NULL,
  action_label TEXT,
  -- The price that it was made at.
  price REAL,
  confidence REAL,
  score REAL,
  horizon TEXT,
  entry_low REAL,
  entry_high REAL,
  stop_loss REAL,
  target_price REAL,
  plan_quality TEXT NOT NULL,
  status TEXT NOT NULL,
  -- Why it can never be measured; null of one that can.
  unscorable TEXT,
  -- JSON: the sentences, and what is shown as it is.
  words TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  expires_at TEXT
);

CREATE UNIQUE INDEX decision_signals_by_identity ON decision_signals (owner, identity);
CREATE INDEX decision_signals_by_time ON decision_signals (owner, created_at DESC, id DESC);
CREATE INDEX decision_signals_by_listing ON decision_signals (owner, key, status, created_at DESC);
CREATE INDEX decision_signals_by_session ON decision_signals (owner, key, anchor, id);
CREATE INDEX decision_signals_due ON decision_signals (owner, status, expires_at);
CREATE INDEX decision_signals_by_report ON decision_signals (source_report_id);
-- Which listings have an advice that is young enough to be measured.
CREATE INDEX decision_signals_recent ON decision_signals (anchor, key);

CREATE TABLE signal_feedback (
  owner TEXT NOT NULL,
  signal_id INTEGER NOT NULL,
  feedback_value TEXT NOT NULL,
  reason_code TEXT,
  note TEXT,
  source TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (owner, signal_id)
) WITHOUT ROWID;

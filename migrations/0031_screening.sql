-- Screening: the kept figures of every listing, which are nobody's; saved screens with what they found, and what the existing analysis
-- page asked for.

-- One row for each listing. Two groups of figures, each of one session that is over: those of its close, and those worked out from its
-- bars. Null is unknown, never zero.
CREATE TABLE stock_figures (
  key TEXT PRIMARY KEY, -- the normalised listing
  market TEXT NOT NULL,
  exchange TEXT NOT NULL,
  kind TEXT NOT NULL, -- stock or etf
  name TEXT NOT NULL,
  en TEXT NOT NULL,
  industry TEXT,
  risk_warned INTEGER NOT NULL, -- by the marks of its name
  active INTEGER NOT NULL, -- 0 once no list has it
  -- Of the close of a session.
  session TEXT, -- the day that they are of
  source TEXT,
  told_at INTEGER, -- epoch ms
  price REAL,
  change_pct REAL,
  amplitude_pct REAL,
  volume REAL,
  amount REAL,
  turnover_rate_pct REAL,
  volume_ratio REAL,
  pe_ratio REAL,
  pb_ratio REAL,
  market_value REAL,
  float_market_value REAL,
  close_marks TEXT NOT NULL DEFAULT '[]', -- JSON: checks that withhold some of them, or warn
  -- Worked out from bars, the last of which is of this session.
  bars_session TEXT,
  bars_source TEXT,
  bars_told_at INTEGER, -- epoch ms
  ma5 REAL,
  ma10 REAL,
  ma20 REAL,
  ma60 REAL,
  ma120 REAL,
  ma250 REAL,
  above_ma20_pct REAL,
  above_ma60_pct REAL,
  above_ma250_pct REAL,
  rsi_6 REAL,
  rsi_12 REAL,
  rsi_24 REAL,
  macd_dif REAL,
  macd_dea REAL,
  macd_bar REAL,
  return_5d_pct REAL,
  return_20d_pct REAL,
  return_60d_pct REAL,
  return_250d_pct REAL,
  high_52w REAL,
  low_52w REAL,
  from_high_52w_pct REAL,
  from_low_52w_pct REAL,
  volatility_60d_pct REAL,
  max_drawdown_250d_pct REAL,
  average_turnover_20d REAL,
  average_volume_20d REAL,
  bars_marks TEXT NOT NULL DEFAULT '[]', -- JSON: as above
  bars_next_at INTEGER NOT NULL DEFAULT 0, -- when its bars are due, epoch ms
  bars_failures INTEGER NOT NULL DEFAULT 0 -- without an answer in between
);

CREATE INDEX stock_figures_due ON stock_figures (active, bars_next_at);
CREATE INDEX stock_figures_of_industries ON stock_figures (market, industry);

-- How far the lists of closes are, one row for each market: a run that was cut off continues there.
CREATE TABLE screening_fills (
  market TEXT PRIMARY KEY,
  session TEXT NOT NULL, -- whose closes are being read
  source TEXT NOT NULL,
  position TEXT, -- the page, or the last listing, that was read; null at the beginning
  is_done INTEGER NOT NULL,
  told INTEGER NOT NULL, -- rows that were stored
  refused INTEGER NOT NULL, -- rows that were not: no time, another day, a check
  failures INTEGER NOT NULL, -- without an answer in between
  next_at INTEGER NOT NULL, -- not before, epoch ms
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) WITHOUT ROWID;

CREATE TABLE saved_screens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  screen TEXT NOT NULL, -- JSON
  schedule TEXT, -- JSON: when it runs by itself; null for never
  enabled INTEGER NOT NULL,
  channels TEXT, -- JSON: ids; null for all
  language TEXT NOT NULL, -- of its messages
  revision INTEGER NOT NULL, -- grows with every change of what it looks for
  version INTEGER NOT NULL, -- one run after another: the slower of two at once stores nothing
  members TEXT, -- JSON: the keys that matched; null before the first run
  next_at INTEGER, -- epoch ms
  last_run_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE INDEX saved_screens_of_owners ON saved_screens (owner, updated_at DESC, id DESC);
CREATE INDEX saved_screens_due ON saved_screens (next_at) WHERE enabled = 1 AND next_at IS NOT NULL;

-- What the runs of the schedule found. A slot of a screen is one of them.
CREATE TABLE screen_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE, -- screen, revision and slot
  owner TEXT NOT NULL,
  screen_id INTEGER NOT NULL,
  screen_name TEXT NOT NULL,
  slot TEXT NOT NULL,
  ran_at TEXT NOT NULL,
  is_first INTEGER NOT NULL, -- it had nothing to compare with
  counts TEXT NOT NULL, -- JSON
  fresh TEXT NOT NULL, -- JSON: the listings that are new, with their figures
  fresh_count INTEGER NOT NULL,
  language TEXT NOT NULL,
  notice TEXT, -- the key of its message; null where none is sent
  streamed INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX screen_runs_of_screens ON screen_runs (owner, screen_id, id DESC);
CREATE INDEX screen_runs_by_age ON screen_runs (ran_at);
CREATE INDEX screen_runs_to_stream ON screen_runs (id) WHERE streamed = 0;

-- Runs of the existing analysis page, with their answers.
CREATE TABLE page_screenings (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  strategy TEXT NOT NULL,
  market TEXT NOT NULL,
  result TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL -- epoch ms
) WITHOUT ROWID;

CREATE INDEX page_screenings_of_owners ON page_screenings (owner, created_at DESC);
CREATE INDEX page_screenings_by_age ON page_screenings (created_at);

-- Who screens: whether the page shows it, and when it was used last. Nothing is asked of sources where nobody does.
CREATE TABLE screening_owners (
  owner TEXT PRIMARY KEY,
  is_shown INTEGER NOT NULL,
  used_at INTEGER NOT NULL -- epoch ms
) WITHOUT ROWID;

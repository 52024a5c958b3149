-- Lists of stocks that an owner follows, in groups.
CREATE TABLE watchlists (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  is_default INTEGER NOT NULL DEFAULT 0,
  place INTEGER NOT NULL, -- the owner's own order
  created_at TEXT NOT NULL,
  UNIQUE (owner, name)
) WITHOUT ROWID;

CREATE UNIQUE INDEX default_watchlists ON watchlists (owner) WHERE is_default = 1;

CREATE TABLE watchlist_stocks (
  watchlist_id TEXT NOT NULL REFERENCES watchlists (id) ON DELETE CASCADE,
  key TEXT NOT NULL, -- the normalised listing, equal for every spelling
  stock_code TEXT NOT NULL,
  stock_name TEXT,
  place INTEGER NOT NULL,
  PRIMARY KEY (watchlist_id, key)
) WITHOUT ROWID;

CREATE INDEX watchlist_stocks_by_key ON watchlist_stocks (key);

-- What is to be done by itself, and when.
CREATE TABLE schedules (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  plan TEXT NOT NULL, -- JSON
  enabled INTEGER NOT NULL,
  since INTEGER NOT NULL, -- slots up to this moment are not its own, epoch ms
  next_at INTEGER, -- the first slot that is not settled, epoch ms; null when there is none
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX schedules_of_owners ON schedules (owner, created_at);
CREATE INDEX due_schedules ON schedules (next_at) WHERE enabled = 1 AND next_at IS NOT NULL;

-- One row for each slot that came: what became of it. The row is the slot's claim, so it runs once.
CREATE TABLE schedule_runs (
  schedule_id TEXT NOT NULL,
  slot TEXT NOT NULL,
  owner TEXT NOT NULL,
  name TEXT NOT NULL, -- of the schedule, which may be gone by now
  due_at INTEGER NOT NULL, -- epoch ms
  claimed_at INTEGER NOT NULL, -- epoch ms
  status TEXT NOT NULL, -- claimed, waiting, started, skipped, missed or failed
  detail TEXT, -- why, for all but started
  task_ids TEXT NOT NULL DEFAULT '[]', -- JSON array
  left_out TEXT NOT NULL DEFAULT '[]', -- JSON array: regions and stocks whose market was closed
  PRIMARY KEY (schedule_id, slot)
) WITHOUT ROWID;

CREATE INDEX schedule_runs_by_age ON schedule_runs (owner, due_at DESC);
CREATE INDEX old_schedule_runs ON schedule_runs (due_at);

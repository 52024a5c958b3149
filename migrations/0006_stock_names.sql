-- Names of listings: the packaged list, laid down by the first isolate that needs a name, and what providers have told since.
-- Isolates carry the packaged list themselves and read only the rows that changed.
CREATE TABLE stock_names (
  key TEXT PRIMARY KEY, -- the normalised listing
  kind TEXT NOT NULL, -- stock, etf or index
  zh TEXT NOT NULL,
  en TEXT NOT NULL,
  pinyin TEXT NOT NULL, -- syllables with blanks between them
  aliases TEXT NOT NULL, -- JSON array
  leading TEXT, -- the listing that a shared name stands for
  popularity INTEGER NOT NULL, -- 0 to 100
  active INTEGER NOT NULL,
  packaged_in TEXT, -- the packaged list that has it; null for listings that a provider added
  source TEXT, -- the provider that told of the change
  changed_at TEXT -- null: as packaged
) WITHOUT ROWID;

CREATE INDEX stock_names_changed ON stock_names (changed_at) WHERE changed_at IS NOT NULL;

-- One row.
CREATE TABLE stock_name_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seeded_from TEXT, -- the packaged list that was laid down last
  revision TEXT NOT NULL, -- a new random text with every change
  refreshed_at TEXT,
  refreshed_from TEXT -- the provider
);

-- Answers of market data sources, kept to save the asking and to have something when every source fails.
CREATE TABLE market_answers (
  need TEXT NOT NULL, -- daily_data, fundamentals, capital_flow, belong_boards or sector_rankings
  key TEXT NOT NULL, -- the normalised listing, or the market
  body TEXT NOT NULL, -- JSON
  provider TEXT NOT NULL,
  kept_at INTEGER NOT NULL, -- epoch ms
  PRIMARY KEY (need, key)
) WITHOUT ROWID;

CREATE INDEX market_answers_by_age ON market_answers (kept_at);

-- Sources that failed of late: one row for each source and need, none while all is well.
CREATE TABLE provider_circuits (
  circuit TEXT PRIMARY KEY, -- source:need
  failures INTEGER NOT NULL, -- without an answer in between
  open_until INTEGER NOT NULL -- epoch ms; 0: closed
) WITHOUT ROWID;

-- When a service may be asked next, by whichever isolate comes first.
CREATE TABLE provider_turns (
  service TEXT PRIMARY KEY,
  free_at INTEGER NOT NULL -- epoch ms
) WITHOUT ROWID;

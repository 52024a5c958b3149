-- Counts for Prometheus. The running totals of each isolate, one row each, which its next one replaces.
CREATE TABLE metric_rows (
  id TEXT PRIMARY KEY, -- of an isolate
  seq INTEGER NOT NULL, -- grows with every write of the isolate; an older one that comes late is refused
  totals TEXT NOT NULL, -- JSON: series and value
  stored_at INTEGER NOT NULL -- epoch ms
) WITHOUT ROWID;

-- What isolates counted that are gone.
CREATE TABLE metric_totals (
  series TEXT PRIMARY KEY,
  value REAL NOT NULL
) WITHOUT ROWID;

-- What owners' objects last told of themselves.
CREATE TABLE connected_runners (
  owner_object TEXT PRIMARY KEY,
  runners INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX conversations_connected ON conversations (num_connections) WHERE num_connections > 0;

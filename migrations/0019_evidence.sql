-- What replaying the method over stored bars showed, for bars of markets and for the packaged samples apart.
CREATE TABLE evidence_runs (
  data TEXT PRIMARY KEY,
  method_version TEXT NOT NULL,
  computed_at TEXT NOT NULL,
  from_date TEXT,
  to_date TEXT,
  series INTEGER NOT NULL,
  bars INTEGER NOT NULL,
  days INTEGER NOT NULL,
  left_out INTEGER NOT NULL
) WITHOUT ROWID;

-- `place` is the place in the table; `body` the row as JSON.
CREATE TABLE evidence_rows (
  data TEXT NOT NULL,
  place INTEGER NOT NULL,
  measure TEXT NOT NULL,
  part TEXT NOT NULL,
  market TEXT NOT NULL,
  regime TEXT NOT NULL,
  verdict TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (data, place)
) WITHOUT ROWID;

CREATE INDEX evidence_rows_by_scope ON evidence_rows (data, measure, market, regime, part);

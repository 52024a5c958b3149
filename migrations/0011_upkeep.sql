-- What the service does for itself from time to time. The row is the job's turn: whoever moves it on does the work.
CREATE TABLE upkeep_jobs (
  name TEXT PRIMARY KEY,
  next_at INTEGER NOT NULL, -- epoch ms
  started_at INTEGER NOT NULL,
  ended_at INTEGER, -- null while it runs, and for ever when it was cut off
  outcome TEXT -- a line for people
) WITHOUT ROWID;

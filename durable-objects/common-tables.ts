// Tables that several kinds of objects have. Part of their first migrations, so they never change.

export const ALARMS_SCHEMA = 'CREATE TABLE alarms (name TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;'

export const OUTBOX_SCHEMA = `
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice, so a put made during a send is told from what was sent
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL, -- epoch ms; not tried before
  UNIQUE (kind, key)
);`

/** Made with the first span: a service that sends no traces does not need it. */
export const SPANS_TABLE = `
CREATE TABLE IF NOT EXISTS spans (
  n INTEGER PRIMARY KEY, -- in the order in which they ended
  id TEXT NOT NULL UNIQUE, -- of its trace and its own
  body TEXT NOT NULL, -- JSON, as it is sent
  attempts INTEGER NOT NULL -- to send it
);`

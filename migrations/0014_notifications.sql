-- Where an owner's reports are sent to.
CREATE TABLE notification_channels (
  owner TEXT NOT NULL,
  id TEXT NOT NULL, -- chosen by the owner
  kind TEXT NOT NULL,
  mode TEXT NOT NULL, -- single or digest
  enabled INTEGER NOT NULL,
  settings TEXT NOT NULL, -- JSON: what may be shown
  sealed TEXT NOT NULL, -- JSON, sealed: the rest of the settings
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;

-- One report, or one digest, for one channel. The id is made from the three, so the same news makes the same row.
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which a channel's deliveries are sent
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  subject TEXT NOT NULL, -- what it is about: report:<task id> or digest:<batch>
  channel_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  mode TEXT NOT NULL,
  title TEXT NOT NULL,
  state TEXT NOT NULL, -- pending, delivered, uncertain or failed
  attempts INTEGER NOT NULL DEFAULT 0, -- in vain, since a part was last taken
  error TEXT, -- the last one
  next_at INTEGER NOT NULL, -- not tried before, epoch ms
  lease_token TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0, -- somebody works on it until then, epoch ms
  created_at TEXT NOT NULL,
  finished_at TEXT
);

CREATE INDEX pending_deliveries ON deliveries (owner, channel_id, seq) WHERE state = 'pending';
CREATE INDEX deliveries_of_owners ON deliveries (owner, seq);
CREATE INDEX old_deliveries ON deliveries (created_at);

CREATE TABLE delivery_parts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  n INTEGER NOT NULL, -- from 1
  owner TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  markdown TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting', -- waiting, sending, sent or unknown
  attempts INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER, -- the last time it went out, epoch ms
  settled_at INTEGER, -- epoch ms
  PRIMARY KEY (delivery_id, n)
) WITHOUT ROWID;

-- How often a channel was used lately.
CREATE INDEX recent_parts ON delivery_parts (owner, channel_id, started_at) WHERE started_at IS NOT NULL;

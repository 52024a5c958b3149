-- Links by which whoever has them reads one conversation. The token is not stored: `token_hash` is its SHA-256.
CREATE TABLE shares (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  -- The conversation that was there when the link was made: an id may be used again.
  incarnation TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  -- What is shown beside the talk, each 0 or 1.
  with_files INTEGER NOT NULL,
  with_hidden INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) WITHOUT ROWID;

CREATE INDEX shares_by_conversation ON shares (owner, conversation_id, created_at);

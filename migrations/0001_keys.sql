-- API keys. The secret part of a key is never stored, only its SHA-256.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL, -- JSON array of scope names
  secret_hash TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT, -- null: does not expire
  revoked_at TEXT -- null: in force
) WITHOUT ROWID;

CREATE INDEX api_keys_by_creation ON api_keys (created_at DESC, id DESC);

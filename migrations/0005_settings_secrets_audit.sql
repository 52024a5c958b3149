-- What an owner has set: one row a field, so that two changes at the same time lose nothing of each other.
CREATE TABLE settings (
  owner TEXT NOT NULL,
  field TEXT NOT NULL,
  value TEXT, -- JSON, sealed where the field may hold a secret; null: back to the default
  PRIMARY KEY (owner, field)
) WITHOUT ROWID;

CREATE TABLE provider_tokens (
  owner TEXT NOT NULL,
  provider TEXT NOT NULL,
  token TEXT NOT NULL, -- sealed
  host TEXT, -- null: the provider's own
  user_id TEXT,
  position INTEGER NOT NULL, -- where any provider will do, the first one is asked first
  PRIMARY KEY (owner, provider)
) WITHOUT ROWID;

CREATE TABLE secrets (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  value TEXT NOT NULL, -- sealed
  position INTEGER NOT NULL, -- grows with every creation and change
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;

-- The list shows no values, so it needs no row.
CREATE INDEX secrets_listed ON secrets (owner, position, name, description);

-- Who changed what, never to which value.
CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  at TEXT NOT NULL,
  actor TEXT NOT NULL, -- the id of the key that did it, or "local" or "root"
  action TEXT NOT NULL,
  subject TEXT, -- the id or name of what it was done to
  fields TEXT NOT NULL -- JSON array of the names of what changed
);

CREATE INDEX audit_by_owner ON audit_log (owner, id DESC);

-- An owner keeps the newest 10,000. Finding the oldest of them walks over all, so one entry in a hundred pays for it.
CREATE TRIGGER audit_bounded AFTER INSERT ON audit_log WHEN NEW.id % 100 = 0
BEGIN
  DELETE FROM audit_log
  WHERE owner = NEW.owner
    AND id <= (SELECT id FROM audit_log WHERE owner = NEW.owner ORDER BY id DESC LIMIT 1 OFFSET 10000);
END;

-- Every advice that was given, in the order of its owner's reports. Each row is bound to the one before it: `hash` is the SHA-256 of
-- `previous_hash`, a line feed and `content`.
CREATE TABLE advice_ledger (
  owner TEXT NOT NULL,
  place INTEGER NOT NULL,
  query_id TEXT NOT NULL,
  content TEXT NOT NULL,
  -- Why it can never be measured; null of one that can.
  unscorable TEXT,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (owner, place)
) WITHOUT ROWID;

CREATE UNIQUE INDEX advice_ledger_by_report ON advice_ledger (owner, query_id);

CREATE TRIGGER advice_ledger_no_update BEFORE UPDATE ON advice_ledger
BEGIN
  SELECT RAISE(ABORT, 'the ledger of advice is only ever added to');
END;

CREATE TRIGGER advice_ledger_no_delete BEFORE DELETE ON advice_ledger
BEGIN
  SELECT RAISE(ABORT, 'the ledger of advice is only ever added to');
END;

-- Alerts: what owners want to be told of, what is remembered of each rule between two looks, and what was told.
CREATE TABLE alert_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  target_scope TEXT NOT NULL,
  target TEXT NOT NULL,
  alert_type TEXT NOT NULL,
  parameters TEXT NOT NULL, -- JSON
  severity TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  source TEXT NOT NULL,
  language TEXT NOT NULL, -- of its messages
  cooldown_seconds INTEGER NOT NULL,
  notification TEXT NOT NULL, -- JSON: channels and quiet hours
  expires_at TEXT,
  armed_at INTEGER NOT NULL, -- what happened before does not count, epoch ms
  revision INTEGER NOT NULL, -- grows with every change of what it looks for
  status TEXT NOT NULL, -- JSON: what the last look at its targets found
  last_triggered_at TEXT,
  cooldown_until TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE INDEX alert_rules_of_owners ON alert_rules (owner, updated_at DESC, id DESC);
CREATE INDEX alert_rules_at_work ON alert_rules (enabled, id) WHERE enabled = 1;

-- What a rule remembers of its targets. It changes in the batch that stores the triggers that follow from it.
CREATE TABLE alert_states (
  rule_id INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL, -- of the rule
  version INTEGER NOT NULL, -- one look after another: the slower of two at once stores nothing
  body TEXT NOT NULL -- JSON
);

-- What fired, what was left out and why. The uid is made from owner, rule, target and data point: one of them fires once.
CREATE TABLE alert_triggers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  rule_id INTEGER NOT NULL,
  rule_name TEXT NOT NULL, -- of the rule, which may be gone by now
  alert_type TEXT NOT NULL,
  severity TEXT NOT NULL,
  target TEXT NOT NULL,
  status TEXT NOT NULL, -- triggered, skipped, degraded or failed
  observed REAL,
  threshold REAL,
  facts TEXT NOT NULL, -- JSON: what the sentence says
  data_source TEXT,
  data_timestamp TEXT, -- of the data themselves
  triggered_at TEXT NOT NULL,
  notice TEXT, -- the key of its message; null where none is sent
  held TEXT, -- why there is none: cooldown, or until when it waits
  streamed INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX alert_triggers_of_owners ON alert_triggers (owner, id DESC);
CREATE INDEX alert_triggers_of_rules ON alert_triggers (owner, rule_id, id DESC);
CREATE INDEX alert_triggers_by_age ON alert_triggers (triggered_at);
CREATE INDEX alert_triggers_to_stream ON alert_triggers (id) WHERE streamed = 0;

-- When the rules were looked at last: one row for each market, and one for what belongs to none.
CREATE TABLE alert_sweeps (
  name TEXT PRIMARY KEY,
  at INTEGER NOT NULL, -- epoch ms
  outcome TEXT NOT NULL -- a line for people
) WITHOUT ROWID;

-- The light of a market on a day, made once for all owners.
CREATE TABLE market_lights (
  market TEXT NOT NULL,
  session TEXT NOT NULL,
  status TEXT NOT NULL,
  score INTEGER NOT NULL,
  quality TEXT NOT NULL,
  made_at INTEGER NOT NULL, -- epoch ms
  PRIMARY KEY (market, session)
) WITHOUT ROWID;

-- A message that waits for the end of quiet hours, epoch ms.
ALTER TABLE untold_notices ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;

-- What became of an alert's message.
CREATE INDEX deliveries_by_subject ON deliveries (owner, subject);

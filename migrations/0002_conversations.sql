-- An index of the conversations, not the truth: each object keeps its row here up to date through its outbox.
CREATE TABLE conversations (
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  revision INTEGER NOT NULL, -- grows with every write of the object; an older one that comes late is refused
  created_at TEXT NOT NULL,
  last_updated_at TEXT, -- null until the first event
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  runtime_status TEXT,
  selected_repository TEXT,
  selected_branch TEXT,
  git_provider TEXT,
  trigger_name TEXT,
  num_connections INTEGER NOT NULL,
  pr_number TEXT NOT NULL, -- JSON array of integers
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;

CREATE INDEX conversations_by_creation ON conversations (owner, created_at DESC, id DESC);
CREATE INDEX conversations_running ON conversations (owner, last_updated_at) WHERE status = 'RUNNING';

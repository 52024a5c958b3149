-- An index of the talks about reports, not the truth: each talk's object keeps its row here up to date through its outbox.
CREATE TABLE chat_sessions (
  owner TEXT NOT NULL,
  session TEXT NOT NULL, -- as the client made it
  conversation TEXT NOT NULL, -- the id of the conversation that it is
  revision INTEGER NOT NULL, -- grows with every write of the object; an older one that comes late is refused
  title TEXT NOT NULL,
  messages INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  last_active TEXT NOT NULL,
  PRIMARY KEY (owner, session)
) WITHOUT ROWID;

CREATE INDEX chat_sessions_by_activity ON chat_sessions (owner, last_active DESC, session);

-- Sign-ins of the console that were ended before their time. The cookie of one is refused although its signature is right.
CREATE TABLE ended_sessions (
  key_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  ends_at INTEGER NOT NULL, -- epoch ms: from then on the cookie is refused by itself, and the row may go
  PRIMARY KEY (key_id, session_id)
) WITHOUT ROWID;

CREATE INDEX ended_sessions_by_end ON ended_sessions (ends_at);

-- Feedback on conversations. What was said, with the events it is about, lies in R2; this row finds it.
CREATE TABLE feedback (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  polarity TEXT NOT NULL, -- positive or negative
  permissions TEXT NOT NULL, -- public or private
  password_hash TEXT NOT NULL -- SHA-256 of what the submitter was given to prove that it is theirs
) WITHOUT ROWID;

CREATE INDEX feedback_by_conversation ON feedback (owner, conversation_id);

-- What an owner chose in the security dialog. Without a row, or with a null, the built-in value holds.
CREATE TABLE security_preferences (
  owner TEXT PRIMARY KEY,
  policy TEXT,
  risk_severity INTEGER -- -1 unknown, 0 low, 1 medium, 2 high
) WITHOUT ROWID;

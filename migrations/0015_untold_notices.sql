-- News of reports that no task of the queue ended with: written in one batch with the report, gone once its deliveries are
-- noted.
CREATE TABLE untold_notices (
  key TEXT PRIMARY KEY, -- the same for the same news
  body TEXT NOT NULL, -- JSON
  noted_at INTEGER NOT NULL -- epoch ms
) WITHOUT ROWID;

-- When a channel was tried by hand: such messages count towards its pace like all others.
CREATE TABLE channel_tests (
  owner TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  at INTEGER NOT NULL -- epoch ms
);

CREATE INDEX recent_channel_tests ON channel_tests (owner, channel_id, at);

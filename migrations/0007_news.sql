-- What news searches found, for every owner alike: it is public. It stands in when no search answers.
CREATE TABLE news_items (
  key TEXT NOT NULL, -- the normalised listing
  url TEXT NOT NULL,
  title TEXT NOT NULL,
  snippet TEXT NOT NULL,
  source TEXT,
  published_at TEXT, -- ISO 8601; null when nothing told it
  dimension TEXT NOT NULL, -- what was searched for
  provider TEXT NOT NULL,
  found_at INTEGER NOT NULL, -- epoch ms, the first time
  PRIMARY KEY (key, url)
) WITHOUT ROWID;

CREATE INDEX news_items_by_age ON news_items (found_at);

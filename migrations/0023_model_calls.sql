-- Every call of a language model, so that owners see what theirs cost.
CREATE TABLE model_calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  key TEXT NOT NULL, -- of one call: noted twice it is there once
  called_at INTEGER NOT NULL, -- epoch ms
  call_type TEXT NOT NULL, -- analysis, market_review or agent
  model TEXT NOT NULL, -- provider/model
  stock_code TEXT,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  estimated INTEGER NOT NULL, -- 1 where the vendor did not tell
  UNIQUE (owner, key)
);

CREATE INDEX model_calls_by_time ON model_calls (owner, called_at);
CREATE INDEX model_calls_by_age ON model_calls (called_at);

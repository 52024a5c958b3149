import { ALARMS_SCHEMA, OUTBOX_SCHEMA } from '../common-tables.ts'

export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- order of submission
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  key TEXT, -- what makes two open tasks the same; null when the kind allows duplicates
  request TEXT NOT NULL, -- JSON
  status TEXT NOT NULL,
  progress INTEGER NOT NULL DEFAULT 0,
  message TEXT NOT NULL,
  stock_name TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  runnable_at INTEGER, -- from when it may be handed out; null while it is handed out and once it is finished
  attempts INTEGER NOT NULL DEFAULT 0, -- hand-outs over its whole life
  idle_attempts INTEGER NOT NULL DEFAULT 0 -- hand-outs since it last got further
);
CREATE UNIQUE INDEX open_tasks ON tasks (owner, key)
  WHERE key IS NOT NULL AND status IN ('pending', 'processing', 'cancel_requested');
CREATE INDEX tasks_by_age ON tasks (owner, seq);
CREATE INDEX tasks_by_status ON tasks (owner, status);
CREATE INDEX runnable_tasks ON tasks (runnable_at, seq) WHERE runnable_at IS NOT NULL;
CREATE INDEX finished_tasks ON tasks (completed_at) WHERE completed_at IS NOT NULL;

CREATE TABLE leases (
  task_id TEXT PRIMARY KEY,
  token TEXT NOT NULL,
  stage TEXT NOT NULL, -- what the runner said it does
  until INTEGER NOT NULL, -- the runner is taken for dead after this, epoch ms
  deadline INTEGER NOT NULL -- the run is stopped after this, however alive
) WITHOUT ROWID;

CREATE TABLE flow_events (
  task_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  body TEXT NOT NULL, -- JSON
  PRIMARY KEY (task_id, n)
) WITHOUT ROWID;

-- The event stream of each owner: numbered from 1 without gaps, its older end cut off at pruned_to.
CREATE TABLE streams (
  owner TEXT PRIMARY KEY,
  last_id INTEGER NOT NULL,
  pruned_to INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE stream_events (
  owner TEXT NOT NULL,
  id INTEGER NOT NULL,
  frame TEXT NOT NULL, -- the finished text of the event stream
  at INTEGER NOT NULL,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;

${ALARMS_SCHEMA}`,
  `
ALTER TABLE tasks ADD COLUMN priority INTEGER NOT NULL DEFAULT 0; -- the place of its word in TaskPriority
ALTER TABLE tasks ADD COLUMN batch TEXT; -- what was asked for together
DROP INDEX runnable_tasks;
CREATE INDEX runnable_tasks ON tasks (priority, owner, runnable_at, seq) WHERE runnable_at IS NOT NULL;
CREATE INDEX waiting_tasks ON tasks (created_at) WHERE status = 'pending';
CREATE INDEX tasks_of_batches ON tasks (batch) WHERE batch IS NOT NULL;

ALTER TABLE leases ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN stage_until INTEGER NOT NULL DEFAULT 9007199254740991; -- the stage must be over by then

-- Whose turn it was when: places go round among the owners.
CREATE TABLE turns (
  owner TEXT PRIMARY KEY,
  turn INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX turns_by_age ON turns (turn);

-- What only one task may do at a time. Taken with the task's submission, renewed while it runs.
CREATE TABLE locks (
  name TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  until INTEGER NOT NULL -- nobody needs to heed it after this, epoch ms
) WITHOUT ROWID;

-- What was answered to a submission that may come again, so that it is answered alike.
CREATE TABLE submissions (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  answer TEXT NOT NULL, -- JSON
  at INTEGER NOT NULL,
  PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX submissions_by_age ON submissions (at);

${OUTBOX_SCHEMA}`,
  `
-- How many tasks each owner has in each state, so that a list need not count them.
CREATE TABLE task_counts (
  owner TEXT NOT NULL,
  status TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (owner, status)
) WITHOUT ROWID;
INSERT INTO task_counts SELECT owner, status, COUNT(*) FROM tasks GROUP BY owner, status;
CREATE TRIGGER task_added AFTER INSERT ON tasks BEGIN
  INSERT INTO task_counts (owner, status, n) VALUES (new.owner, new.status, 1)
    ON CONFLICT (owner, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER task_dropped AFTER DELETE ON tasks BEGIN
  UPDATE task_counts SET n = n - 1 WHERE owner = old.owner AND status = old.status;
END;
CREATE TRIGGER task_changed AFTER UPDATE OF status ON tasks WHEN old.status <> new.status BEGIN
  UPDATE task_counts SET n = n - 1 WHERE owner = old.owner AND status = old.status;
  INSERT INTO task_counts (owner, status, n) VALUES (new.owner, new.status, 1)
    ON CONFLICT (owner, status) DO UPDATE SET n = n + 1;
END;`,
  `
-- What is to be told about tasks that are over, until it has been taken over for sending.
CREATE TABLE notices (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL -- JSON
);`,
  `
-- Keys that were revoked: whoever still takes one for good must not open a stream with it.
CREATE TABLE ended_keys (
  key TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) WITHOUT ROWID;

-- How many analyses each owner has begun on each day, in UTC.
CREATE TABLE days (
  owner TEXT NOT NULL,
  day INTEGER NOT NULL, -- since 1970
  n INTEGER NOT NULL,
  PRIMARY KEY (owner, day)
) WITHOUT ROWID;

-- Analyses whose caller waits for them: no tasks, but they run.
CREATE TABLE direct_runs (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL -- it is over by then, should nobody say so
) WITHOUT ROWID;
CREATE INDEX direct_runs_of_owners ON direct_runs (owner, until);

-- Who asked for a lock of late, in vain or not.
CREATE TABLE lock_turns (
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  had_at INTEGER NOT NULL DEFAULT 0, -- when it was their turn last; 0 for never
  waits_until INTEGER NOT NULL DEFAULT 0, -- who has not asked again by then does not wait any more
  PRIMARY KEY (name, owner)
) WITHOUT ROWID;`,
  `
-- What was begun by a request that came with a key of its own, so that the same request begins nothing a second time.
CREATE TABLE keyed_requests (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL, -- of what was asked for
  begun TEXT NOT NULL, -- JSON
  at INTEGER NOT NULL,
  PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX keyed_requests_by_age ON keyed_requests (at);`,
]

export type TaskRow = {
  seq: number
  id: string
  owner: string
  key: string | null
  request: string
  status: string
  progress: number
  message: string
  stock_name: string | null
  error: string | null
  created_at: number
  started_at: number | null
  completed_at: number | null
  runnable_at: number | null
  attempts: number
  idle_attempts: number
  priority: number
  batch: string | null
}

export type LeaseRow = {
  task_id: string
  token: string
  stage: string
  until: number
  deadline: number
  owner: string
  stage_until: number
}

import { ALARMS_SCHEMA } from '../alarms.ts'

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
}

export type LeaseRow = { task_id: string; token: string; stage: string; until: number; deadline: number }

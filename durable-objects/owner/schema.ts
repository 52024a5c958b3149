import { ALARMS_SCHEMA } from '../common-tables.ts'

/** Append-only: these migrations have run on stored data. */
export const MIGRATIONS: readonly string[] = [
  `
-- Which objects hold sockets of which key, and for how many they have leave. The key is '' in local mode.
CREATE TABLE held_sockets (
  key TEXT NOT NULL,
  holder TEXT NOT NULL, -- the id of a conversation's object
  sockets INTEGER NOT NULL,
  PRIMARY KEY (key, holder)
) WITHOUT ROWID;

-- Keys that were revoked. The row is there before the database knows, so that a crash in between ends in a revocation.
CREATE TABLE ended_keys (
  key TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  revocation TEXT -- JSON: what is still to be written to the database; null once it is
) WITHOUT ROWID;

-- Objects that have not been told yet.
CREATE TABLE untold (
  key TEXT NOT NULL,
  holder TEXT NOT NULL,
  PRIMARY KEY (key, holder)
) WITHOUT ROWID;

CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL DEFAULT 0, -- as the conversation reported last
  reserved_at INTEGER -- null once the conversation has reported, so that it is known to exist
) WITHOUT ROWID;
CREATE INDEX reserved_conversations ON conversations (reserved_at) WHERE reserved_at IS NOT NULL;

-- One row: what the table above adds up to.
CREATE TABLE totals (conversations INTEGER NOT NULL, bytes INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0);
CREATE TRIGGER conversation_added AFTER INSERT ON conversations BEGIN
  UPDATE totals SET conversations = conversations + 1, bytes = bytes + new.bytes;
END;
CREATE TRIGGER conversation_changed AFTER UPDATE OF bytes ON conversations BEGIN
  UPDATE totals SET bytes = bytes + new.bytes - old.bytes;
END;
CREATE TRIGGER conversation_dropped AFTER DELETE ON conversations BEGIN
  UPDATE totals SET conversations = conversations - 1, bytes = bytes - old.bytes;
END;

-- One row once the conversations that were there before these books are in them.
CREATE TABLE taken_over (owner TEXT NOT NULL, at INTEGER NOT NULL);

${ALARMS_SCHEMA}`,
  `
-- Which conversations know the owner's secrets, until when they are told of changes, and of how many they were not yet.
CREATE TABLE secret_holders (
  holder TEXT PRIMARY KEY, -- the id of a conversation's object
  until INTEGER NOT NULL,
  due INTEGER NOT NULL
) WITHOUT ROWID;`,
  `
-- The runners that were ever connected, and which conversation has which.
CREATE TABLE runners (
  id TEXT PRIMARY KEY, -- as the runner made it
  description TEXT NOT NULL, -- JSON, what it says of itself
  seen_at INTEGER NOT NULL, -- when it came or went last, epoch ms
  draining INTEGER NOT NULL -- 1 when it takes no more conversations
) WITHOUT ROWID;
CREATE TABLE runner_conversations (
  conversation TEXT PRIMARY KEY,
  runner TEXT NOT NULL,
  holder TEXT NOT NULL -- the id of the conversation's object
) WITHOUT ROWID;
CREATE INDEX runner_conversations_by_runner ON runner_conversations (runner);`,
  `
-- One row while everything of the owner is being deleted; how far that is, the database knows.
CREATE TABLE leaving (owner TEXT PRIMARY KEY) WITHOUT ROWID;`,
  `
-- The owner's export, one row; the archive itself is in R2.
CREATE TABLE export_job (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  state TEXT NOT NULL, -- preparing, ready or failed
  began_at INTEGER NOT NULL, -- epoch ms
  expires_at INTEGER, -- epoch ms; null before it is finished
  unit INTEGER NOT NULL, -- the first one that is not complete
  place TEXT NOT NULL, -- JSON: how far that one is
  bytes INTEGER NOT NULL, -- of the pieces
  counts TEXT NOT NULL, -- JSON: what is in it
  failures INTEGER NOT NULL -- since it last got further
) WITHOUT ROWID;
-- What it consists of, as it was when it began.
CREATE TABLE export_units (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL);
-- The pieces of the archive, in order.
CREATE TABLE export_pieces (n INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
-- The entries of the archive, for its manifest; gone once that is written.
CREATE TABLE export_entries (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL
);`,
  `
-- What calls of models used in a day or a month of UTC.
CREATE TABLE budget_periods (
  period TEXT PRIMARY KEY, -- 2026-11-27, or 2026-11
  tokens INTEGER NOT NULL,
  nano_usd INTEGER NOT NULL, -- billionths of a US dollar
  calls INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL, -- of models whose price nobody knows
  unsettled_calls INTEGER NOT NULL -- counted as the most that they may have used
) WITHOUT ROWID;

-- Calls that are under way, and those of which nobody told what they used.
CREATE TABLE budget_calls (
  id TEXT PRIMARY KEY,
  day TEXT NOT NULL, -- on which it began
  until INTEGER NOT NULL, -- from when on it counts as used in full, epoch ms
  tokens INTEGER NOT NULL, -- the most that it may use
  nano_usd INTEGER, -- the same in money; null where nobody knows the price
  expired INTEGER NOT NULL DEFAULT 0 -- 1 once it counts as used in full
) WITHOUT ROWID;
CREATE INDEX budget_calls_by_end ON budget_calls (expired, until);`,
  `
-- The owner's import, one row; the archive itself is in R2.
CREATE TABLE import_job (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  phase TEXT NOT NULL, -- receiving, checking, importing, done, refused or failed
  bytes INTEGER NOT NULL, -- of the archive, as was said at the beginning
  began_at INTEGER NOT NULL, -- epoch ms
  expires_at INTEGER NOT NULL, -- when it is forgotten, unless it goes on, epoch ms
  place TEXT NOT NULL, -- JSON: how far the phase is
  archive TEXT, -- the id of the archive; null before it was read
  source TEXT, -- whose export it is
  counts TEXT NOT NULL, -- JSON: what was carried out
  problem TEXT, -- why it was refused, or got no further
  failures INTEGER NOT NULL -- since it last got further
) WITHOUT ROWID;
-- The pieces that came, in order.
CREATE TABLE import_pieces (n INTEGER PRIMARY KEY, key TEXT NOT NULL, bytes INTEGER NOT NULL);
-- The entries of the archive, and where their contents begin.
CREATE TABLE import_entries (
  n INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  place INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL
);
-- Which id of the archive became which here; stored before anything is made under it.
CREATE TABLE import_ids (
  space TEXT NOT NULL, -- a table and a column
  old TEXT NOT NULL,
  new TEXT NOT NULL,
  PRIMARY KEY (space, old)
) WITHOUT ROWID;
-- Archives that were carried out, so that none is twice.
CREATE TABLE imported_archives (archive TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;`,
  `
-- Which key a runner came with, and when that expires: with it ends what the runner may do. In \`draining\` 2 is a runner whose key
-- has ended and 3 one of which all of its conversations know that.
ALTER TABLE runners ADD COLUMN key TEXT; -- null in local mode
ALTER TABLE runners ADD COLUMN until INTEGER; -- epoch ms; null for never
CREATE INDEX runners_by_key ON runners (key);`,
]

// What a conversation stores: its record (what was decided at its creation, and what its owner changed since), and all tables.

import type { AgentChoice, AgentName } from '../../src/agent/agents.ts'
import type { RuntimeWish } from '../../src/agent/runtime.ts'
import { ALARMS_SCHEMA, OUTBOX_SCHEMA } from '../common-tables.ts'

export type SelectedRepository = {
  /** As the client named it: `owner/name`, or an address. */
  name: string
  url: string
  /** Null for the remote's own default; a fresh branch is then made from it. */
  branch: string | null
  provider: string | null
  /** Whether a person chose the address. False when a model named it in a tool call, absent in records of earlier versions. */
  isTyped?: boolean
}

/** `isTask`: the message is a task in natural language, which a shell cannot run. */
export type FirstMessage = { content: string; imageUrls: string[] | null; isTask?: boolean }

/** What was decided at the creation, and what the owner changed since. */
export type ConversationRecord = {
  id: string
  owner: string
  /** Distinguishes this conversation from an earlier one with the same id. */
  incarnation: string
  /** Empty until the user or the first message gives one. */
  title: string
  trigger: string | null
  createdAt: string
  /** The message that the title was made from, while a model may still write a better one; absent in earlier records. */
  namedAfter?: string | null
  /** When the title was last changed, if that is later than the newest event. */
  titledAt: string | null
  instructions: string
  /** Pull and merge requests that were made for it; records of earlier versions have none. */
  prNumbers?: number[]
  /** What the workspace begins with; null for an empty one. */
  repository: SelectedRepository | null
  /** Whether the set-up of the workspace is complete. */
  setup: 'pending' | 'done' | 'failed'
  /** The message that waits for the set-up. */
  firstMessage: FirstMessage | null
  /** The agent that it begins with; records of earlier versions have none. */
  agent?: AgentName
  /** Tool servers for it alone, sealed as JSON; null or absent for the owner's. */
  toolServers?: string | null
  /** What was chosen for it alone; records of earlier versions have none. */
  choice?: AgentChoice
  /** Where its commands run; records of earlier versions have none, which means `auto`. */
  runtime?: RuntimeWish
  /** The session of which it is the talk about reports; absent in what stands among the owner's conversations. */
  talk?: { session: string }
  /** The archive that it was taken from, and its id there; absent in any other. */
  imported?: { archive: string; from: string }
  /** Whether the agent's loop accepts events. */
  loop: 'running' | 'stopped'
}

export const WORKSPACE_TABLES = `
CREATE TABLE workspace_nodes (
  inode INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL, -- 0 for the root alone, -1 for files that are stored and have no place yet
  name TEXT NOT NULL,
  kind TEXT NOT NULL, -- file, directory or symlink
  mode INTEGER NOT NULL,
  mtime INTEGER NOT NULL, -- epoch ms
  size INTEGER NOT NULL,
  target TEXT, -- of a symlink
  object TEXT, -- R2 key of the first part of the contents
  revision INTEGER NOT NULL DEFAULT 0, -- grows when the contents are replaced, not when they are appended to
  UNIQUE (parent, name)
);
CREATE TABLE workspace_chunks (
  inode INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (inode, seq)
) WITHOUT ROWID;
-- R2 keys that no node refers to: announced before they are written, or left behind. Whatever is here may be deleted.
CREATE TABLE workspace_garbage (key TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO workspace_nodes (inode, parent, name, kind, mode, mtime, size) VALUES
  (1, 0, '', 'directory', 493, unixepoch() * 1000, 0),
  (2, 1, 'workspace', 'directory', 493, unixepoch() * 1000, 0),
  (3, 1, 'tmp', 'directory', 493, unixepoch() * 1000, 0),
  (4, 1, 'home', 'directory', 493, unixepoch() * 1000, 0),
  (5, 4, 'user', 'directory', 493, unixepoch() * 1000, 0);
`

export const CHANGED_FILES_TABLES = `
CREATE TABLE git_repositories (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE, -- the top of its working tree
  base_key TEXT, -- what the choice of the base depended on
  base_tree TEXT, -- the tree whose files are in git_base_files; null when they are not known
  index_stamp TEXT, -- which state of git's index file git_index_differences tells about
  exclude_stamp TEXT -- which state of the exclude file the changes know
);
CREATE TABLE git_base_files (
  repository INTEGER NOT NULL,
  path TEXT NOT NULL,
  mode INTEGER NOT NULL,
  oid TEXT NOT NULL,
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
-- Where git's index names other paths than the base: these are tracked although the base lacks them, or the reverse.
CREATE TABLE git_index_differences (
  repository INTEGER NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL, -- added, removed or unmerged
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
CREATE TABLE git_touched (
  repository INTEGER NOT NULL, -- 0 for the search for repositories itself
  path TEXT NOT NULL,
  scope INTEGER NOT NULL, -- 0 the path alone, 1 also what is untracked below it, 2 everything below it
  revision INTEGER NOT NULL, -- grows with each touch, so that one that comes during the comparison is seen
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
CREATE TABLE git_changes (
  repository INTEGER NOT NULL,
  path TEXT NOT NULL,
  letters TEXT NOT NULL, -- mostly one; D and A for a file that is tracked no more but still there
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
INSERT INTO git_touched VALUES (0, '', 2, 1);
`

/** The tables about large files, whose contents are not in the object's own database. */
const SPILLED_INDEX = 'CREATE INDEX spilled_files ON workspace_nodes (size) WHERE object IS NOT NULL;'

/** Append-only: each migration has run on stored conversations. A new conversation runs all of them in one `exec`. */
export const MIGRATIONS = [
  `
  -- One JSON value under each name: the conversation itself, its turn.
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE events (
    id INTEGER PRIMARY KEY, -- dense from 0
    timestamp TEXT NOT NULL, -- UTC, six decimals, Z: fixed width, so text order is time order
    source TEXT NOT NULL,
    kind TEXT NOT NULL, -- action:<name> or observation:<name>
    hidden INTEGER NOT NULL,
    body TEXT NOT NULL -- the event as clients get it, id and timestamp included; empty when it stands in event_parts
  );

  -- Bodies too large for a row.
  CREATE TABLE event_parts (
    event_id INTEGER NOT NULL,
    part INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (event_id, part)
  ) WITHOUT ROWID;

  -- What a client called its own request, so that asking again does not add a second event.
  CREATE TABLE client_refs (
    ref TEXT PRIMARY KEY,
    event_id INTEGER NOT NULL
  ) WITHOUT ROWID;
  ${ALARMS_SCHEMA}
  ${OUTBOX_SCHEMA}
  ${WORKSPACE_TABLES}
  ${CHANGED_FILES_TABLES}
  `,
  SPILLED_INDEX,
  // Of the event that the ref names; null in rows of earlier versions, where any event counts as the same.
  'ALTER TABLE client_refs ADD COLUMN digest TEXT;',
] as const

/** Created with the first answer of a model: a conversation without a model does not need it. */
export const MODEL_TABLES = `
  CREATE TABLE IF NOT EXISTS model_steps (
    step INTEGER PRIMARY KEY,
    first_event INTEGER, -- what shows the answer first; null until that is stored
    text TEXT NOT NULL,
    response_id TEXT NOT NULL,
    vendor TEXT -- JSON, what the vendor wants back
  );
  CREATE INDEX IF NOT EXISTS model_steps_by_event ON model_steps (first_event);

  CREATE TABLE IF NOT EXISTS tool_calls (
    key INTEGER PRIMARY KEY,
    step INTEGER NOT NULL,
    call_id TEXT NOT NULL, -- as the model knows it; unique
    name TEXT NOT NULL,
    arguments TEXT NOT NULL, -- as the model wrote them
    state TEXT NOT NULL, -- queued, awaiting, confirmed, started, settled
    action_id INTEGER,
    observation_id INTEGER,
    answer TEXT -- what the model is told where no event tells it; of a queued one, why it cannot be made
  );
  CREATE UNIQUE INDEX IF NOT EXISTS tool_calls_by_id ON tool_calls (call_id);
  CREATE INDEX IF NOT EXISTS tool_calls_by_step ON tool_calls (step);
  CREATE INDEX IF NOT EXISTS open_tool_calls ON tool_calls (key) WHERE state <> 'settled';
  CREATE INDEX IF NOT EXISTS tool_calls_by_observation ON tool_calls (observation_id);

  CREATE TABLE IF NOT EXISTS tool_memory (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`

/** Created with the first runner: a conversation without one does not need them. */
export const RUNNER_TABLES = `
  -- What the runner's copy of the workspace does not have yet.
  CREATE TABLE IF NOT EXISTS runner_changes (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE, -- relative to the workspace
    with_below INTEGER NOT NULL -- 1 when everything below it changed as well
  );
  CREATE TABLE IF NOT EXISTS runner_calls (
    key TEXT PRIMARY KEY,
    runner TEXT NOT NULL,
    next_seq INTEGER NOT NULL, -- of the next piece of output
    total INTEGER NOT NULL -- bytes of output so far
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS runner_output (
    key TEXT NOT NULL,
    at INTEGER NOT NULL, -- its first byte's place in the output
    bytes BLOB NOT NULL,
    PRIMARY KEY (key, at)
  );
`

/** Created with the first cell of a notebook. */
export const NOTEBOOK_TABLES = `
  CREATE TABLE IF NOT EXISTS runner_cells (
    key TEXT PRIMARY KEY -- of a call of the notebook
  ) WITHOUT ROWID;
`

/** Created with the first question of a talk: nothing else needs them. */
export const TALK_TABLES = `
  CREATE TABLE IF NOT EXISTS talk_turns (
    question INTEGER PRIMARY KEY, -- the event of the person's message
    first INTEGER NOT NULL, -- the first event of the turn: what the client sent with the message stands before it
    digest TEXT NOT NULL, -- of the message as it was sent
    codes TEXT NOT NULL, -- JSON: the stocks that came up with it
    deadline INTEGER NOT NULL, -- epoch ms
    ended INTEGER, -- the event that ended it; null while it runs
    answer INTEGER, -- the event of the answer; null when there is none
    failure TEXT -- why there is no answer, in words
  );
  CREATE INDEX IF NOT EXISTS open_talk_turns ON talk_turns (question) WHERE ended IS NULL;
`

/** Created when the text index is filled for the first time: most conversations end before that. */
export const SEARCH_TABLES = `
  CREATE VIRTUAL TABLE IF NOT EXISTS event_search
    USING fts5 (text, content = '', tokenize = 'trigram', detail = 'none', columnsize = 0);
  CREATE VIRTUAL TABLE IF NOT EXISTS event_terms USING fts5vocab ('event_search', 'row');
  -- Merging is done with each piece, so much of it, and never all that has piled up at once.
  INSERT INTO event_search (event_search, rank) VALUES ('automerge', 0);
  INSERT INTO event_search (event_search, rank) VALUES ('crisismerge', 1000);`

const NODE = (row: 'OLD' | 'NEW', kind: string) => `
  INSERT OR IGNORE INTO workspace_node_versions (inode, event, parent, name, kind, mode, mtime, size, target, object)
  SELECT ${row}.inode, coalesce(max(id), -1), ${row}.parent, ${row}.name, ${kind}, ${row}.mode, ${row}.mtime,
    ${row}.size, ${row}.target, ${row}.object FROM events;`

const CHUNK = `
  INSERT OR IGNORE INTO workspace_chunk_versions (inode, seq, event, bytes)
  SELECT OLD.inode, OLD.seq, coalesce(max(id), -1), OLD.bytes FROM events;`

/** Created with the first change of a workspace. */
export const VERSION_TABLES = `
  CREATE TABLE workspace_node_versions (
    inode INTEGER NOT NULL,
    event INTEGER NOT NULL, -- the newest event when the row changed; -1 before the first
    parent INTEGER, name TEXT,
    kind TEXT, -- null when there was no such node
    mode INTEGER, mtime INTEGER, size INTEGER, target TEXT, object TEXT,
    PRIMARY KEY (inode, event)
  ) WITHOUT ROWID;
  CREATE INDEX workspace_versions_by_event ON workspace_node_versions (event);
  CREATE INDEX workspace_versions_by_object ON workspace_node_versions (object) WHERE object IS NOT NULL;
  CREATE TABLE workspace_chunk_versions (
    inode INTEGER NOT NULL, seq INTEGER NOT NULL, event INTEGER NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (inode, seq, event)
  ) WITHOUT ROWID;
  CREATE INDEX workspace_chunk_versions_by_event ON workspace_chunk_versions (event);
  CREATE TABLE workspace_versions_from (event INTEGER NOT NULL); -- the first event whose state is known
  INSERT INTO workspace_versions_from SELECT CASE WHEN count(*) > 5 THEN (SELECT coalesce(max(id), -1) FROM events)
    ELSE -1 END FROM workspace_nodes;

  CREATE TRIGGER workspace_node_came AFTER INSERT ON workspace_nodes BEGIN ${NODE('NEW', 'NULL')} END;
  CREATE TRIGGER workspace_node_changes BEFORE UPDATE ON workspace_nodes BEGIN ${NODE('OLD', 'OLD.kind')} END;
  CREATE TRIGGER workspace_node_goes BEFORE DELETE ON workspace_nodes BEGIN ${NODE('OLD', 'OLD.kind')} END;
  CREATE TRIGGER workspace_chunk_changes BEFORE UPDATE ON workspace_chunks
    WHEN NOT EXISTS (SELECT 1 FROM workspace_chunk_versions AS kept WHERE kept.inode = OLD.inode
      AND kept.seq = OLD.seq AND kept.event = (SELECT coalesce(max(id), -1) FROM events))
    BEGIN ${CHUNK} END;
  CREATE TRIGGER workspace_chunk_goes BEFORE DELETE ON workspace_chunks BEGIN ${CHUNK} END;
`

/** Created with the first download of a workspace. */
export const PACKED_TABLES = `
  CREATE TABLE workspace_packed (
    inode INTEGER PRIMARY KEY,
    crc INTEGER NOT NULL,
    bytes BLOB -- the file's contents as a raw deflated stream; null where that is no smaller
  );
  CREATE TABLE workspace_packed_total (bytes INTEGER NOT NULL); -- of the blobs
  INSERT INTO workspace_packed_total VALUES (0);
  CREATE TRIGGER workspace_packed_went AFTER DELETE ON workspace_packed BEGIN
    UPDATE workspace_packed_total SET bytes = bytes - coalesce(length(OLD.bytes), 0);
  END;
  CREATE TRIGGER workspace_chunk_packed_came AFTER INSERT ON workspace_chunks BEGIN
    DELETE FROM workspace_packed WHERE inode = NEW.inode;
  END;
  CREATE TRIGGER workspace_chunk_packed_changed AFTER UPDATE ON workspace_chunks BEGIN
    DELETE FROM workspace_packed WHERE inode = NEW.inode;
  END;
  CREATE TRIGGER workspace_chunk_packed_went AFTER DELETE ON workspace_chunks BEGIN
    DELETE FROM workspace_packed WHERE inode = OLD.inode;
  END;
`

import { ALARMS_SCHEMA } from '../alarms.ts'
import { OUTBOX_SCHEMA } from '../outbox.ts'
import { GIT_INDEX_SCHEMA } from './git-index-schema.ts'
import { SPILLED_INDEX } from './workspace-schema.ts'
import { WORKSPACE_SCHEMA } from './workspace-store.ts'

/** Append-only: what stands here has run on somebody's conversation. One `exec` makes a new one. */
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
  ${WORKSPACE_SCHEMA}
  ${GIT_INDEX_SCHEMA}
  `,
  SPILLED_INDEX,
] as const

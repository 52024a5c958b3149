// What has run on somebody's data never changes: each migration is compared with the digest that it was released under, and
// no table is made anywhere but in the schema of its object or of the database.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SPANS_TABLE } from '../../durable-objects/common-tables.ts'
import * as conversation from '../../durable-objects/conversation/schema.ts'
import { MIGRATIONS as OWNER } from '../../durable-objects/owner/schema.ts'
import { MIGRATIONS as TASK_QUEUE } from '../../durable-objects/task-queue/schema.ts'
import { OWNED_TABLES } from '../../src/db/erasures.ts'
import { IMPORTED_TABLES, ROWS_OF_CONVERSATIONS } from '../../src/db/imports.ts'
import { filesIn, ROOT, textOf } from '../support/source-tree.ts'

const FROZEN: Record<string, string[]> = JSON.parse(
  readFileSync(join(ROOT, 'test/fixtures/first-release/migrations.json'), 'utf8'),
)

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

test('migrations only ever grow in number: what was released is what it was', () => {
  const database = filesIn('migrations').filter((path) => path.endsWith('.sql'))
  const now: Record<string, readonly string[]> = {
    conversation: conversation.MIGRATIONS,
    'conversation, made when they are needed': [
      conversation.MODEL_TABLES,
      conversation.SEARCH_TABLES,
      conversation.VERSION_TABLES,
      conversation.RUNNER_TABLES,
      conversation.NOTEBOOK_TABLES,
      conversation.TALK_TABLES,
      SPANS_TABLE,
      conversation.PACKED_TABLES,
    ],
    owner: OWNER,
    'task-queue': TASK_QUEUE,
    ...Object.fromEntries(database.map((path) => [path, [textOf(path)]])),
  }
  for (const [name, released] of Object.entries(FROZEN)) {
    expect([name, (now[name] ?? []).slice(0, released.length).map(digest)]).toEqual([name, released])
  }
  // A new one is released with its digest: what is missing here is what that file lacks.
  const lacking = Object.entries(now).flatMap(([name, texts]) =>
    texts.slice(FROZEN[name]?.length ?? 0).map((text) => `${name}: ${digest(text)}`),
  )
  expect(lacking).toEqual([])
  expect(Object.keys(FROZEN).filter((name) => now[name] === undefined)).toEqual([])
})

/** Tables of owners whose rows an import does not take, and why; docs/backup.md tells of them. */
const NOT_IMPORTED: Readonly<Record<string, string>> = {
  alert_states: 'what an alert remembers of its targets',
  audit_log: 'proves what happened here',
  channel_tests: 'says nothing later',
  deliveries: 'messages that were sent',
  delivery_parts: 'messages that were sent',
  notification_channels: 'nothing without what is secret in it',
  provider_tokens: 'nothing without what is secret in it',
  screening_owners: 'says nothing later',
  secrets: 'nothing without what is secret in it',
  shares: 'nothing without what is secret in it',
  untold_notices: 'says nothing later',
}

test('the rows of each table of owners are taken by an import, or it is said here why not', () => {
  const taken = new Set([...IMPORTED_TABLES.map(({ name }) => name), ...ROWS_OF_CONVERSATIONS])
  const left = OWNED_TABLES.map(({ name }) => name).filter((name) => !taken.has(name))
  expect(left.sort()).toEqual(Object.keys(NOT_IMPORTED).sort())
})

test('tables are made in schemas alone', () => {
  const isSchema = /^(durable-objects\/([\w-]+\/schema|common-tables)\.ts|migrations\/)/
  const makes = /\bCREATE\s+(UNIQUE\s+|VIRTUAL\s+|TEMP(ORARY)?\s+)?(TABLE|INDEX|TRIGGER|VIEW)\b/i
  const elsewhere = filesIn('src', 'durable-objects').filter(
    (path) => /\.ts$/.test(path) && !isSchema.test(path) && makes.test(textOf(path)),
  )
  // `_schema` itself, which counts the migrations.
  expect(elsewhere).toEqual(['durable-objects/sql.ts'])
})

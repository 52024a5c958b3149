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

test('tables are made in schemas alone', () => {
  const isSchema = /^(durable-objects\/([\w-]+\/schema|common-tables)\.ts|migrations\/)/
  const makes = /\bCREATE\s+(UNIQUE\s+|VIRTUAL\s+|TEMP(ORARY)?\s+)?(TABLE|INDEX|TRIGGER|VIEW)\b/i
  const elsewhere = filesIn('src', 'durable-objects').filter(
    (path) => /\.ts$/.test(path) && !isSchema.test(path) && makes.test(textOf(path)),
  )
  // `_schema` itself, which counts the migrations.
  expect(elsewhere).toEqual(['durable-objects/sql.ts'])
})

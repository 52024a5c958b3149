import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { MAX_ROW_LENGTH, NamedTexts, partsOf } from '../../durable-objects/named-texts.ts'

test('a text of any length is kept whole under its name, and nothing is left of a longer one before it', async () => {
  const stub = env.CONVERSATION.get(env.CONVERSATION.newUniqueId())
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    sql.exec('CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID')
    const texts = [
      '',
      'short',
      'x'.repeat(MAX_ROW_LENGTH),
      '漢'.repeat(MAX_ROW_LENGTH * 12 + 1),
      `${'x'.repeat(MAX_ROW_LENGTH - 1)}😀${'😀'.repeat(MAX_ROW_LENGTH)}`,
      'short again',
    ]
    for (const isFresh of [false, true]) {
      let kept = new NamedTexts(sql, 'meta')
      kept.put('turnip', 'untouched')
      for (const text of texts) {
        // An instance that knows nothing of what was there before.
        if (isFresh) kept = new NamedTexts(sql, 'meta')
        kept.put('turn', text)
        expect(kept.get('turn') === text).toBe(true)
        expect(new NamedTexts(sql, 'meta').get('turn') === text).toBe(true)
        const { count } = sql.exec<{ count: number }>('SELECT count(*) AS count FROM meta').one()
        expect(count).toBe(1 + Math.max(1, partsOf(text).length))
      }
      expect(kept.get('turnip')).toBe('untouched')
      expect(kept.get('tur')).toBeNull()
    }
  })
})

// `npm run evaluate` as its user runs it: over files of their own, over what a service kept, and over its ledger.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { parseOptions, UsageError } from '../../scripts/evaluate/options.ts'
import { walkOf } from '../../scripts/evaluate/walks.ts'
import { FIRST_HASH, linkHash } from '../../src/lib/crypto.ts'
import { ROOT, textOf } from '../support/source-tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'evaluate-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function evaluate(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/evaluate.ts'), ...args], {
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

const { bars } = walkOf({ seed: 3, bars: 300, drift: 0 })

function stateFolder(): { path: string; db: DatabaseSync } {
  const path = mkdtempSync(join(folder, 'state-'))
  const databases = join(path, 'v3', 'd1', 'miniflare-D1DatabaseObject')
  mkdirSync(databases, { recursive: true })
  return { path, db: new DatabaseSync(join(databases, `${'a'.repeat(64)}.sqlite`)) }
}

test('bars of files and of a state folder are replayed, what cannot be is named with its reason, and the table is written', () => {
  const files = join(folder, 'bars')
  mkdirSync(files)
  const lines = bars.map(({ date, open, high, low, close, volume }) => [date, close, open, high, low, volume].join(','))
  writeFileSync(join(files, 'MSFT.csv'), `Date,Close,Open,High,Low,Volume\r\n${lines.join('\r\n')}\n`)
  writeFileSync(join(files, 'NVDA.json'), JSON.stringify({ bars }))
  writeFileSync(join(files, 'TSLA.csv'), `date,open,high,low,close,volume\n2024-01-02,1,2,,1,5\n`)
  writeFileSync(join(files, 'not a code!.json'), JSON.stringify(bars))
  const { path, db } = stateFolder()
  db.exec('CREATE TABLE market_answers (need TEXT, key TEXT, body TEXT)')
  db.prepare("INSERT INTO market_answers VALUES ('daily_data', 'AAPL', ?)").run(JSON.stringify(bars))
  db.close()
  const out = join(folder, 'out.json')
  const { status, output } = evaluate('--bars', files, '--state', path, '--out', out)
  expect([status, output.includes('3 series, 900 bars')]).toEqual([0, true])
  expect(output).toContain('left out: TSLA: ')
  expect(output).toContain('left out: not a code!: its name is no code of a listing')
  const written = JSON.parse(readFileSync(out, 'utf8'))
  expect(written).toMatchObject({ method_version: '3', totals: { series: 3 } })
  expect(written.rows.length).toBeGreaterThan(10)
})

/** As a row's text has it, but for the report. */
const ADVICE = {
  ...{ key: 'AAPL', created_at: '2026-08-14T08:00:00.000000Z', method_version: '2', session_date: '2026-08-13' },
  ...{ action: 'buy', score: 67, price: 100, stop_loss: 95, take_profit: 112 },
  ...{ confidence_probability: null, unscorable: null },
}

test('a ledger is verified row by row, and one that was tampered with is an error that names the place', async () => {
  const { path, db } = stateFolder()
  const migration = textOf('migrations/0020_advice_ledger.sql')
  // The table without the triggers, as somebody has it who can write the file.
  db.exec(migration.slice(0, migration.indexOf('CREATE TRIGGER')))
  let previous = FIRST_HASH
  for (const place of [1, 2, 3]) {
    const content = JSON.stringify({ ...ADVICE, query_id: `q${place}` })
    const hash = await linkHash(previous, content)
    db.prepare('INSERT INTO advice_ledger VALUES (?, ?, ?, ?, NULL, ?, ?)').run(
      ...['ann', place, `q${place}`, content, previous, hash],
    )
    previous = hash
  }
  expect(evaluate('--ledger', path)).toEqual({
    status: 0,
    output: `ann: 3 advices, 0 of them cannot be scored; whole, ends with ${previous}\n`,
  })
  // What cannot be scored is counted by a column that no hash covers: it must say what the text says.
  for (const change of [
    "unscorable = 'no_price' WHERE place = 3",
    "query_id = 'z' WHERE place = 2",
    "content = '{}' WHERE place = 1",
  ]) {
    db.exec(`UPDATE advice_ledger SET ${change}`)
    const told = evaluate('--ledger', path)
    expect([told.status, told.output.trim().split('; ')[1]]).toEqual([1, `broken at ${change.at(-1)}`])
  }
  db.close()
})

test('options that mean nothing are refused', () => {
  expect(parseOptions(['--walks', '5', '--seed', '2'])).toMatchObject({ walks: 5, seed: 2, length: 500, bars: null })
  for (const wrong of [['--walks', 'many'], ['--length', '10'], ['--what'], ['stray']])
    expect(() => parseOptions(wrong)).toThrow(UsageError)
  expect(parseOptions(['--help'])).toBeNull()
})

// Verifies the ledgers of advice in a state folder, whose service need not be stopped.

import { DatabaseSync } from 'node:sqlite'
import { adviceIn } from '../../src/analysis/evidence/ledger-content.ts'
import { brokenAt } from '../../src/lib/crypto.ts'
import { databaseFile } from '../start/migrations.ts'
import { UsageError } from './options.ts'

/** Prints a line for each owner; whether all ledgers are whole. */
export async function verifyLedgers(stateDir: string): Promise<boolean> {
  const file = databaseFile(stateDir)
  if (file === null) throw new UsageError(`${stateDir} is no state folder: it has no database`)
  const db = new DatabaseSync(file, { readOnly: true })
  const owners = db.prepare('SELECT DISTINCT owner FROM advice_ledger ORDER BY owner').all()
  let isWhole = true
  for (const { owner } of owners) {
    const rows = db
      .prepare(
        'SELECT place, query_id, content, unscorable, previous_hash, hash FROM advice_ledger WHERE owner = ? ORDER BY place',
      )
      .all(owner ?? null)
    const links = rows.map((row) => ({
      place: Number(row.place),
      content: String(row.content),
      queryId: String(row.query_id),
      unscorable: row.unscorable === null ? null : String(row.unscorable),
      previousHash: String(row.previous_hash),
      hash: String(row.hash),
    }))
    const broken = await brokenAt(links, undefined, (row) => adviceIn(row).isTrue)
    const unscorable = rows.filter((row) => row.unscorable !== null).length
    console.log(
      `${owner}: ${rows.length} advices, ${unscorable} of them cannot be scored; ${broken === null ? `whole, ends with ${links.at(-1)?.hash}` : `broken at ${broken}`}`,
    )
    isWhole &&= broken === null
  }
  db.close()
  if (owners.length === 0) console.log('the ledger is empty')
  return isWhole
}

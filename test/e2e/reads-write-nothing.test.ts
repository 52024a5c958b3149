// What only reads the database must not wait for the disk: all requests have one thread, and who waits there holds up all others.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { database } from '../../scripts/start/build-miniflare.ts'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const READS = 100
const FRAME = 4_096 + 24

/** Bytes of the logs in which the database notes what is written. */
function logOf(stateDir: string): number {
  const files = readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
  const logs = files.filter((file) => /D1DatabaseObject.*-wal$/.test(file))
  expect(logs.length).toBeGreaterThan(0)
  return logs.reduce((sum, file) => sum + statSync(join(stateDir, file)).size, 0)
}

test('reads of the database write nothing, and a write is written', async () => {
  expect(database()).not.toMatch(/getCurrentBookmark/)
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-reads-'))
  const service = await startService({ stateDir, env: { ...CLEAN, AUTH_MODE: 'local', MARKET_DATA: 'sample' } })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })
  const ask = async (path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${service.url}${path}`, init)
    expect(response.status).toBe(200)
    return response.json()
  }
  const begun = logOf(stateDir)
  expect(await ask('/api/conversations', {})).toMatchObject({ status: 'ok' })
  const before = logOf(stateDir)
  expect(before).toBeGreaterThan(begun)
  for (let at = 0; at < READS; at++) expect(await ask('/api/conversations?limit=20')).toMatchObject({ results: [{}] })
  // A frame each it was; what the service notes by itself meanwhile is less.
  expect(logOf(stateDir) - before).toBeLessThan((READS / 2) * FRAME)
})

// State folders that are damaged, from a newer release, without their key, or on a disk that is full: each is told by one
// sentence that says what to do, and what is sound goes on.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { backUp } from '../../scripts/backup/back-up.ts'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { unpackState } from '../support/first-release/archive.ts'
import { type Ask, askerOf, say, settled, successOf, until } from '../support/first-release/ask.ts'

/** What the person who runs the tests has set must not decide them. */
const CLEAN = {
  ...Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined])),
  MARKET_DATA: 'sample',
  RATE_LIMIT_WRITES: 'off',
}

/** A folder with something of everything in it. */
function filledFolder(): string {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-bad-state-'))
  onTestFinished(() => rmSync(stateDir, { recursive: true }))
  unpackState(stateDir)
  return stateDir
}

async function started(stateDir: string, env: Record<string, string> = {}) {
  const service = await startService({ stateDir, env: { ...CLEAN, ...env } })
  onTestFinished(() => service.stop())
  return { service, ask: askerOf(service.url) }
}

/** What a start that cannot work prints. */
async function refusal(stateDir: string): Promise<string> {
  const outcome = await startService({ stateDir, env: CLEAN }).then(
    () => 'it started',
    (error: unknown) => String(error),
  )
  return outcome.split('\n').slice(1).join('\n')
}

const folderOf = (stateDir: string, kind: string) => join(stateDir, 'v3', kind)

/** The files of objects or of D1, without the one that the runtime keeps beside them. */
function databasesIn(stateDir: string, kind: string): string[] {
  const names = readdirSync(folderOf(stateDir, kind)).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
  return names.map((name) => join(folderOf(stateDir, kind), name))
}

const D1 = 'd1/miniflare-D1DatabaseObject'
const CONVERSATIONS = 'do/bellwether-Conversation'

const RUBBISH = 'this is no database '.repeat(1_000)

test('a database that everything needs stops the start with one sentence that names the file and the loss', async () => {
  const stateDir = filledFolder()
  const cases: [string, string][] = [
    [databasesIn(stateDir, D1)[0] ?? '', 'settings, secrets, keys, finished reports and the list'],
    [join(folderOf(stateDir, CONVERSATIONS), 'metadata.sqlite'), 'only the times are lost'],
    [databasesIn(stateDir, 'do/bellwether-TaskQueue')[0] ?? '', 'the tasks in the queue are lost'],
  ]
  for (const [file, loss] of cases) {
    writeFileSync(file, RUBBISH)
    const said = await refusal(stateDir)
    expect(said).toMatch(/^The database .*\.$/)
    expect(said.includes(`${file} is damaged (file is not a database)`) && said.includes(loss), said).toBe(true)
    rmSync(file)
  }
  // As the last of these sentences said: all of it can be begun without.
  const { ask } = await started(stateDir)
  expect(await ask('GET /health')).toMatchObject({ body: 'OK' })
  const file = `${stateDir}.tar.gz`
  await expect(backUp({ stateDir, file, overwrite: false })).rejects.toThrow(/in use by process \d+\. Stop it, then/)
  expect(await successOf(ask, 'GET /api/conversations/shell-work')).toMatchObject({ title: 'Shell work, renamed' })
})

test('a damaged conversation says so, harms no other, and can be deleted and made anew', async () => {
  const stateDir = filledFolder()
  const before = await started(stateDir)
  await successOf(before.ask, 'POST /api/settings', { llm_model: '', llm_api_key: '' })
  const listed = await conversationsOf(before.ask)
  await before.service.stop()
  const [header, page] = databasesIn(stateDir, CONVERSATIONS).filter((file) => tablesOf(file) > 5)
  writeFileSync(header ?? '', RUBBISH)
  spoil(page ?? '')

  const { service, ask } = await started(stateDir)
  const damaged: string[] = []
  for (const id of listed) {
    const { status, body } = await ask(`GET /api/conversations/${id}`)
    if (status === 200) continue
    damaged.push(id)
    expect([status, JSON.stringify(body)]).toEqual([503, expect.stringMatching(/damaged .*or delete the conversation/)])
    for (const call of [`GET /api/conversations/${id}/events`, `GET /api/conversations/${id}/list-files`]) {
      expect([call, (await ask(call)).status]).toEqual([call, 503])
    }
    expect((await ask('POST /api/conversations', { conversation_id: id })).status).toBe(503)
  }
  expect(damaged).toHaveLength(2)
  expect(await conversationsOf(ask)).toEqual(listed)
  for (const id of damaged) {
    expect(await ask(`DELETE /api/conversations/${id}`)).toMatchObject({ status: 200, body: true })
    expect(await ask(`GET /api/conversations/${id}`)).toMatchObject({ status: 200, body: null })
  }
  expect(await conversationsOf(ask)).toEqual(listed.filter((id) => !damaged.includes(id)))
  await successOf(ask, 'POST /api/conversations', { conversation_id: damaged[0], initial_user_msg: 'echo anew' })
  await settled(ask, damaged[0] ?? '', 0)
  expect(service.log).not.toContain('stack: ')
})

async function conversationsOf(ask: Ask): Promise<string[]> {
  const { results } = await successOf<{ results: { conversation_id: string }[] }>(
    ask,
    'GET /api/conversations?limit=100',
  )
  return results.map(({ conversation_id: id }) => id)
}

function tablesOf(file: string): number {
  const db = new DatabaseSync(file)
  const row = db.prepare('SELECT COUNT(*) AS count FROM sqlite_master').get()
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return Number(row?.count)
}

/** The head stays as it is; what it leads to does not. */
function spoil(file: string): void {
  const db = new DatabaseSync(file)
  const { page } = db.prepare("SELECT rootpage AS page FROM sqlite_master WHERE name = 'meta'").get() ?? {}
  const { page_size: size } = db.prepare('PRAGMA page_size').get() ?? {}
  db.close()
  execFileSync('dd', [
    'if=/dev/urandom',
    `of=${file}`,
    `bs=${size}`,
    `seek=${Number(page) - 1}`,
    'count=1',
    'conv=notrunc',
    'status=none',
  ])
}

test('a folder that a newer release used is left alone, and a lost key is told with what it opened', async () => {
  const newer = filledFolder()
  const db = new DatabaseSync(databasesIn(newer, D1)[0] ?? '')
  db.exec("INSERT INTO d1_migrations (name) VALUES ('9000_of_tomorrow.sql')")
  db.close()
  expect(await refusal(newer)).toMatch(
    /^The state folder .* was used by a newer release.*: 9000_of_tomorrow\.sql\. .*$/,
  )

  const stateDir = filledFolder()
  rmSync(join(stateDir, 'secrets-key'))
  for (const conversation of databasesIn(stateDir, CONVERSATIONS)) {
    const of = new DatabaseSync(conversation)
    if (of.prepare("SELECT 1 FROM sqlite_master WHERE name = '_schema'").get())
      of.exec('UPDATE _schema SET version = 900')
    of.close()
  }
  const { service, ask } = await started(stateDir)
  expect(service.log).toMatch(
    /^SECRETS_KEY is not the key that sealed 2 secrets, 2 keys in the settings, 2 notification channels: these cannot/,
  )
  expect(existsSync(join(stateDir, 'secrets-key'))).toBe(true)
  expect(await ask('GET /api/conversations/shell-work')).toMatchObject({
    status: 503,
    body: { detail: expect.stringMatching(/^This was stored by a newer release \(version 900/) },
  })
})

const FILLER = 'filler'

/** A disk of its own for a test; null where nobody may mount one. */
function smallDisk(sizeMb: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-small-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    // Only the system's own user mounts, and only on Linux: the test is skipped elsewhere.
    rmSync(folder, { recursive: true })
    return null
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  return folder
}

test('on a full disk every answer says so, nothing is half stored, and with room it goes on by itself', async ({
  skip,
}) => {
  const disk = smallDisk(90)
  if (disk === null) return skip('no disk can be mounted here')
  const stateDir = join(disk, 'state')
  mkdirSync(stateDir)
  unpackState(stateDir)
  const { ask } = await started(stateDir)
  await successOf(ask, 'POST /api/settings', { llm_model: '', llm_api_key: '', confirmation_mode: false })
  await successOf(ask, 'POST /api/conversations/shell-work/start', {})
  await say(ask, 'shell-work', 'echo before')
  const events = 'GET /api/conversations/shell-work/events?limit=100&start_id=0'
  const stored = await successOf(ask, events)

  execFileSync('sh', ['-c', `cat /dev/zero > ${join(disk, FILLER)} 2> /dev/null || true`])
  expect((await ask('GET /health')).body).toMatch(/^DEGRADED: the disk is (nearly )?full: 0 MiB are free/)
  expect((await ask('GET /api/health')).body).toMatchObject({ status: 'degraded' })
  const message = { action: 'message', args: { content: 'echo lost', image_urls: [] } }
  const writes: [string, unknown][] = [
    ['POST /api/conversations/shell-work/events', { ...message, args: { ...message.args, content: LONG } }],
    ['POST /api/conversations', { conversation_id: 'never', initial_user_msg: LONG }],
    ['POST /api/secrets', { name: 'NEVER', value: LONG }],
  ]
  for (const [call, body] of writes) {
    const { status, body: said } = await ask(call, body)
    expect([call, status, JSON.stringify(said)]).toEqual([
      call,
      507,
      expect.stringMatching(/the disk is (nearly )?full/),
    ])
  }

  // Little ones may find a place in what the databases hold already; then they are stored.
  const little: [string, unknown][] = [
    ['POST /api/settings', { language: 'zh' }],
    ['POST /api/v1/analysis/watchlists', { name: 'little', stock_codes: ['NVDA'] }],
    ['POST /api/v1/analysis/analyze', { stock_codes: ['600519'], async_mode: true }],
  ]
  const answers = await Promise.all(little.map(async ([call, body]) => (await ask(call, body)).status))
  expect(answers.filter((status) => status >= 300 && status !== 507)).toEqual([])

  rmSync(join(disk, FILLER))
  await until(
    'good health',
    async () => (await ask('GET /health')).body !== 'DEGRADED: the disk is full: 0 MiB are free',
  )
  expect(await successOf(ask, events)).toEqual(stored)
  expect(await successOf(ask, 'GET /api/conversations/never')).toBeNull()
  expect(JSON.stringify(await successOf(ask, 'GET /api/secrets'))).not.toContain('NEVER')
  expect((await say(ask, 'shell-work', 'echo after')).some(({ content }) => content?.includes('after'))).toBe(true)
  const isChinese = (await successOf<{ language: string }>(ask, 'GET /api/settings')).language === 'zh'
  expect(isChinese).toBe(answers[0] === 200)
  const { watchlists } = await successOf<{ watchlists: { name: string }[] }>(ask, 'GET /api/v1/analysis/watchlists')
  expect(watchlists.some(({ name }) => name === 'little')).toBe((answers[1] ?? 0) < 300)
  await successOf(ask, 'POST /api/v1/analysis/analyze', { stock_code: '600519' })
})

/** More than what may be left in a page. */
const LONG = 'x'.repeat(60_000)

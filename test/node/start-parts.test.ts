import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { unstable_getVarsForDev } from 'wrangler'
import { formatEnvFile } from '../../scripts/dev/env-file.ts'
import { parseEnvFile } from '../../scripts/start/env-file.ts'
import { Fault, outOfRoom } from '../../scripts/start/fault.ts'
import { isMigrated } from '../../scripts/start/migrations.ts'
import type { Runtime } from '../../scripts/start/runtime.ts'
import { isWanted, logText } from '../../scripts/start/runtime-output.ts'
import { verdictOn } from '../../scripts/start/stall.ts'
import { requireRoom } from '../../scripts/start/state-folder.ts'
import { supervise } from '../../scripts/start/supervisor.ts'

const TRICKY = [
  "'",
  '"',
  '`',
  '\\',
  '$',
  '${',
  '}',
  '\n',
  '\r',
  '#',
  ' ',
  'A',
  '\nB=',
  '\\n',
  '价',
  '{"a":"b"}',
  '$A',
  ':-',
]
const value = fc.array(fc.constantFrom(...TRICKY), { maxLength: 12 }).map((pieces) => pieces.join(''))
const variables = fc.dictionary(fc.constantFrom('A', 'B', 'ROOT_API_KEY'), value)

test('any text reaches the Worker exactly as it was set, whatever quotes, lines and signs it holds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-env-'))
  const file = join(folder, 'vars.env')
  fc.assert(
    fc.property(variables, (vars) => {
      writeFileSync(file, formatEnvFile(vars))
      const bindings = unstable_getVarsForDev(join(folder, 'wrangler.toml'), [file], {}, undefined, true)
      for (const [name, text] of Object.entries(vars))
        expect(bindings[name]).toEqual({ type: 'secret_text', value: text })
    }),
    { numRuns: 500 },
  )
  rmSync(folder, { recursive: true })
})

test('.dev.vars means to npm start what it means to wrangler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-env-'))
  const line = fc.tuple(fc.constantFrom('A=', 'B = ', 'export C=', '# D='), value).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
      writeFileSync(join(folder, '.dev.vars'), lines.join('\n'))
      const bindings = unstable_getVarsForDev(join(folder, 'wrangler.toml'), undefined, {}, undefined, true)
      const read = Object.fromEntries(
        Object.entries(bindings).map(([name, binding]) => [name, Reflect.get(binding, 'value')]),
      )
      expect(parseEnvFile(lines.join('\n'))).toEqual(read)
    }),
    { numRuns: 500 },
  )
  rmSync(folder, { recursive: true })
})

test('of what the runtime prints, only log lines and errors come through', () => {
  const lines = [
    ['log', '{"level":"info","event":"key.issued"}', true],
    ['log', 'chatter of a library', false],
    ['warn', '{"level":"warn","event":"notify.channel_failed"}', true],
    ['warn', 'something to know', false],
    ['error', 'Error: kaboom\n    at Object.fetch (local.js:1:248)', true],
    ['error', 'Uncaught exception: kj/async-io-unix.c++:186: disconnected: Broken pipe', false],
    ['error', 'kj/async-io-unix.c++:1298: failed: DNS lookup failed.', false],
    ['error', 'NOSENTRY SQLite alarm overdue by 3 s', false],
    [
      'error',
      'Uncaught exception: kj/compat/http.c++:6231: failed: remote.jsg.Error: WebSocket protocol error; protocolError.statusCode = 1002; protocolError.description = Unknown opcode 3\nstack: /x/workerd@5827ba0',
      false,
    ],
    ['error', 'kj/compat/http.c++:6231: failed: remote.jsg.Error: internal error; reference = x', true],
  ] as const
  for (const [level, message, expected] of lines) {
    expect([message, isWanted({ timestamp: 0, level, message })]).toEqual([message, expected])
  }
})

test('a failing database is one line, without the stack of the runtime', () => {
  const message =
    'e = workerd/util/sqlite.c++:852: failed: SENTRY_DO SQLite failed; dbErrorMessage(prepareResult, db) = file is not a database: SQLITE_NOTADB\nstack: /x/workerd@37d9f99'
  const line = { timestamp: 0, level: 'error', message }
  expect(isWanted(line)).toBe(true)
  const error = 'file is not a database: SQLITE_NOTADB'
  expect(JSON.parse(logText(line))).toEqual({
    ...{ time: '1970-01-01T00:00:00.000Z', level: 'error', event: 'start.database_failed' },
    error,
  })
  expect(logText({ ...line, message: 'Error: kaboom\n' })).toBe('Error: kaboom')
})

test('a full disk and one that took no more are told in one sentence with what to do', () => {
  expect(() => requireRoom('/data', 200 * 1024 * 1024)).not.toThrow()
  const said = 'The disk of /data is full: 3 MiB are free, and at least 64 are needed. Make room first.'
  expect(() => requireRoom('/data', 3.9 * 1024 * 1024)).toThrow(new Fault(said))
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', path: '/data/x' })
  expect(outOfRoom(error)?.message).toBe('The disk is full: /data/x cannot be written. Make room and start again.')
  expect(outOfRoom(new Error('something else'))).toBeNull()
})

test('a database is known to be up to date only from its books, and in doubt the runtime is asked', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-migrated-'))
  const folder = join(stateDir, 'v3', 'd1', 'miniflare-D1DatabaseObject')
  const migrations = ['0001_first.sql', '0002_second.sql'].map((name) => ({ name, statements: ['SELECT 1'] }))
  const isUpToDate = () => isMigrated(stateDir, migrations)
  expect(isUpToDate()).toBe(false)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'metadata.sqlite'), '')
  expect(isUpToDate()).toBe(false)
  const file = join(folder, `${'ab'.repeat(32)}.sqlite`)
  const db = new DatabaseSync(file)
  // As the runtime keeps it, and as one that was killed leaves it: what is new stands beside the file.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0')
  expect(isUpToDate()).toBe(false)
  db.exec("CREATE TABLE d1_migrations (name TEXT); INSERT INTO d1_migrations VALUES ('0001_first.sql')")
  expect(isUpToDate()).toBe(false)
  db.exec("INSERT INTO d1_migrations VALUES ('0002_second.sql')")
  expect(isUpToDate()).toBe(true)
  // Another database beside it: which of them is ours is not to be guessed.
  writeFileSync(join(folder, `${'cd'.repeat(32)}.sqlite`), '')
  expect(isUpToDate()).toBe(false)
  rmSync(join(folder, `${'cd'.repeat(32)}.sqlite`))
  expect(isUpToDate()).toBe(true)
  db.close()
  writeFileSync(file, 'no database at all, but long enough to be looked at as the head of one'.repeat(20))
  expect(isUpToDate()).toBe(false)
  rmSync(stateDir, { recursive: true })
})

test('a silent runtime is lost when it does nothing, or when it has been busy for a minute, and never before', () => {
  const at = (ranMs: number, waitedMs = 0) => ({ ranMs, waitedMs })
  expect(verdictOn(7_000, at(100), at(100))).toBeNull()
  expect(verdictOn(8_000, at(100), at(110))).toContain('did nothing')
  // Busy for less than a minute, and for long with pauses in between.
  expect(verdictOn(59_000, at(100), at(59_000))).toBeNull()
  expect(verdictOn(300_000, at(100), at(100_000))).toBeNull()
  expect(verdictOn(60_000, at(100), at(60_000))).toContain('busy')
  // Others had half of its core: it would have used all of it.
  expect(verdictOn(60_000, at(100, 0), at(30_000, 29_000))).toContain('busy')
  // Another runtime has taken its place meanwhile.
  expect(verdictOn(20_000, at(90_000), at(50))).toBeNull()
  expect(verdictOn(59_000, null, null)).toBeNull()
  expect(verdictOn(60_000, null, null)).toContain('did not answer')
})

/** A runtime that ends when told to, by its own fault or ours. */
function fakeRuntime(): Runtime & { die(how: string): void; isStopped: boolean } {
  const { promise: exited, resolve: die } = Promise.withResolvers<string>()
  const runtime = {
    exited,
    die,
    isStopped: false,
    usage: () => null,
    kill: async () => {},
    stop: async () => {
      runtime.isStopped = true
    },
  }
  return runtime
}

test('a runtime that dies is started again, later each time, and readiness is announced once', async () => {
  const stop = new AbortController()
  const runtimes: ReturnType<typeof fakeRuntime>[] = []
  const restarts: unknown[] = []
  let readyCount = 0
  await supervise({
    launch: () => {
      const runtime = fakeRuntime()
      runtimes.push(runtime)
      return runtime
    },
    probe: async () => {
      const current = runtimes.length
      // The third stays; the others die once they have answered.
      if (current === 3) setTimeout(() => stop.abort(), 20)
      else setTimeout(() => runtimes[current - 1]?.die('was killed by SIGKILL'), 20)
      return true
    },
    onReady: () => {
      readyCount += 1
    },
    onRestart: (restart) => restarts.push(restart),
    stopped: stop.signal,
  })
  expect(readyCount).toBe(1)
  const reason = 'the runtime was killed by SIGKILL'
  expect(restarts).toEqual([
    { reason, delayMs: 200 },
    { reason, delayMs: 400 },
  ])
  expect(runtimes.map(({ isStopped }) => isStopped)).toEqual([false, false, true])
})

test('a runtime that has run for long is followed by the next at once, and one that dies early is not', async () => {
  const stop = new AbortController()
  const runtimes: ReturnType<typeof fakeRuntime>[] = []
  const delays: number[] = []
  let aheadMs = 0
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + aheadMs)
  onTestFinished(() => clock.mockRestore())
  await supervise({
    launch: () => {
      const runtime = fakeRuntime()
      runtimes.push(runtime)
      return runtime
    },
    probe: async () => {
      if (runtimes.length === 3) stop.abort()
      else if (runtimes.length === 1) aheadMs += 60_000
      runtimes.at(-1)?.die('was killed by SIGKILL')
      return true
    },
    onReady: () => {},
    onRestart: ({ delayMs }) => delays.push(delayMs),
    stopped: stop.signal,
  })
  expect(delays).toEqual([0, 200])
})

test('a runtime that never comes up ends the start with its reason', async () => {
  const runtime = fakeRuntime()
  setTimeout(() => runtime.die('ended with 1'), 20)
  const supervision = supervise({
    launch: () => runtime,
    probe: async () => false,
    onReady: () => expect.unreachable(),
    onRestart: () => expect.unreachable(),
    stopped: new AbortController().signal,
  })
  await expect(supervision).rejects.toThrow(new Fault('The service did not start: the runtime ended with 1.'))
})

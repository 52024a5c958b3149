import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unstable_getVarsForDev } from 'wrangler'
import { formatEnvFile, parseEnvFile } from '../../scripts/start/env-file.ts'
import { Fault } from '../../scripts/start/fault.ts'
import type { Runtime } from '../../scripts/start/runtime.ts'
import { wantedFromStderr, wantedFromStdout } from '../../scripts/start/runtime-output.ts'
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

test('of what wrangler prints, only log lines and errors come through', () => {
  const stdout = [
    ['⎔ Starting local server...', false],
    ['[wrangler:info] GET /health 200 OK (4ms)', false],
    ['{"level":"info","event":"key.issued"}', true],
    ['[wrangler:error] Error: kaboom', true],
    ['    at Object.fetch (file:///src/index.js:1:248)', true],
    ['[wrangler:info] GET /boom 500 Internal Server Error (87ms)', false],
    ['    at nothing', false],
  ] as const
  const stderr = [
    ['▲ [WARNING] something to know', false],
    ['', false],
    ['  a note on it', false],
    ['✘ [ERROR] Build failed with 1 error:', true],
    ['  src/index.ts:1:7', true],
  ] as const
  for (const [lines, isWanted] of [
    [stdout, wantedFromStdout()],
    [stderr, wantedFromStderr()],
  ] as const) {
    for (const [line, expected] of lines) expect([line, isWanted(line)]).toEqual([line, expected])
  }
})

/** A runtime that ends when told to, by its own fault or ours. */
function fakeRuntime(): Runtime & { die(how: string): void; isStopped: boolean } {
  const { promise: exited, resolve: die } = Promise.withResolvers<string>()
  const runtime = {
    exited,
    die,
    isStopped: false,
    noteMembers: () => {},
    hasLostMember: () => false,
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

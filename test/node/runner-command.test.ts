// What `npm run runner` adds to what it was told.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runnerArguments } from '../../scripts/runner/main.ts'

test('the local service and its token are found by themselves, and what is said overrules them', () => {
  const state = mkdtempSync(join(tmpdir(), 'bellwether-state-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  const env = { BELLWETHER_STATE: state, PORT: '8899' }
  expect(() => runnerArguments([], env)).toThrow(/npm start/)
  expect(runnerArguments(['--key', 'k'], env)).toEqual(['--url', 'http://127.0.0.1:8899', '--key', 'k'])
  const token = join(state, 'runner-token')
  writeFileSync(token, 'secret\n', { mode: 0o600 })
  const local = ['--url', 'http://127.0.0.1:8899', '--key-file', token]
  expect(runnerArguments(['--isolation', 'none'], env)).toEqual([...local, '--isolation', 'none'])
  expect(runnerArguments(['--url=https://x.test', '--key-file', 'f'], env)).toEqual([
    '--url=https://x.test',
    '--key-file',
    'f',
  ])
  expect(runnerArguments(['--help'], env)).toEqual(['--help'])
})

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Fault } from '../../scripts/start/fault.ts'
import { withSecretsKey } from '../../scripts/start/secrets-key.ts'
import { parseConfig } from '../../src/config.ts'

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-key-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const LOCAL = { AUTH_MODE: 'local', MARKET_DATA: 'sample' }

test('a local start makes its key once, for its user alone, and keeps it', () => {
  const folder = stateFolder()
  const first = withSecretsKey(LOCAL, folder)
  expect(parseConfig(first).secretsKey).toBe(first.SECRETS_KEY)
  expect(withSecretsKey({ ...LOCAL, SECRETS_KEY: '' }, folder)).toEqual(first)
  expect(readdirSync(folder)).toEqual(['secrets-key'])
  expect(statSync(join(folder, 'secrets-key')).mode & 0o777).toBe(0o600)
  expect(withSecretsKey(LOCAL, stateFolder()).SECRETS_KEY).not.toBe(first.SECRETS_KEY)
})

test('a key that was given stands, and keys mode gets none made', () => {
  const folder = stateFolder()
  const given = { ...LOCAL, SECRETS_KEY: 'given' }
  expect(withSecretsKey(given, folder)).toBe(given)
  const keys = { AUTH_MODE: 'keys' }
  expect(withSecretsKey(keys, folder)).toBe(keys)
  expect(readdirSync(folder)).toEqual([])
})

test('a damaged key stops the start instead of being replaced', () => {
  const folder = stateFolder()
  const file = join(folder, 'secrets-key')
  for (const text of ['', 'short', `${'A'.repeat(43)}=x`]) {
    writeFileSync(file, text)
    expect(() => withSecretsKey(LOCAL, folder)).toThrow(Fault)
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
})

// Secrets are encrypted in a local service, too. A local start without a key makes one and stores it beside the databases: a
// copy of the whole folder contains the key, a copy of one database does not.

import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from './fault.ts'

const KEY_BYTES = 32
/** In the state folder, mode 0600. */
export const RUNNER_TOKEN_FILE = 'runner-token'

type Variables = Readonly<Record<string, string>>

/** The variables, with the state folder's own key if they name none and the service is local. */
export function withSecretsKey(vars: Variables, stateDir: string): Variables {
  if (vars.AUTH_MODE !== 'local' || (vars.SECRETS_KEY ?? '') !== '') return vars
  const file = join(stateDir, 'secrets-key')
  return { ...vars, SECRETS_KEY: readKey(file, 'It opens the stored secrets') ?? makeKey(file) }
}

/** The token that a runner on this machine shows, made at the first start: a request from a web page cannot know it. */
export function withRunnerToken(vars: Variables, stateDir: string): Variables {
  if (vars.AUTH_MODE !== 'local' || (vars.RUNNER_TOKEN ?? '') !== '') return vars
  const file = join(stateDir, RUNNER_TOKEN_FILE)
  return { ...vars, RUNNER_TOKEN: readKey(file, 'Runners on this machine show it') ?? makeKey(file) }
}

function readKey(file: string, purpose: string): string | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  // Replacing the key would make all encrypted values permanently unreadable.
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return text
  throw new Fault(
    `${file}: found something that is no key. ${purpose}: bring it back, or delete it to begin without them`,
  )
}

/** Written completely before it gets its name, so that a crash leaves a complete key or none. */
function makeKey(file: string): string {
  const key = randomBytes(KEY_BYTES).toString('base64')
  const unfinished = `${file}.new`
  const descriptor = openSync(unfinished, 'w', 0o600)
  try {
    writeSync(descriptor, `${key}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(unfinished, file)
  return key
}

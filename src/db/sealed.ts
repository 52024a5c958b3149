// Encrypted columns: the keys of this environment, and reading many encrypted values of one owner at a time.

import { config } from '../config.ts'
import { type SealKeys, seal, unseal } from '../lib/crypto.ts'
import { log } from '../lib/log.ts'

/** The kind of a sealed value and its name within the owner's values. */
export type SealedKey = {
  kind: 'setting' | 'secret' | 'provider_token' | 'conversation' | 'channel'
  owner: string
  name: string
}

export type SealedValue = SealedKey & { sealed: string }

export type Opened = {
  /** By name. */
  texts: Map<string, string>
  /** Names of values that were changed in the database, or encrypted with an unknown key. */
  unreadable: string[]
  /** Values encrypted with the previous key, together with their new form under the current one. */
  stale: (SealedValue & { resealed: string })[]
}

/**
 * Thrown when there is no key, which only happens when the service is started by hand. Callers match the text, because
 * error classes do not survive a call between objects.
 */
export const NO_SECRETS_KEY = 'SECRETS_KEY is not set: nothing can be sealed or opened'

/** Throws when there is no key. */
export function sealKeys(env: Env): SealKeys {
  const { secretsKey, secretsKeyPrevious } = config(env)
  if (secretsKey === null) throw new Error(NO_SECRETS_KEY)
  return { current: secretsKey, previous: secretsKeyPrevious }
}

export function sealValue(env: Env, text: string, place: SealedKey): Promise<string> {
  return seal(sealKeys(env), text, contextOf(place))
}

export async function openValues(env: Env, values: readonly SealedValue[]): Promise<Opened> {
  const opened: Opened = { texts: new Map(), unreadable: [], stale: [] }
  if (values.length === 0) return opened
  const keys = sealKeys(env)
  await Promise.all(
    values.map(async (value) => {
      const result = await unseal(keys, value.sealed, contextOf(value))
      if (!result.ok) {
        const { kind, owner, name } = value
        log.error('seal.unreadable', { kind, owner, name, reason: result.reason })
        opened.unreadable.push(name)
        return
      }
      opened.texts.set(value.name, result.text)
      if (!result.isStale) return
      opened.stale.push({ ...value, resealed: await seal(keys, result.text, contextOf(value)) })
    }),
  )
  return opened
}

const contextOf = ({ kind, owner, name }: SealedKey): string[] => [kind, owner, name]

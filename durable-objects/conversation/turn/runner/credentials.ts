// What the git of a runner gets when it asks for credentials: the owner's stored tokens, each for its own host only.

import { errorFields, log } from '../../../../src/lib/log.ts'
import type { CredentialAsk } from '../../../../src/runners/wire.ts'
import { credentialFor } from '../../repository/git-access.ts'

const NONE = { username: null, password: null }

/** Both null for a host without a token, and where the tokens cannot be read: git then asks without one. */
export async function credentialAt(env: Env, owner: string, { protocol, host }: CredentialAsk) {
  const address = `${protocol}://${host}`
  if (!URL.canParse(address)) return NONE
  try {
    return (await credentialFor(env, owner, new URL(address).origin)) ?? NONE
  } catch (error) {
    log.warn('runner.credential_away', errorFields(error))
    return NONE
  }
}

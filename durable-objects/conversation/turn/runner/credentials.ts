// Answers the git of a runner that asks for credentials: with the owner's stored tokens, each for its own host only.
// Also decides which hosts it may reach.

import { errorFields, log } from '../../../../src/lib/log.ts'
import type { CredentialAsk, HostAsk } from '../../../../src/runners/wire.ts'
import { credentialFor, type GitOwner, gitOrigins } from '../../repository/git-access.ts'

const NONE = { username: null, password: null }

/**
 * Both are null for a host without a token, and when the tokens cannot be read: git then continues without credentials.
 */
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

/** Whether the host belongs to one of the owner's git providers, or to the repository address that a user chose. */
export async function isGitHostOf(env: Env, whose: GitOwner, { host, port }: HostAsk): Promise<boolean> {
  try {
    const origins = await gitOrigins(env, whose)
    return origins.some((origin) => {
      const { protocol, hostname, port: written } = new URL(origin)
      return hostname === host && Number(written || (protocol === 'https:' ? 443 : 80)) === port
    })
  } catch (error) {
    log.warn('runner.hosts_away', errorFields(error))
    return false
  }
}

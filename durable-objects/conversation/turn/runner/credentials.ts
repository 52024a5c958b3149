// What the git of a runner gets when it asks for credentials: the owner's stored tokens, each for its own host only; and which hosts
// it may reach for them.

import { errorFields, log } from '../../../../src/lib/log.ts'
import type { CredentialAsk, HostAsk } from '../../../../src/runners/wire.ts'
import { credentialFor, type GitOwner, gitOrigins } from '../../repository/git-access.ts'

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

/** Whether the host is one of the owner's git providers, or the one that a person chose the repository at. */
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

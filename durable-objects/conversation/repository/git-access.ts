// What git gets from the owner: the stored tokens, each for its own host only, and the name of the author. Both are read
// when git asks for them, so a change is used from the next command on.

import { config } from '../../../src/config.ts'
import { ownerProviderTokens } from '../../../src/db/provider-tokens.ts'
import { ownerSettings } from '../../../src/db/settings.ts'
import { gitCredentialOf, gitOriginOf } from '../../../src/git-providers/addresses.ts'
import { isFamily } from '../../../src/git-providers/provider.ts'
import { type Credential, fatal, type GitRemotes, type Identity } from '../../../src/kits/git/index.ts'
import { STRANGER, typedByPerson } from '../../../src/lib/address-policy.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import type { SelectedRepository } from '../schema.ts'

/** The owner of the conversation, and the repository that it was made for. */
export type GitOwner = { owner: string; repository: SelectedRepository | null }

export function gitAccess(env: Env, { owner, repository }: GitOwner): GitRemotes {
  const { addressPolicy, maxGitAnswerBytes } = config(env)
  return {
    policy: addressPolicy,
    limits: { maxBytes: maxGitAnswerBytes },
    // Read from the record, which nothing in the workspace can change: a remote that the agent adds counts as chosen by
    // the agent.
    chosenBy: repository?.isTyped ? typedByPerson(repository.url) : STRANGER,
    credentialFor: ({ origin }) => credentialFor(env, owner, origin),
    identity: () => identityOf(env, owner),
  }
}

/** Null for a host without a token. Throws when the stored tokens cannot be read. */
export async function credentialFor(env: Env, owner: string, origin: string): Promise<Credential | null> {
  const stored = await storedTokens(env, owner)
  if (!stored.ok) {
    const names = stored.unreadable.join(', ')
    throw fatal(`the stored tokens cannot be opened: ${names}; unset them and store them anew`, {
      reason: 'authentication',
    })
  }
  for (const { provider, token, host } of stored.tokens) {
    const account = isFamily(provider) ? { provider, token, host } : null
    if (account && gitOriginOf(account) === origin) return gitCredentialOf(account)
  }
  return null
}

/**
 * The origins that the owner's git may contact: the providers whose tokens are stored, and the origin of the repository
 * if a user chose it.
 */
export async function gitOrigins(env: Env, { owner, repository }: GitOwner): Promise<string[]> {
  const stored = await storedTokens(env, owner)
  const accounts = stored.ok
    ? stored.tokens.flatMap(({ provider, host }) => (isFamily(provider) ? [gitOriginOf({ provider, host })] : []))
    : []
  return repository?.isTyped ? [...accounts, new URL(repository.url).origin] : accounts
}

async function storedTokens(env: Env, owner: string): ReturnType<typeof ownerProviderTokens> {
  try {
    return await ownerProviderTokens(env, owner)
  } catch (cause) {
    log.warn('git.tokens_away', errorFields(cause))
    throw fatal('the stored tokens cannot be read just now; try again', { cause, reason: 'authentication' })
  }
}

const NOBODY: Identity = { name: null, email: null }

/** A missing author name must not make the commit fail. */
async function identityOf(env: Env, owner: string): Promise<Identity> {
  try {
    const found = await ownerSettings(env, owner)
    return found.ok ? { name: found.settings.gitUserName, email: found.settings.gitUserEmail } : NOBODY
  } catch (error) {
    log.warn('git.settings_away', errorFields(error))
    return NOBODY
  }
}

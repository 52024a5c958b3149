// What git may use of its owner's: the stored tokens, each for the host that it belongs to alone, and the name that
// commits are by. Both are read when git asks for them, so that a change holds from the next command on.

import { config } from '../../src/config.ts'
import { ownerProviderTokens } from '../../src/db/provider-tokens.ts'
import { ownerSettings } from '../../src/db/settings.ts'
import { gitCredentialOf, gitOriginOf } from '../../src/git-providers/git-access.ts'
import { isFamily } from '../../src/git-providers/provider.ts'
import { STRANGER, typedByPerson } from '../../src/lib/chooser.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { fatal } from '../../src/workspace/git/failure.ts'
import type { Credential, GitRemotes, Identity } from '../../src/workspace/git/remotes.ts'
import type { SelectedRepository } from './meta.ts'

/** Whose conversation it is, and the repository that it was made for. */
export type GitOwner = { owner: string; repository: SelectedRepository | null }

export function gitAccess(env: Env, { owner, repository }: GitOwner): GitRemotes {
  const { addressPolicy, maxGitAnswerBytes } = config(env)
  return {
    policy: addressPolicy,
    limits: { maxBytes: maxGitAnswerBytes },
    // From the record, which nothing in the workspace can change: a remote of the agent's is its own choice.
    chosenBy: repository?.isTyped ? typedByPerson(repository.url) : STRANGER,
    credentialFor: ({ origin }) => credentialFor(env, owner, origin),
    identity: () => identityOf(env, owner),
  }
}

/** Null for a host that none of the tokens belongs to. */
async function credentialFor(env: Env, owner: string, origin: string): Promise<Credential | null> {
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

async function storedTokens(env: Env, owner: string): ReturnType<typeof ownerProviderTokens> {
  try {
    return await ownerProviderTokens(env, owner)
  } catch (cause) {
    log.warn('git.tokens_away', errorFields(cause))
    throw fatal('the stored tokens cannot be read just now; try again', { cause, reason: 'authentication' })
  }
}

const NOBODY: Identity = { name: null, email: null }

/** What commits are by is not worth failing for. */
async function identityOf(env: Env, owner: string): Promise<Identity> {
  try {
    const found = await ownerSettings(env, owner)
    return found.ok ? { name: found.settings.gitUserName, email: found.settings.gitUserEmail } : NOBODY
  } catch (error) {
    log.warn('git.settings_away', errorFields(error))
    return NOBODY
  }
}

// The services outside the workspace that the caller provides to git.

import type { AddressPolicy, Chooser } from '../../lib/address-policy.ts'
import type { GuardedFetchLimits } from '../../lib/guarded-fetch.ts'

export interface Credential {
  username: string
  password: string
}

export interface Identity {
  name: string | null
  email: string | null
}

export interface GitRemotes {
  policy: AddressPolicy
  /** Who chose the remotes. A configuration in the workspace is not trusted, whoever wrote it. */
  chosenBy: Chooser
  /** The credentials for a URL that requires them; null for none. They are sent to that origin only. */
  credentialFor?: (url: URL) => Promise<Credential | null>
  /** The committer, unless the configuration of the repository or user sets one. */
  identity?: () => Promise<Identity>
  limits?: Partial<TransferLimits>
  fetch?: typeof fetch
}

export interface TransferLimits extends GuardedFetchLimits {
  /** Objects in one pack. */
  maxObjects: number
}

// What lies outside the workspace, as git is told about it by its caller.

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
  /** Whose choice the remotes are. What a configuration in the workspace says is a stranger's, whoever wrote it. */
  chosenBy: Chooser
  /** Who to be at an address that asks for it; null for nobody. What it answers with goes to that origin alone. */
  credentialFor?: (url: URL) => Promise<Credential | null>
  /** Who commits, unless the repository or the user's own configuration says otherwise. */
  identity?: () => Promise<Identity>
  limits?: Partial<TransferLimits>
  fetch?: typeof fetch
}

export interface TransferLimits extends GuardedFetchLimits {
  /** Objects in one pack. */
  maxObjects: number
}

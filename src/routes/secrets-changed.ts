// Open conversations have the owner's secrets in memory. Before a change is acknowledged, the owner's object notifies
// them, so the owner's next request is masked with the new values.

import { owner as ownerOf } from '../bindings.ts'
import { errorFields, log } from '../lib/log.ts'

/** The first call to a restarted object fails. */
const ATTEMPTS = 2

/** Makes the change and reports it, even if it failed: a database that did not answer may have made it. */
export async function changingSecrets<T>(env: Env, owner: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } finally {
    await tell(env, owner)
  }
}

/** A conversation that cannot be notified reads the secrets again itself, minutes later; the change is valid anyway. */
async function tell(env: Env, owner: string): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      await ownerOf(env, owner).secretsChanged()
      return
    } catch (error) {
      log.error('secrets.conversations_not_told', { owner, attempt, ...errorFields(error) })
    }
  }
}

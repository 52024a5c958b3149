// Conversations that are awake know the owner's secrets by heart. Before a change of any of them is answered, they are told
// through the owner's object, so the owner's next request is masked by what was just stored.

import { owner as ownerOf } from '../../bindings.ts'
import { errorFields, log } from '../../lib/log.ts'

/** An object that was just restarted breaks off the first call. */
const ATTEMPTS = 2

/** Makes the change and tells of it, also when it failed: what a database did that did not answer, nobody knows. */
export async function changingSecrets<T>(env: Env, owner: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } finally {
    await tell(env, owner)
  }
}

/** Whoever cannot be told looks again by itself, minutes later; the change stands all the same. */
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

import { conversationPlace, conversationPrefix } from '../../bindings.ts'
import { deleteConversationRows } from '../../db/conversations.ts'
import { log } from '../../lib/log.ts'
import { objectDamage, removeDamaged } from '../../lib/state-keeper.ts'

/** R2 deletes this many keys in one call. */
const DELETE_BATCH = 1000

/**
 * Deletes a conversation whose object cannot do it itself, because its file is damaged; false when that is not so. The file
 * goes last: until then all of this can be done again.
 */
export async function deleteDamaged(env: Env, owner: string, id: string): Promise<boolean> {
  const place = conversationPlace(env, owner, id)
  const damaged = await objectDamage(env, place)
  if (damaged === null) return false
  const prefix = conversationPrefix(owner, id)
  for (;;) {
    const { objects, truncated } = await env.FILES.list({ prefix, limit: DELETE_BATCH })
    if (objects.length > 0) await env.FILES.delete(objects.map(({ key }) => key))
    if (!truncated) break
  }
  await deleteConversationRows(env.DB, owner, id)
  const removed = await removeDamaged(env, place)
  log.warn('conversation.damaged_deleted', { owner, conversation: id, file: damaged.file, damage: damaged.damage })
  return removed
}

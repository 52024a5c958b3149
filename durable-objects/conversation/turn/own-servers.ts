// Tool servers that were given for one conversation, in place of its owner's. They may contain keys, so they are stored
// sealed.

import { openValues, sealValue } from '../../../src/db/sealed.ts'
import { McpServers } from '../../../src/db/settings.ts'
import type { ConversationRecord } from '../schema.ts'

type ServerOwner = Pick<ConversationRecord, 'owner' | 'id' | 'toolServers'>

/** Null when the conversation has no servers of its own. */
export async function ownServers(env: Env, { owner, id, toolServers }: ServerOwner): Promise<McpServers | null> {
  if (toolServers == null) return null
  const { texts } = await openValues(env, [{ kind: 'conversation', owner, name: id, sealed: toolServers }])
  const text = texts.get(id)
  return text === undefined ? null : McpServers.parse(JSON.parse(text))
}

/** The same servers, sealed for another conversation of the owner. */
export async function sealedServersFor(env: Env, of: ServerOwner, id: string): Promise<string | null> {
  const servers = await ownServers(env, of)
  return servers && sealValue(env, JSON.stringify(servers), { kind: 'conversation', owner: of.owner, name: id })
}

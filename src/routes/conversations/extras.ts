// Requests about the machine of a conversation. At the edge there is none: the workspace is in the conversation's own
// storage, there is no editor, and nothing listens on a port. Servers on a runner have their own hosts.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Microagent as Loaded } from '../../agent/microagents.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { portAddress } from '../port-view.ts'
import { foundOr404, ownConversation } from './access.ts'
import { ConversationPath } from './schemas.ts'

const app = router(errorEnvelope)
const tag = 'Conversation extras'
const notFound = { description: 'No such conversation' }

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/config',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Which session and runtime the conversation has',
    params: ConversationPath,
    replies: {
      200: {
        description: 'The session is the conversation; there is no runtime beside it',
        schema: z.object({ runtime_id: z.string().nullable(), session_id: z.string() }),
      },
      404: notFound,
    },
  },
  async (c, { params }) => {
    await demand(c, params.conversation_id)
    const runtimeId = await ownConversation(c, params.conversation_id).runtimeId()
    return c.json({ runtime_id: runtimeId, session_id: params.conversation_id })
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/vscode-url',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Where an editor for the workspace is',
    params: ConversationPath,
    replies: {
      200: { description: 'Null: there is none', schema: z.object({ vscode_url: z.string().nullable() }) },
      404: notFound,
    },
  },
  async (c, { params }) => {
    await demand(c, params.conversation_id)
    return c.json({ vscode_url: null })
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/web-hosts',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Where the servers that run in the workspace are',
    params: ConversationPath,
    replies: {
      200: {
        description: 'Port by address; empty without a runner. An address opens the server to whoever has it',
        schema: z.object({ hosts: z.record(z.string(), z.int()) }),
      },
      404: notFound,
    },
  },
  async (c, { params }) => {
    const { conversation_id: id } = params
    const ports = foundOr404(await ownConversation(c, id).webHosts(), id)
    const hosts = ports.flatMap(({ port, label }) => {
      const address = portAddress(c.req.raw, c.env, label)
      return address === null ? [] : [[address, port] as const]
    })
    return c.json({ hosts: Object.fromEntries(hosts) })
  },
)

endpoint(
  app,
  {
    method: 'delete',
    path: '/api/conversations/{conversation_id}/web-hosts/{port}',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Take the address of a server back: it is no address any more, and the next list gives another one',
    params: ConversationPath.extend({
      port: z.coerce.number().int().min(1).max(65_535).describe('Where the server listens in the sandbox'),
    }),
    replies: {
      200: { description: 'Taken back', schema: z.object({ message: z.string() }) },
      404: { description: 'No such conversation, or the port has no address' },
    },
  },
  async (c, { params }) => {
    const { conversation_id: id, port } = params
    if (!foundOr404(await ownConversation(c, id).revokePort(port), id))
      throw new AppError('not_found', `Port ${port} has no address`)
    return c.json({ message: 'Taken back' })
  },
)

/** The 404 if the conversation does not exist. */
async function demand(c: Context<AppEnv>, id: string): Promise<void> {
  foundOr404(await ownConversation(c, id).summary(), id)
}

const Microagent = z
  .object({
    name: z.string(),
    type: z.enum(['repo', 'knowledge']),
    content: z.string(),
    triggers: z.array(z.string()),
    inputs: z.array(z.object({ name: z.string(), description: z.string() })),
    tools: z.array(z.string()),
  })
  .openapi('LoadedMicroagent')
type Microagent = z.infer<typeof Microagent>

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/microagents',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Conversation extras',
    summary: 'The microagents that the conversation has',
    params: ConversationPath,
    replies: {
      200: { description: 'Those that always hold come first', schema: z.object({ microagents: z.array(Microagent) }) },
      404: { description: 'No such conversation' },
    },
  },
  async (c, { params }) => {
    const stub = ownConversation(c, params.conversation_id)
    const shown = foundOr404(await stub.microagents(), params.conversation_id).map(onTheWire)
    const ofType = (type: Microagent['type']) => shown.filter((microagent) => microagent.type === type)
    return c.json({ microagents: [...ofType('repo'), ...ofType('knowledge')] })
  },
)

/** A task is shown as knowledge with inputs. */
function onTheWire({ name, kind, content, triggers, inputs, tools }: Loaded): Microagent {
  return { name, type: kind === 'repo' ? 'repo' : 'knowledge', content, triggers, inputs, tools }
}

export { app as extras }

import { z } from '@hono/zod-openapi'
import type { Microagent as Loaded } from '../../agent/microagents.ts'
import { errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { found, ownConversation } from './access.ts'
import { ConversationPath } from './schemas.ts'

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

const app = router(errorEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/microagents',
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
    const shown = found(await stub.microagents(), params.conversation_id).map(onTheWire)
    const ofType = (type: Microagent['type']) => shown.filter((microagent) => microagent.type === type)
    return c.json({ microagents: [...ofType('repo'), ...ofType('knowledge')] })
  },
)

/** A task is shown as knowledge that has inputs. */
function onTheWire({ name, kind, content, triggers, inputs, tools }: Loaded): Microagent {
  return { name, type: kind === 'repo' ? 'repo' : 'knowledge', content, triggers, inputs, tools }
}

export { app as microagents }

import { z } from '@hono/zod-openapi'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { laxBool } from '../../lib/lax.ts'
import { foundOr404, ownConversation } from './access.ts'
import { ConversationPath } from './schemas.ts'

const app = router(errorEnvelope)
const tag = 'Git'

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/git/changes',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'What changed in the workspace against its remote, or against the last commit',
    example: { reply: [{ status: 'M', path: 'src/index.ts' }] },
    params: ConversationPath,
    replies: {
      200: { description: 'M, A, D or U and a path each, sorted', schema: z.array(z.record(z.string(), z.string())) },
      404: { description: 'No such conversation, or not a git repository' },
      500: { description: 'The changes could not be told' },
    },
  },
  async (c, { params }) => {
    const outcome = foundOr404(await ownConversation(c, params.conversation_id).gitChanges(), params.conversation_id)
    if (outcome.ok) return c.json(outcome.changes)
    // Clients compare this text and show a hint.
    if (outcome.reason === 'not-a-repository') throw new AppError('not_found', 'Not a git repository')
    throw new AppError('declared_failure', outcome.message)
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/git/diff',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'One changed file, before and after',
    params: ConversationPath,
    query: z.object({ path: z.string(), exact: laxBool().default(false) }),
    replies: {
      200: { description: 'Both texts', schema: z.looseObject({ original: z.string(), modified: z.string() }) },
      404: { description: 'No such conversation' },
      500: { description: 'Not a repository, no such file, binary, or larger than 1 MiB' },
    },
  },
  async (c, { params, query }) => {
    const stub = ownConversation(c, params.conversation_id)
    const diff = foundOr404(await stub.gitDiff(query.path, query.exact), params.conversation_id)
    if (diff.ok) return c.json({ original: diff.original, modified: diff.modified })
    if (diff.reason === 'outside') throw valueError(['query', 'path'], diff.message, query.path)
    throw new AppError('declared_failure', diff.message)
  },
)

export { app as git }

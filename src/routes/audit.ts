import { z } from '@hono/zod-openapi'
import { AUDIT_ACTIONS, type AuditRecord, listAudit } from '../db/audit.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { encodeCursor, PAGE_QUERY, type Position, pageOf, positionOf } from '../http/paging.ts'
import { router } from '../http/router.ts'
import { wireNameOf } from './conversations/settings-schemas.ts'

const AuditRecordModel = z
  .object({
    id: z.int(),
    at: z.iso.datetime(),
    actor: z.string().openapi({ description: 'The id of the key that did it, or "local" or "root"' }),
    action: z.enum(AUDIT_ACTIONS),
    subject: z.string().nullable().openapi({ description: 'The id or name of what it was done to' }),
    fields: z.array(z.string()).openapi({ description: 'Names of what changed, never a value' }),
  })
  .openapi('AuditRecord')

const AuditPage = z
  .object({ records: z.array(AuditRecordModel), next_page_id: z.string().nullable() })
  .openapi('AuditPage')

const app = router(detailEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/audit',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Audit',
    summary: "Who changed the owner's keys, settings, secrets and tokens, or deleted conversations; newest first",
    query: z.object(PAGE_QUERY),
    replies: {
      200: { description: 'The records', schema: AuditPage },
      400: { description: 'A page_id that is not one of ours' },
    },
  },
  async (c, { query: { limit, page_id } }) => {
    const { owner } = c.get('principal')
    const found = await listAudit(c.env.DB, { owner, before: numberOf(positionOf(page_id)), limit: limit + 1 })
    const { page, next_page_id } = pageOf(found, limit, ({ at, id }) => encodeCursor({ createdAt: at, id: String(id) }))
    return c.json({ records: page.map(toModel), next_page_id })
  },
)

function numberOf(position: Position | null): number | null {
  if (position === null) return null
  const id = Number(position.id)
  if (!Number.isSafeInteger(id)) throw new AppError('bad_request', 'Invalid page_id')
  return id
}

const toModel = ({ id, at, actor, action, subject, fields }: AuditRecord) => ({
  id,
  at,
  actor,
  action,
  subject,
  fields: fields.map(wireNameOf),
})

export { app as audit }

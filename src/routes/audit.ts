import { z } from '@hono/zod-openapi'
import { AUDIT_ACTIONS, type AuditRecord, listAudit } from '../db/audit.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { decodeCursor, encodeCursor } from '../http/paging.ts'
import { router } from '../http/router.ts'
import { laxInt } from '../http/validation.ts'
import { wireNameOf } from './conversations/settings-wire.ts'

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
    tag: 'Audit',
    summary: "Who changed the owner's keys, settings, secrets and tokens, or deleted conversations; newest first",
    query: z.object({
      limit: laxInt({ min: 1, max: 1000 }).default(100),
      page_id: z.string().optional(),
    }),
    replies: {
      200: { description: 'The records', schema: AuditPage },
      400: { description: 'A page_id that is not one of ours' },
    },
  },
  async (c, { query: { limit, page_id } }) => {
    const before = page_id === undefined ? null : positionOf(page_id)
    const { owner } = c.get('principal')
    const found = await listAudit(c.env.DB, { owner, before, limit: limit + 1 })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const next = found.length > page.length && last ? encodeCursor({ createdAt: last.at, id: String(last.id) }) : null
    return c.json({ records: page.map(toModel), next_page_id: next })
  },
)

function positionOf(pageId: string): number {
  const id = Number(decodeCursor(pageId)?.id)
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

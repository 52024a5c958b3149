// The owner as a whole: the deletion of all their data, and its progress.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { owner as ownerObject } from '../bindings.ts'
import { beginErasure, ERASURE_PHASES, type Erasure, erasureOf, ledgerRowsOf, NO_COUNTS } from '../db/erasures.ts'
import { type AppEnv, actorOf } from '../http/app-env.ts'
import { demandScope } from '../http/auth.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { noteLeaving } from '../http/leaving.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'

/** Prevents deletion by an accidental request. */
const CONFIRMATION = 'delete everything'

const OwnerStanding = z
  .object({
    owner: z.string(),
    deletion: z
      .object({
        phase: z.enum(ERASURE_PHASES),
        begun_at: z.iso.datetime(),
        conversations: z.int(),
        tasks: z.int(),
        files: z.int(),
        rows: z.int(),
        problem: z.string().nullable(),
      })
      .nullable(),
    ledger_rows: z.int(),
  })
  .openapi('OwnerStanding')

const DeleteOwner = z.strictObject({ owner: z.string(), confirm: z.literal(CONFIRMATION) }).openapi('DeleteOwner')

const app = router(detailEnvelope)
const common = { path: '/api/owner', scope: 'any', bodyLimit: 'standard', tag: 'Owner' } as const
const EXAMPLE = {
  owner: 'ann',
  deletion: {
    phase: 'deleting',
    begun_at: '2026-11-27T20:00:00.000000Z',
    ...NO_COUNTS,
    conversations: 12,
    problem: null,
  },
  ledger_rows: 7,
}

endpoint(
  app,
  {
    ...common,
    method: 'get',
    limit: 'reads',
    summary: 'Whether everything of the owner is being deleted, and how far that is',
    query: z.object({ owner: z.string().optional() }),
    replies: {
      200: { description: 'How it stands', schema: OwnerStanding },
      403: { description: 'Another owner, and the key has not the scope `admin`' },
    },
    example: { reply: EXAMPLE },
  },
  async (c, { query }) => {
    const owner = query.owner ?? c.get('principal').owner
    demandAbout(c, owner)
    return c.json(await standingOf(c.env, owner))
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'delete',
    limit: 'writes',
    summary: 'Delete everything that the owner has, keys last; it goes on by itself, and cannot be taken back',
    body: { schema: DeleteOwner, required: true },
    replies: {
      202: { description: 'It has begun, or goes on', schema: OwnerStanding },
      403: { description: 'The key has not both scopes, or it is another owner and not the scope `admin`' },
    },
    example: { body: { owner: 'ann', confirm: CONFIRMATION }, reply: EXAMPLE },
  },
  async (c, { body: { owner } }) => {
    demandAbout(c, owner)
    const principal = c.get('principal')
    await beginErasure(c.env.DB, { owner, actor: actorOf(principal), askedBy: principal.owner })
    noteLeaving(owner)
    await begin(c.env, owner)
    return c.json(await standingOf(c.env, owner), 202)
  },
)

/** A key with both scopes may delete its owner's data; an admin key that of any owner. */
function demandAbout(c: Context<AppEnv>, owner: string): void {
  const principal = c.get('principal')
  if (principal.scopes.includes('admin')) return
  if (owner !== principal.owner)
    throw new AppError('forbidden', 'This key is of another owner and lacks the scope "admin"')
  demandScope(principal, 'conversations')
  demandScope(principal, 'analysis')
}

/** The order is stored, so the maintenance executes it if this call fails. */
async function begin(env: Env, owner: string): Promise<void> {
  try {
    await ownerObject(env, owner).erase(owner)
  } catch (error) {
    log.warn('owner.deletion_not_begun', { owner, ...errorFields(error) })
  }
}

async function standingOf(env: Env, owner: string): Promise<z.infer<typeof OwnerStanding>> {
  const [erasure, rows] = await Promise.all([erasureOf(env.DB, owner), ledgerRowsOf(env.DB, owner)])
  return { owner, deletion: erasure === null ? null : wire(erasure), ledger_rows: rows }
}

const wire = ({ phase, beganAt, counts, problem }: Erasure) => ({
  phase,
  begun_at: isoMicros(beganAt),
  ...counts,
  problem,
})

export { app as owner }

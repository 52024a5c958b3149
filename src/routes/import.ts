// The owner's import: an archive of an export is uploaded in parts, validated as a whole, and then applied by the
// owner's object. An interrupted part is sent again; none of the owner's data changes before the whole archive is
// validated.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { owner as ownerObject } from '../bindings.ts'
import { config } from '../config.ts'
import type { AppEnv } from '../http/app-env.ts'
import { demandAnew, ownerOfBoth } from '../http/auth.ts'
import { readBytes } from '../http/body.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'
import { laxInt } from '../lib/lax.ts'
import { inSlices, putInTime } from '../lib/slices.ts'

const PART_BYTES = 4 * 1024 * 1024

const ImportStanding = z
  .object({
    import_id: z.string(),
    phase: z.enum(['receiving', 'checking', 'importing', 'done', 'refused', 'failed']),
    problem: z.string().nullable(),
    begun_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    bytes: z.int(),
    received: z.int(),
    part_bytes: z.int(),
    entries_done: z.int(),
    entries: z.int(),
    archive_id: z.string().nullable(),
    archive_owner: z.string().nullable(),
    conversations: z.int(),
    events: z.int(),
    files: z.int(),
    rows: z.record(z.string(), z.int()),
    left_out: z.record(z.string(), z.int()),
    renamed: z.array(z.object({ from: z.string(), to: z.string() })),
    secrets: z.array(z.object({ kind: z.enum(['secret', 'token', 'channel', 'setting', 'key']), name: z.string() })),
  })
  .openapi('ImportStanding')

const NewImport = z.object({ bytes: laxInt({ min: 1024, max: Number.MAX_SAFE_INTEGER }) }).openapi('NewImport')

const app = router(detailEnvelope)
const common = { scope: 'any', bodyLimit: 'standard', tag: 'Owner', path: '/api/import' } as const
const missing = { 404: { description: 'There is no import; `POST /api/import` begins one' } }
const EXAMPLE = {
  import_id: '0123456789abcdef0123456789abcdef',
  ...{ phase: 'done', problem: null, begun_at: '2026-11-27T20:00:00.000000Z' },
  expires_at: '2026-11-28T20:01:00.000000Z',
  ...{ bytes: 31_457_280, received: 31_457_280, part_bytes: PART_BYTES, entries_done: 412, entries: 412 },
  ...{ archive_id: 'fedcba9876543210fedcba9876543210', archive_owner: 'ann' },
  ...{ conversations: 12, events: 4_211, files: 96 },
  ...{ rows: { analyses: 210, watchlists: 3 }, left_out: { audit_log: 40 } },
  renamed: [{ from: 'first', to: '8f14e45fceea467a9b1c0d2e3f405162' }],
  secrets: [{ kind: 'secret', name: 'NPM_TOKEN' }],
}

endpoint(
  app,
  {
    ...common,
    method: 'post',
    limit: 'starts',
    summary:
      'Begin to import an archive that `GET /api/export` served, in place of an import that is over or was not carried out',
    body: { schema: NewImport, required: true },
    replies: {
      202: { description: 'Its parts can come', schema: ImportStanding },
      404: { description: 'It was withdrawn at the same moment' },
      409: { description: 'One is being checked or carried out' },
    },
    example: { body: { bytes: 31_457_280 }, reply: { ...EXAMPLE, phase: 'receiving' } },
  },
  async (c, { body }) => {
    const owner = ownerOfBoth(c)
    const begun = await ownerObject(c.env, owner).beginImport(owner, body.bytes)
    if (begun === 'busy') throw new AppError('conflict', 'An import is being checked or carried out; wait for its end')
    const most = config(c.env).quotas.storedBytes
    if (begun === 'too-large') throw new AppError('payload_too_large', `An archive may have ${most} bytes here`)
    return c.json(wire(await standingOf(c)), 202)
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'put',
    limit: 'uploads',
    summary: 'Send the part of the archive that begins at a byte',
    query: z.object({ import_id: z.string().max(64), offset: laxInt({ min: 0, max: Number.MAX_SAFE_INTEGER }) }),
    rawBody: { contentType: 'application/octet-stream', schema: z.string().openapi({ format: 'binary' }) },
    replies: {
      200: { description: 'It is stored; `received` says where the next one begins', schema: ImportStanding },
      400: { description: 'The part is not as long as it must be' },
      ...missing,
      409: { description: 'The next part begins elsewhere, or none is wanted any more' },
    },
    example: { body: 'the bytes', reply: { ...EXAMPLE, phase: 'receiving' } },
  },
  async (c, { query }) => {
    const owner = ownerOfBoth(c)
    const object = ownerObject(c.env, owner)
    const { import_id: id, offset } = query
    const wanted = await object.importPartKey(id, offset)
    if (typeof wanted === 'string' || !('key' in wanted)) throw unwanted(wanted)
    const standing = await standingOf(c)
    const bytes = await readBytes(c.req.raw, PART_BYTES)
    await demandAnew(c)
    const due = Math.min(PART_BYTES, standing.bytes - offset)
    if (bytes.byteLength !== due)
      throw new AppError('bad_request', `The part at ${offset} must have ${due} bytes; it has ${bytes.byteLength}`)
    await putInTime(c.env.FILES.put(wanted.key, inSlices(bytes)))
    const noted = await object.noteImportPart(id, { key: wanted.key, bytes: due, offset })
    if (typeof noted === 'string' || !('taken' in noted)) throw unwanted(noted)
    return c.json(wire(await standingOf(c)))
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    limit: 'reads',
    summary: 'How far the import is, and what became of it',
    replies: { 200: { description: 'How it stands', schema: ImportStanding }, ...missing },
    example: { reply: EXAMPLE },
  },
  async (c) => c.json(wire(await standingOf(c))),
)

endpoint(
  app,
  {
    ...common,
    method: 'delete',
    limit: 'writes',
    summary: 'Withdraw an import that is not carried out yet, or forget what became of one',
    replies: {
      200: { description: 'Withdrawn', schema: z.boolean() },
      ...missing,
      409: { description: 'It is being carried out' },
    },
    example: { reply: true },
  },
  async (c) => {
    const withdrawn = await ownerObject(c.env, ownerOfBoth(c)).withdrawImport()
    if (withdrawn === null) throw none()
    if (!withdrawn) throw new AppError('conflict', 'The import is being carried out; it cannot be withdrawn any more')
    return c.json(true)
  },
)

type Unwanted = 'none' | 'busy' | { received: number } | { taken: number }

function unwanted(why: Unwanted): AppError {
  if (why === 'none') return none()
  if (typeof why === 'object' && 'received' in why)
    return new AppError('conflict', `The next part begins at ${why.received}`)
  return new AppError('conflict', 'The archive is here as a whole; no part is wanted any more')
}

const none = () => new AppError('not_found', 'There is no import; POST /api/import begins one')

async function standingOf(c: Context<AppEnv>) {
  const standing = await ownerObject(c.env, ownerOfBoth(c)).importStanding()
  if (standing === null) throw none()
  return standing
}

type Standing = Awaited<ReturnType<typeof standingOf>>

const wire = ({ id, phase, beganAt, expiresAt, bytes, received, done, entries, carried, ...rest }: Standing) => ({
  ...{ import_id: id, phase, problem: rest.problem, begun_at: isoMicros(beganAt), expires_at: isoMicros(expiresAt) },
  ...{ bytes, received, part_bytes: PART_BYTES, entries_done: done, entries },
  ...{ archive_id: rest.archive, archive_owner: rest.source },
  ...{ conversations: carried.made, events: carried.events, files: carried.files },
  ...{ rows: carried.rows, left_out: carried.leftOut, renamed: carried.renamed, secrets: carried.secrets },
})

export { app as imported }

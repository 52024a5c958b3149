// The owner's export: the owner's object prepares it, and clients read any ranges of it, so an interrupted download can
// be continued.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { exportPieceKey, owner as ownerObject } from '../bindings.ts'
import type { AppEnv } from '../http/app-env.ts'
import { ownerOfBoth } from '../http/auth.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint, errorBody } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'

const ARCHIVE = 'application/x-tar'

const ExportStanding = z
  .object({
    export_id: z.string(),
    state: z.enum(['preparing', 'ready', 'failed']),
    begun_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    units_done: z.int(),
    units: z.int(),
    bytes: z.int(),
    conversations: z.int(),
    events: z.int(),
    files: z.int(),
    rows: z.int(),
  })
  .openapi('ExportStanding')

const app = router(detailEnvelope)
const common = { scope: 'any', bodyLimit: 'standard', tag: 'Owner' } as const
const missing = { 404: { description: 'There is no export; `POST /api/export` prepares one' } }
const EXAMPLE = {
  export_id: '0123456789abcdef0123456789abcdef',
  state: 'ready',
  begun_at: '2026-11-27T20:00:00.000000Z',
  expires_at: '2026-11-28T20:01:00.000000Z',
  ...{ units_done: 47, units: 47, bytes: 31_457_280, conversations: 12, events: 4_211, files: 96, rows: 1_830 },
}

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: '/api/export',
    limit: 'starts',
    summary: 'Prepare an archive of everything that the owner has but secrets, in place of the one that is there',
    replies: {
      202: { description: 'It is being prepared', schema: ExportStanding },
      404: { description: 'It was deleted at the same moment' },
    },
    example: { reply: { ...EXAMPLE, state: 'preparing', expires_at: null } },
  },
  async (c) => {
    const owner = ownerOfBoth(c)
    const begun = await ownerObject(c.env, owner).beginExport(owner)
    if (begun === null) throw none()
    return c.json(wire(begun), 202)
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/export/state',
    limit: 'reads',
    summary: 'How far the archive is, and what is in it',
    replies: { 200: { description: 'How it stands', schema: ExportStanding }, ...missing },
    example: { reply: EXAMPLE },
  },
  async (c) => c.json(wire(await standingOf(c))),
)

endpoint(
  app,
  {
    ...common,
    method: 'delete',
    path: '/api/export',
    limit: 'writes',
    summary: 'Delete the archive before its time',
    replies: { 200: { description: 'Deleted', schema: z.boolean() }, ...missing },
    example: { reply: true },
  },
  async (c) => {
    if (!(await ownerObject(c.env, ownerOfBoth(c)).dropExport())) throw none()
    return c.json(true)
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/export',
    limit: 'reads',
    summary:
      'The archive (tar). Takes `Range`, so that a download goes on where it broke off; the `ETag` names the archive',
    replies: {
      200: { description: 'The whole archive', contentType: ARCHIVE, schema: z.string().openapi({ format: 'binary' }) },
      206: { description: 'The range', contentType: ARCHIVE, schema: z.string().openapi({ format: 'binary' }) },
      ...missing,
      409: { description: 'It is not ready' },
      416: { description: 'The archive has no such bytes', schema: errorBody('detail') },
    },
  },
  async (c) => archive(c),
)

async function archive(c: Context<AppEnv>): Promise<Response> {
  const owner = ownerOfBoth(c)
  const { id, state } = await standingOf(c)
  const pieces = await ownerObject(c.env, owner).exportPieces(id)
  if (pieces === null) throw new AppError('conflict', `The export is not ready: ${state}`)
  const size = pieces.reduce((sum, bytes) => sum + bytes, 0)
  const etag = `"${id}"`
  const wanted = rangeOf(c, size, etag)
  const headers = {
    'content-type': ARCHIVE,
    'content-disposition': `attachment; filename="bellwether-${id.slice(0, 8)}.tar"`,
    'accept-ranges': 'bytes',
    etag,
  }
  if (wanted === 'none') {
    return c.json({ detail: `The archive has ${size} bytes` }, 416, { 'content-range': `bytes */${size}`, etag })
  }
  const { from, to } = wanted ?? { from: 0, to: size - 1 }
  const [begin, ...rest] = slicesOf(pieces, { from, to })
  const first = begin === undefined ? null : await opened(c.env, { owner, id }, begin)
  // Deleted since the check: an error can be sent as long as the answer has not started.
  if (first === null) throw none()
  const { readable, writable } = new FixedLengthStream(to - from + 1)
  // The request stays open until the body is complete.
  void send(c.env, { owner, id, first, rest }, writable)
  const range = wanted === null ? {} : { 'content-range': `bytes ${from}-${to}/${size}` }
  return new Response(readable, { status: wanted === null ? 200 : 206, headers: { ...headers, ...range } })
}

/** The requested part of one piece. */
type Slice = { piece: number; offset: number; length: number }

function slicesOf(pieces: readonly number[], { from, to }: { from: number; to: number }): Slice[] {
  let at = 0
  return pieces.flatMap((bytes, piece) => {
    const [first, last] = [Math.max(from, at), Math.min(to, at + bytes - 1)]
    const slice = { piece, offset: first - at, length: last - first + 1 }
    at += bytes
    return first <= last ? [slice] : []
  })
}

/** Null for a deleted piece: the export was deleted. */
function opened(env: Env, { owner, id }: { owner: string; id: string }, slice: Slice): Promise<R2ObjectBody | null> {
  const { piece, offset, length } = slice
  return env.FILES.get(exportPieceKey(owner, id, piece), { range: { offset, length } })
}

type Sending = { owner: string; id: string; first: R2ObjectBody; rest: readonly Slice[] }

/** Sends piece by piece; it ends if the client disconnects, and aborts if a piece was deleted. */
async function send(env: Env, { owner, id, first, rest }: Sending, writable: WritableStream): Promise<void> {
  const options = { preventClose: true, preventAbort: true }
  try {
    await first.body.pipeTo(writable, options)
    for (const slice of rest) {
      const object = await opened(env, { owner, id }, slice)
      if (object === null) throw new Error('the export was deleted')
      await object.body.pipeTo(writable, options)
    }
    await writable.close()
  } catch (error) {
    log.info('export.not_sent', { owner, id, ...errorFields(error) })
    await writable.abort(error)
  }
}

/** Null for the whole; an invalid range, or a range of another archive, is ignored, as HTTP requires. */
function rangeOf(c: Context<AppEnv>, size: number, etag: string): { from: number; to: number } | 'none' | null {
  const condition = c.req.header('if-range')
  if (condition !== undefined && condition !== etag) return null
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(c.req.header('range') ?? '') ?? []
  if (first === '' && last === '') return null
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return from > to ? 'none' : { from, to }
}

const none = () => new AppError('not_found', 'There is no export; POST /api/export prepares one')

async function standingOf(c: Context<AppEnv>) {
  const standing = await ownerObject(c.env, ownerOfBoth(c)).exportStanding()
  if (standing === null) throw none()
  return standing
}

type Standing = Awaited<ReturnType<typeof standingOf>>

const wire = ({ id, state, beganAt, expiresAt, done, units, bytes, counts }: Standing) => ({
  export_id: id,
  state,
  begun_at: isoMicros(beganAt),
  expires_at: expiresAt === null ? null : isoMicros(expiresAt),
  units_done: done,
  units,
  bytes,
  conversations: counts.conversations,
  events: counts.events,
  files: counts.files,
  rows: Object.values(counts.rows).reduce((sum, n) => sum + n, 0),
})

export { app as exported }
